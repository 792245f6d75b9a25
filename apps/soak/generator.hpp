#pragma once
// Random calls: a pure function of seed, thread, round and communicators, so that all ranks make the same ones.

#include <cstdint>
#include <vector>

#include "apps/soak/call.hpp"

namespace tutti::soak {

/// The facts about a communicator that the generator needs.
struct CommunicatorShape {
  int size = 1;
  std::vector<int> nodes;  ///< The node of each rank, as Communicator::node_of gives it.
  int part = 0;            ///< Which part of MPI_COMM_WORLD it is: those of one split have different calls.
};

/// What calls are drawn from.
struct Repertoire {
  std::vector<int> names;  ///< Places in call_names().
  std::vector<Way> ways;
  /// The most that the input or output of one rank has, but for uneven blocks, which may have twice that.
  std::int64_t most_bytes;
  bool asks_mpi = false;  ///< The MPI computes many of the expected results.
};

/// The calls of a round, which uses the same communicators throughout, have the numbers round * calls_of_round onwards.
inline constexpr std::int64_t calls_of_round = 100;

/// A step, as far as it is known without the communicators.
struct StepOutline {
  std::int64_t first_call;
  int calls, repetitions;
  [[nodiscard]] std::int64_t end() const { return first_call + std::int64_t{calls} * repetitions; }
};

class Generator {
 public:
  Generator(Repertoire repertoire, std::uint64_t seed, int thread)
      : repertoire_(std::move(repertoire)), seed_(seed), thread_(thread) {}

  /// The steps of a round in their order.
  [[nodiscard]] std::vector<StepOutline> outlines(std::int64_t round) const;
  /// A step of a round on communicators of which this rank is a member.
  [[nodiscard]] Step step(const StepOutline& outline, const std::vector<CommunicatorShape>& communicators) const;

 private:
  Repertoire repertoire_;
  std::uint64_t seed_;
  int thread_;
};

}  // namespace tutti::soak
