#pragma once

#include <cstdint>
#include <ctime>

namespace tutti::trace {

/// Nanoseconds of the clock that the processes of a machine share.
[[nodiscard]] inline std::int64_t now() noexcept {
  constexpr std::int64_t second = 1'000'000'000;
  std::timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * second + time.tv_nsec;
}

}  // namespace tutti::trace
