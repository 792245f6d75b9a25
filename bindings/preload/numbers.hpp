#pragma once
// Lists of counts and displacements, whose numbers have 32 or 64 bits.

#include <cstddef>
#include <cstdint>
#include <type_traits>

namespace tutti::interpose {

/// A view of a list that the program passes.
class Numbers {
 public:
  Numbers() = default;
  template <class Number>
  explicit(false) Numbers(const Number* numbers) : numbers_(numbers), bytes_(sizeof(Number)) {
    static_assert(std::is_signed_v<Number> && (sizeof(Number) == 4 || sizeof(Number) == 8));
  }
  [[nodiscard]] std::int64_t operator[](int i) const {
    const auto at = static_cast<std::size_t>(i);
    return bytes_ == sizeof(std::int32_t) ? static_cast<const std::int32_t*>(numbers_)[at]
                                          : static_cast<const std::int64_t*>(numbers_)[at];
  }
  [[nodiscard]] bool is_null() const { return numbers_ == nullptr; }

 private:
  const void* numbers_ = nullptr;
  std::size_t bytes_ = sizeof(std::int32_t);
};

}  // namespace tutti::interpose
