#pragma once
// The schedules of all ranks as a simulation needs them: compact, messages joined.

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tutti/schedule.hpp"

namespace tutti {

/// The steps of all ranks, numbered through.
struct Network {
  enum class Kind : std::uint8_t { send, recv, reduce, copy };
  struct Node {
    int rank = 0;
    int partner = -1;         ///< The other end of a message.
    std::int64_t elements{};  ///< Sent; else reduced or copied (of a receive: by the reduction that is part of it).
    Kind kind = Kind::send;
  };
  /// An end of a message whose other end was not added yet.
  struct End {
    int step = 0;
    Count count;
  };

  int ranks = 0;
  std::vector<int> node_of;  ///< The node that each rank is on; empty: all are on one.
  std::vector<Node> nodes;
  std::vector<int> firsts;             ///< The first step of each rank.
  std::vector<int> edges;              ///< The steps that each step waits for, one list after the other.
  std::vector<std::size_t> edges_end;  ///< Where those of each step end in `edges`.
  std::unordered_map<std::uint64_t, End> open;

  [[nodiscard]] int steps() const { return static_cast<int>(nodes.size()); }
  /// The next rank. Errors: std::logic_error if the ends of a message do not match.
  void add(const Schedule& schedule);

 private:
  void add(const Action& action, int rank);
  void join(int from, int to, int message, Count count);
};

}  // namespace tutti
