#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tutti::tool {

/// A named counter of Communicator::counters(), summed over all ranks.
struct CounterRow {
  std::string name, meaning;
  std::uint64_t value = 0;
};

/// A table, after an empty line.
[[nodiscard]] std::string to_text(std::span<const CounterRow> counters);

}  // namespace tutti::tool
