#pragma once

namespace tutti::interpose::fortran {

/// An argument as Fortran passes it: an address, of any type. An optional argument that is absent is NULL.
class Address {
 public:
  explicit Address(void* place) noexcept : place_{place} {}

  /// The receiver knows the type.
  template <class T>
  operator T*() const noexcept {
    return static_cast<T*>(place_);
  }

 private:
  void* place_;
};

}  // namespace tutti::interpose::fortran
