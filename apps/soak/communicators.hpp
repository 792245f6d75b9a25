#pragma once
// The communicators that a thread makes calls on, new ones for each round.

#include <cstdint>
#include <string>
#include <vector>

#include "apps/soak/calls.hpp"
#include "lib/core/transport/mpi/handles.hpp"
#include "tutti/communicator.hpp"

namespace tutti::soak {

[[nodiscard]] int world_rank();

/// One of Tutti's, and one of the MPI's with the same ranks.
struct Member {
  mpi::UniqueComm mpi;
  Communicator tutti;
};

struct Communicators {
  std::vector<Member> members;
  std::vector<CommunicatorShape> shapes;  ///< One for each member.
};

/// What communicators depend on, besides the round.
struct CommunicatorSource {
  std::uint64_t seed;
  int thread;
  std::string transport;  ///< A name that CommunicatorOptions take, or "random".
  MPI_Comm world;         ///< All ranks, for this thread alone.
};

/// Whether a round's communicators have settings that vary (TUTTI_MESSAGE_LIMIT, TUTTI_PLAN_CACHE, unless
/// the environment has them): these are variables of the environment, which threads must not change. Otherwise
/// all threads may make theirs at the same time.
[[nodiscard]] constexpr bool has_varying_settings(std::int64_t round) { return round % 2 == 0; }

/// The world, the world in another order of ranks, and two splits of it. Collective over `source.world`.
[[nodiscard]] Communicators make_communicators(const CommunicatorSource& source, std::int64_t round);

}  // namespace tutti::soak
