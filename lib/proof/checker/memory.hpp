#pragma once
// The buffers of all ranks, filled with symbolic values, and the effects of steps on them.

#include <array>
#include <set>
#include <span>
#include <vector>

#include "graph.hpp"
#include "values.hpp"

namespace tutti::checker {

/// Inputs hold their leaves; an aliased input really lies in the output. All else holds garbage.
class Memory {
 public:
  Memory(const RankSchedules& schedules, const Values& values);
  [[nodiscard]] std::span<Value> at(Rank rank, const Region& region);
  [[nodiscard]] std::span<Value> output(Rank rank);
  /// The value that an element of the output held at first.
  [[nodiscard]] Value before(Rank rank, Count element) const;

  /// From now on, refutes reductions whose operands are results of other ranks.
  void require_gathering() { made_.resize(schedules_.size()); }
  /// For each reduction, before it and behind it: the operands, and the results.
  void note_operands(int step, std::span<const Value> operands, const Graph& graph) const;
  void note_results(Rank rank, std::span<const Value> results);

 private:
  const RankSchedules& schedules_;
  const Values& values_;
  std::vector<std::array<std::size_t, 3>> starts_;  ///< Where each rank's buffers begin in `elements_`.
  std::vector<Value> elements_;
  std::vector<std::set<Value>> made_;  ///< By rank: the results of its reductions. Empty: nobody asks.
};

/// The values that a send reads now. Refutes a send of garbage.
[[nodiscard]] std::vector<Value> payload_of(int send, const Graph& graph, Memory& memory);
/// Writes a message where its receive wants it.
void deliver(std::span<const Value> payload, int recv, const Graph& graph, Memory& memory);
/// Does a reduction, one that is part of a receive, or a copy. Refutes one of garbage.
void compute(int step, const Graph& graph, Memory& memory, Values& values);

/// Runs all steps in an order of `graph` under rendezvous or one credit, each when it completes.
void run_in_order(std::span<const int> events, const Graph& graph, Memory& memory, Values& values);

}  // namespace tutti::checker
