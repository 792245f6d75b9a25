#pragma once
// A joint reduction of an execution on its way through shared memory.

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace tutti::shm {

/// A joint reduction under way. It waits, but not for ever, until the next pieces of all its messages are there;
/// what it has not taken by then is received and reduced one by one.
struct Joint {
  std::int64_t done = 0;
  std::size_t there = 0;  ///< Operands that the next pieces of are known to be there.
  bool is_off = false;
  int looks = 0;  ///< At a message whose next piece is there, in vain.
  std::chrono::steady_clock::time_point since{};
  /// To be asked at each such look.
  [[nodiscard]] bool has_waited_long();
};

}  // namespace tutti::shm
