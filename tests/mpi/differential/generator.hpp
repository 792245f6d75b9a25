#pragma once
// Random calls: a pure function of seed, thread, step and communicators, so that all ranks make the same ones.

#include <cstdint>
#include <vector>

#include "call.hpp"

namespace tutti::differential {

/// The facts about a communicator that the generator needs.
struct CommunicatorShape {
  int size = 1;
  std::vector<int> nodes;  ///< The node of each rank, as Communicator::node_of gives it.
  int part = 0;            ///< Which part of MPI_COMM_WORLD it is: those of one split have different calls.
};

class Generator {
 public:
  /// `max_bytes`: the most that the input or output of one rank has, but for uneven blocks, which may have twice that.
  Generator(std::uint64_t seed, int thread, std::int64_t max_bytes) : seed_(seed), thread_(thread), max_(max_bytes) {}

  /// Step number `number`, on communicators of which this rank is a member.
  [[nodiscard]] Step step(std::int64_t number, const std::vector<CommunicatorShape>& communicators) const;

 private:
  std::uint64_t seed_;
  int thread_;
  std::int64_t max_;
};

}  // namespace tutti::differential
