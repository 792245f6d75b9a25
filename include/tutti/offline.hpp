#pragma once
// The schedules of all ranks together, without MPI: read, proved, priced and drawn, as the tool `tutti` does it. For
// bindings and tools: in the archive Tutti::offline, no part of the library.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/algorithm.hpp"

namespace tutti::offline {

/// One problem of a collective. `count`: as in Problem.
struct Case {
  int ranks = 8;
  Count count{24};
  Rank root{};
  bool in_place = false;  ///< The output shares memory with the input, as in the MPI calls.
  bool is_fused = false;  ///< Receives are joined with the reductions that use them.
  /// How many ranks each node has, and each socket, one after the other. Empty: one node; one socket a node.
  std::vector<int> nodes{}, sockets{};
};

/// Microseconds, in a simulation where each rank sends one message and receives one at a time. Elements have 4 bytes by
/// default; shared memory carries 40 GB/s from rank to rank, and each node has one port of 100 Gbit/s.
struct Network {
  double alpha = 0.2;                               ///< Each message inside a node.
  double beta = 1e-4;                               ///< Each element of it.
  double gamma = 1e-4;                              ///< Each element reduced.
  double delta = 0;                                 ///< Each element copied.
  double alpha_between = 2, beta_between = 3.2e-4;  ///< As alpha and beta, between nodes.
  int links = 1;  ///< Messages that a node sends to others, and receives, at full speed.
};

/// An algorithm that is not in the registry.
struct OwnAlgorithm {
  Collective collective;
  std::string name, summary{};
  Order order = Order::of_ranks;  ///< `of_ranks` or `any`.
  /// Writes the steps of one rank: ScheduleBuilder is made for it.
  std::function<Schedule(const Problem& problem)> build;
};

/// "of ranks", "fixed" (that, by an expression of the number of ranks alone), "of nodes", "any", or "-" where nothing
/// is reduced.
[[nodiscard]] std::string_view order_of(const Algorithm& algorithm);

/// An algorithm at work on one problem: what `tutti show` shows. Errors: ArgumentError says what is allowed.
class Schedules {
 public:
  /// The schedules of an algorithm of the registry, as users write it: "ring", "knomial:4/64".
  Schedules(Collective collective, std::string_view algorithm, const Case& what);
  Schedules(const OwnAlgorithm& algorithm, const Case& what);
  Schedules(Schedules&& other) noexcept;
  ~Schedules();

  /// Why they are not proved; empty if they are. Also proves the cost that an algorithm of the registry states.
  [[nodiscard]] std::string fault() const;
  /// "allreduce ring, 6 ranks, 24 elements"
  [[nodiscard]] std::string title() const;
  [[nodiscard]] int ranks() const;
  /// What `tutti show --format text, json, dot and svg` print; rank -1: every rank. dot and svg draw up to 64 ranks.
  [[nodiscard]] std::string text(int rank = -1) const;
  [[nodiscard]] std::string json(int rank = -1) const;
  [[nodiscard]] std::string dot() const;
  [[nodiscard]] std::string svg() const;

  // Only for proved schedules; else StateError with the fault.
  /// The cost of the busiest rank.
  [[nodiscard]] Cost cost() const;
  /// The round of each step of each rank, from 1.
  [[nodiscard]] std::vector<std::vector<int>> rounds() const;
  /// Microseconds until the last rank is done.
  [[nodiscard]] double time(const Network& network) const;

 private:
  struct Content;
  void require_proved() const;
  std::unique_ptr<Content> content_;
};

}  // namespace tutti::offline
