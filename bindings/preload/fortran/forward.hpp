#pragma once

#include <mpi.h>

#include "bindings/preload/fortran/address.hpp"
#include "bindings/preload/fortran/handles.hpp"
#include "bindings/preload/fortran/sentinels.hpp"

namespace tutti::interpose::fortran {

/// A buffer. Both languages have MPI_IN_PLACE and MPI_BOTTOM.
[[nodiscard]] inline void* buffer(void* place) noexcept {
  if (is_in_place(place)) return MPI_IN_PLACE;
  return is_bottom(place) ? MPI_BOTTOM : place;
}

/// A parameter of a C function, made from what Fortran passes in its place: by default, a handle.
template <class T>
class Argument {
 public:
  explicit Argument(const MPI_Fint* handle) : value_{to_c<T>(*handle)} {}
  [[nodiscard]] T value() const noexcept { return value_; }

 private:
  T value_;
};

/// A count or a root.
template <>
class Argument<int> {
 public:
  explicit Argument(const MPI_Fint* number) : value_{*number} {}
  [[nodiscard]] int value() const noexcept { return value_; }

 private:
  int value_;
};

/// Counts or displacements.
template <>
class Argument<const int*> {
 public:
  explicit Argument(const MPI_Fint* numbers) : value_{numbers} {}
  [[nodiscard]] const int* value() const noexcept { return value_; }

 private:
  const int* value_;
};

template <>
class Argument<void*> {
 public:
  explicit Argument(void* place) : value_{buffer(place)} {}
  [[nodiscard]] void* value() const noexcept { return value_; }

 private:
  void* value_;
};

template <>
class Argument<const void*> : public Argument<void*> {
  using Argument<void*>::Argument;
};

/// The request that a call makes.
template <>
class Argument<MPI_Request*> {
 public:
  explicit Argument(MPI_Fint* place) : place_{place} {}
  ~Argument() { *place_ = to_fortran(request_); }
  Argument(const Argument&) = delete;
  Argument& operator=(const Argument&) = delete;
  [[nodiscard]] MPI_Request* value() noexcept { return &request_; }

 private:
  MPI_Fint* place_;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

/// The function of addresses that converts them to the parameters of a C function, and calls it:
/// Forward{MPI_Allreduce}.
template <class... Parameters>
class Forward {
 public:
  constexpr explicit Forward(int (*function)(Parameters...)) noexcept : function_{function} {}

  template <class... Addresses>
  int operator()(Addresses... addresses) const {
    static_assert(sizeof...(Addresses) == sizeof...(Parameters));
    return function_(Argument<Parameters>{addresses}.value()...);  // these live until the call is over
  }

 private:
  int (*function_)(Parameters...);
};

}  // namespace tutti::interpose::fortran
