#pragma once
// A message of an execution on its way through shared memory.

#include <cstddef>
#include <cstdint>

#include "lib/core/exec/port.hpp"
#include "lib/core/transport/shm/eager/incoming.hpp"

namespace tutti::shm {

struct Transfer {
  int index = -1;  ///< Of the step.
  const CompiledStep* step = nullptr;
  /// A send reads `lhs`; a receive writes `into`; a receive-and-reduce has all.
  Operands data{};
  std::int64_t done = 0;
  std::uint64_t loan = 0;  ///< Of a send: its last piece that the receiver reads in place, by number; 0: none.
  int looks = 0;           ///< Of a send: for a bounce buffer, in vain.
  Incoming awaited{};      ///< Of a receive whose turn it is: nothing can be done before this is there.
  /// Of a receive: the operands and the place of the bytes that have not come yet.
  [[nodiscard]] Operands rest() const {
    if (step->is_moved_only()) return {nullptr, nullptr, data.into + done};
    return {data.lhs + done, data.rhs + done, data.into + done};
  }
};

}  // namespace tutti::shm
