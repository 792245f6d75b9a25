#pragma once
// The schedules of all ranks as a simulation needs them: compact, messages joined.

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "tutti/schedule.hpp"

namespace tutti {

/// The steps of all ranks, numbered through; some 30 bytes each.
struct JoinedSchedules {
  enum class Kind : std::uint8_t { send, recv, reduce, copy };
  struct Node {
    std::int64_t elements{};  ///< Sent; else reduced or copied (of a receive: by the reduction that is part of it).
    int partner = -1;         ///< The other end of a message.
    int rank : 29 = 0;
    Kind kind : 3 = Kind::send;
  };
  /// An end of a message whose other end was not added yet.
  struct End {
    int step = 0;
    Count count;
  };

  int ranks = 0;
  std::vector<int> node_of;  ///< The node that each rank is on; empty: all are on one.
  std::vector<Node> nodes;
  std::vector<int> firsts;                   ///< The first step of each rank.
  std::vector<int> waits;                    ///< How many steps each step waits for.
  std::vector<int> followers;                ///< The steps that wait for each step, one list after the other.
  std::vector<std::uint32_t> followers_end;  ///< Where those of each step end in `followers`.
  std::unordered_map<std::uint64_t, End> open;

  [[nodiscard]] int steps() const { return static_cast<int>(nodes.size()); }
  [[nodiscard]] std::span<const int> followers_of(int step) const;
  /// One behind the last step of a rank.
  [[nodiscard]] int end_of(int rank) const;
  /// The next rank. Errors: std::logic_error if the ends of a message do not match.
  void add(const Schedule& schedule);
  /// Errors: std::logic_error if a message has only one end.
  void require_complete() const;

 private:
  void add(const Action& action, int rank);
  void add_followers(const Schedule& schedule, int first);
  void join(int from, int to, int message, Count count);
};

}  // namespace tutti
