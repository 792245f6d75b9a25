#pragma once

#include <utility>

namespace tutti {

/// Owns one handle of a C library. Traits: `Handle`, `null()`, and `destroy(Handle&) noexcept`.
template <class Traits>
class UniqueHandle {
 public:
  using Handle = typename Traits::Handle;
  UniqueHandle() = default;
  explicit UniqueHandle(Handle handle) : handle_(handle) {}
  UniqueHandle(UniqueHandle&& other) noexcept : handle_(other.release()) {}
  UniqueHandle& operator=(UniqueHandle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~UniqueHandle() {
    if (handle_ != Traits::null()) Traits::destroy(handle_);
  }
  [[nodiscard]] Handle get() const { return handle_; }
  /// Where a function stores a handle that it returns through a pointer; the handle must be null.
  [[nodiscard]] Handle* receive() { return &handle_; }
  Handle release() { return std::exchange(handle_, Traits::null()); }

 private:
  Handle handle_ = Traits::null();
};

}  // namespace tutti
