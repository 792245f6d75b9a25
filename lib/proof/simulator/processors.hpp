#pragma once
// The work of ranks.

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "topology.hpp"

namespace tutti::simulator {

/// The processors of the ranks, each of which does one thing at a time, in the order in which they came up.
class Processors {
 public:
  struct Job {
    int step;
    Time duration;
  };
  explicit Processors(int ranks) : ranks_(static_cast<std::size_t>(ranks)) {}
  /// Whether the job begins at once; else it waits.
  [[nodiscard]] bool begins(int rank, const Job& job) {
    Processor& its = ranks_[static_cast<std::size_t>(rank)];
    if (its.is_busy) its.waiting.push_back(job);
    return !std::exchange(its.is_busy, true);
  }
  /// A job is done: the next one, which begins now.
  [[nodiscard]] std::optional<Job> next(int rank) {
    Processor& its = ranks_[static_cast<std::size_t>(rank)];
    if (its.next < its.waiting.size()) return its.waiting[its.next++];
    its = {};
    return std::nullopt;
  }

 private:
  struct Processor {
    bool is_busy = false;
    std::size_t next = 0;  // in `waiting`
    std::vector<Job> waiting{};
  };
  std::vector<Processor> ranks_;
};

}  // namespace tutti::simulator
