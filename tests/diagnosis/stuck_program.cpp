// A program whose rank 1 does not come, for the tests of hang reports, of `tutti ps` and of dead ranks.
//   stuck_program late SECONDS        rank 1 computes for so long, and comes then
//   stuck_program die CALL COUNT      rank 1 kills itself before the call of that number; the others tell what they are
//                                     told, how long after, and that later calls fail, too
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "tutti/tutti.hpp"

namespace {

using Clock = std::chrono::steady_clock;

/// Uses the processor, as a rank that computes.
void compute(std::chrono::seconds time) {
  for (const auto start = Clock::now(); Clock::now() - start < time;) {
  }
}

void come_late(const tutti::Communicator& comm, int seconds) {
  std::vector<float> data(1000, 1.0F);
  tutti::broadcast(data, tutti::Rank{0}, comm);
  if (comm.rank() == tutti::Rank{1}) compute(std::chrono::seconds{seconds});
  tutti::allreduce(data, tutti::Op::sum, comm);
  std::printf("rank %d: the sum is %g\n", comm.rank().value(), static_cast<double>(data[0]));
}

/// Never returns: with a dead rank an MPI may not come to the end of MPI_Finalize.
[[noreturn]] void die(const tutti::Communicator& comm, int call, int count) {
  std::vector<float> data(static_cast<std::size_t>(count), 1.0F);
  const int me = comm.rank().value();
  try {
    for (int i = 0;; ++i) {
      if (me == 1 && i == call) raise(SIGKILL);
      tutti::allreduce(data, tutti::Op::max, comm);
    }
  } catch (const tutti::Error& error) {
    std::printf("rank %d: %s\n", me, error.what());
  }
  try {
    tutti::barrier(comm);
    std::printf("rank %d: a later call went on\n", me);
  } catch (const tutti::Error& error) {
    std::printf("rank %d, later: %s\n", me, error.what());
  }
  std::fflush(stdout);
  _exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const tutti::Communicator comm{MPI_COMM_WORLD};
    const std::string_view mode = argc > 2 ? argv[1] : "";
    if (mode == "late") come_late(comm, std::atoi(argv[2]));
    if (mode == "die" && argc > 3) die(comm, std::atoi(argv[2]), std::atoi(argv[3]));
  }
  MPI_Finalize();
}
