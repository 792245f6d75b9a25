#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace tutti {

/// Uninitialised memory that starts on a cache line.
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t bytes)
      : data_(bytes == 0 ? nullptr : static_cast<std::byte*>(::operator new(bytes, alignment))) {}
  [[nodiscard]] std::byte* data() const { return data_.get(); }

 private:
  static constexpr std::align_val_t alignment{64};
  struct Free {
    void operator()(std::byte* data) const noexcept { ::operator delete(data, alignment); }
  };
  std::unique_ptr<std::byte, Free> data_;
};

}  // namespace tutti
