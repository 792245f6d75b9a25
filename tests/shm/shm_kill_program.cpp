// Collectives of all sizes without an end, until a rank of it is killed; for shm_kill_test.sh.
// shm_kill_program FOLDER SECONDS: rank R makes the file FOLDER/R, with its process number, once all ranks talk; ends
// with status 3 should nobody kill it in so many seconds.
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <vector>

#include "tutti/tutti.hpp"

namespace {

void run_some(const tutti::Communicator& comm, std::size_t most) {
  for (std::size_t count = 1; count <= most; count *= 8) {
    std::vector<double> data(count, 1), all(count * static_cast<std::size_t>(comm.size()));
    tutti::allreduce(std::span{data}, tutti::Op::sum, comm);
    tutti::broadcast(std::span{data}, tutti::Rank{comm.size() - 1}, comm);
    tutti::allgather(std::span{data}, std::span{all}, comm);
  }
}

/// Under its final name only once it is complete.
void say_that_it_runs(const std::filesystem::path& folder, int rank) {
  const std::filesystem::path file = folder / std::to_string(rank), partial = file.string() + ".partial";
  std::ofstream{partial} << getpid() << '\n';
  std::filesystem::rename(partial, file);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  MPI_Init(&argc, &argv);
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{std::atoi(argv[2])};
  const tutti::Communicator comm{MPI_COMM_WORLD, {.transport = "shm"}};
  constexpr std::size_t most = 1 << 18;
  run_some(comm, most);
  say_that_it_runs(argv[1], comm.rank().value());
  while (std::chrono::steady_clock::now() < end)
    run_some(comm, most);
  MPI_Abort(MPI_COMM_WORLD, 3);
}
