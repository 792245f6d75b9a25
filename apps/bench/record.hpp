#pragma once
// What one measurement gave.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "apps/bench/statistics.hpp"

namespace tutti::bench {

enum class Placement : bool { out_of_place, in_place };

/// The same call made through another library.
struct Peer {
  std::string name, mode;
  Spread time_us;
  double ratio = 0;  ///< Its median over ours: above 1, Tutti is faster.
};

/// One collective at one size. Times are per call, of the slowest rank, over the rounds.
struct Record {
  std::string collective, algorithm, transport, memory, mode;
  bool is_auto = false;  ///< Tutti chose the algorithm.
  int ranks = 0, nodes = 0;
  std::int64_t bytes = 0, count = 0;
  std::string type, op;     ///< "none" where the collective has none.
  std::optional<int> root;  ///< Nothing where the collective has none.
  Placement placement = Placement::out_of_place;
  int calls = 0, rounds = 0;  ///< Calls in each round.
  Spread time_us;
  double algbw = 0, busbw = 0;        ///< GB/s (1e9) at the median.
  std::optional<std::int64_t> wrong;  ///< Elements over all ranks; nothing if not checked.
  std::optional<Peer> peer;
};

}  // namespace tutti::bench
