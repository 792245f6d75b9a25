// An allreduce whose schedule the program builds itself: each rank sends its vector to all others, and adds up in the
// order of ranks. It is proved before it runs.
#include <cstdio>
#include <exception>
#include <vector>

#include "tutti/schedule_builder.hpp"
#include "tutti/tutti.hpp"

namespace {

/// The vector is one chunk.
tutti::Schedule schedule_of(tutti::Rank me, int size) {
  tutti::Problem problem{.rank = me, .size = size, .count = tutti::Count{1}};
  problem.collective = tutti::Collective::allreduce;
  tutti::ScheduleBuilder plan{problem};
  std::vector<tutti::Region> of(static_cast<std::size_t>(size), plan.input());
  for (int peer = 0; peer < size; ++peer)
    if (tutti::Rank{peer} != me) plan.send(plan.input(), tutti::Rank{peer});
  for (int peer = 0; peer < size; ++peer) {
    if (tutti::Rank{peer} == me) continue;
    of[static_cast<std::size_t>(peer)] = plan.scratch(tutti::Count{1});
    plan.recv(of[static_cast<std::size_t>(peer)], tutti::Rank{peer});
  }
  plan.copy(of[0], plan.output());
  for (std::size_t peer = 1; peer < of.size(); ++peer)
    plan.reduce(plan.output(), of[peer], plan.output());
  return plan.build();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int code = 0;
  try {
    const tutti::Communicator comm{MPI_COMM_WORLD};
    const tutti::OwnSchedule own{.collective = tutti::Collective::allreduce,
                                 .schedule = schedule_of(comm.rank(), comm.size())};
    const std::vector<double> in(1000, comm.rank().value());
    std::vector<double> out(in.size());
    tutti::run(own, in, out, tutti::Op::sum, comm);
    if (comm.rank() == tutti::Rank{0}) std::printf("every element: %g\n", out.back());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    code = 1;
  }
  MPI_Finalize();
  return code;
}
