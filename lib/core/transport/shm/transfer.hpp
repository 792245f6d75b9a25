#pragma once
// A message of an execution on its way through shared memory.

#include <cstddef>
#include <cstdint>

#include "lib/core/exec/port.hpp"
#include "lib/core/transport/shm/eager/ring.hpp"

namespace tutti::shm {

struct Transfer {
  int index = -1;  ///< The index of the step.
  const CompiledStep* step = nullptr;
  /// A send reads `lhs`; a receive writes `into`; a receive-and-reduce has all.
  Operands data{};
  std::int64_t done = 0;
  std::uint64_t loan = 0;  ///< The number of a send's last piece that the receiver reads in place; 0: none.
  int looks = 0;           ///< A send's looks in vain for a bounce buffer.
  Incoming awaited{};      ///< What a receive whose turn it is waits for: nothing can be done before it is there.
  /// A receive's operands, and the place, of the bytes that have not come yet.
  [[nodiscard]] Operands rest() const {
    if (step->is_moved_only()) return {nullptr, nullptr, data.into + done};
    return {data.lhs + done, data.rhs + done, data.into + done};
  }
};

}  // namespace tutti::shm
