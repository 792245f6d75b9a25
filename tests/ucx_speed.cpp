// ucx_speed [TRANSPORT [BYTES]]: half the time of a round trip between two ranks, to compare with ucx_perftest -t
// tag_lat. No test.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tutti/tutti.hpp"

namespace {

/// In microseconds, the least of several runs: others may use the machine too.
double half_round_trip(const tutti::Communicator& comm, std::size_t bytes) {
  constexpr int runs = 20;
  const int rounds = bytes <= 65536 ? 20'000 : 500;
  std::vector<char> out(bytes), in(bytes);
  const bool is_first = comm.rank().value() == 0;
  const tutti::Rank peer{is_first ? 1 : 0};
  const tutti::Count count{static_cast<std::int64_t>(bytes)};
  tutti::Plan send = tutti::plan_send(out.data(), count, tutti::Type::uint8, peer, comm);
  tutti::Plan recv = tutti::plan_recv(in.data(), count, tutti::Type::uint8, peer, comm);
  tutti::Plan &one = is_first ? send : recv, &other = is_first ? recv : send;
  const auto run = [](tutti::Plan& plan) {
    plan.start();
    plan.wait();
  };
  double best = 1e9;
  for (int i = 0; i < runs; ++i) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start = MPI_Wtime();
    for (int round = 0; round < rounds; ++round) {
      run(one);
      run(other);
    }
    best = std::min(best, (MPI_Wtime() - start) / rounds / 2 * 1e6);
  }
  return best;
}

}  // namespace

int main(int argc, char** argv) {
  int provided = 0, size = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &provided);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (size != 2) {
    fmt::print(stderr, "ucx_speed needs 2 ranks\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  {
    const tutti::Communicator comm{MPI_COMM_WORLD, {.transport = argc > 1 ? argv[1] : "ucx"}};
    std::vector<std::size_t> sizes{8, 512, 4096, 65'536, 1 << 20};
    if (argc > 2) sizes = {std::stoul(argv[2])};
    for (const std::size_t bytes : sizes) {
      const double time = half_round_trip(comm, bytes);
      if (comm.rank().value() == 0) fmt::print("{:8} bytes  {:8.3f} us\n", bytes, time);
    }
  }
  MPI_Finalize();
}
