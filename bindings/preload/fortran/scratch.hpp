#pragma once

#include <array>
#include <cstddef>
#include <memory>

namespace tutti::interpose::fortran {

/// Room for `count` values during one call; on the heap if there are many. A negative count, which the MPI will report,
/// is none.
template <class T>
class Scratch {
 public:
  explicit Scratch(int count) : count_{count > 0 ? static_cast<std::size_t>(count) : 0} {
    if (count_ > few_.size()) many_ = std::make_unique<T[]>(count_);
  }

  [[nodiscard]] T* data() noexcept { return many_ ? many_.get() : few_.data(); }
  [[nodiscard]] T& operator[](std::size_t index) noexcept { return data()[index]; }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }

 private:
  std::size_t count_;
  std::array<T, 16> few_{};
  std::unique_ptr<T[]> many_;
};

}  // namespace tutti::interpose::fortran
