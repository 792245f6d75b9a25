#pragma once
// The communicators that a thread makes calls on, renewed now and then.

#include <cstdint>
#include <string>
#include <vector>

#include "generator.hpp"
#include "lib/transport/mpi/handles.hpp"
#include "tutti/communicator.hpp"

namespace tutti::differential {

/// One of Tutti's, and one of the MPI's with the same ranks.
struct Member {
  mpi::UniqueComm mpi;
  Communicator tutti;
};

struct Communicators {
  std::vector<Member> members;
  std::vector<CommunicatorShape> shapes;  ///< Of each.
};

/// Steps of one epoch use the same communicators.
inline constexpr std::int64_t steps_of_epoch = 50;

/// The world, the world in another order of ranks, and two splits of it, with settings that vary (TUTTI_SINGLE_COPY,
/// TUTTI_MESSAGE_LIMIT, TUTTI_PLAN_CACHE, unless the environment has them). `transport`: as CommunicatorOptions take
/// it, or "random". Collective over MPI_COMM_WORLD; one thread at a time. Depends on seed, thread and epoch only.
[[nodiscard]] Communicators make_communicators(std::uint64_t seed, int thread, std::int64_t epoch,
                                               const std::string& transport);

}  // namespace tutti::differential
