// A program for the tests of hang reports, of `tutti ps`, of dead ranks and of TUTTI_FAULTS.
//   stuck_program late SECONDS        rank 1 computes for so long, and comes then
//   stuck_program stop                rank 1 stops itself, and comes when it is continued
//   stuck_program slow SECONDS        a long message, which takes rank 0 so long that it reduces
//   stuck_program apart SECONDS       the same before it makes a communicator with the others
//   stuck_program endure CALLS COUNT  so many calls of so many elements, whatever TUTTI_FAULTS makes of them: each rank
//                                     tells what it is told, after how long a wait, and whether a later call goes on
//   stuck_program leave               one call, after which all ranks but 0 compute
#include <mpi.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <thread>
#include <vector>

#include "tutti/tutti.hpp"

namespace {

using Clock = std::chrono::steady_clock;

/// Uses the processor, as a rank that computes.
void compute(std::chrono::seconds time) {
  for (const auto start = Clock::now(); Clock::now() - start < time;) {
  }
}

/// `delay()`: of rank 1.
template <class Delay>
void come_late(const tutti::Communicator& comm, const Delay& delay) {
  std::vector<float> data(1000, 1.0F);
  tutti::broadcast(data, tutti::Rank{0}, comm);
  if (comm.rank() == tutti::Rank{1}) delay();
  tutti::allreduce(data, tutti::Op::sum, comm);
  std::printf("rank %d: the sum is %g\n", comm.rank().value(), static_cast<double>(data[0]));
}

void make_late(const tutti::Communicator& comm, int seconds) {
  std::vector<float> data(1000, 1.0F);
  tutti::broadcast(data, tutti::Rank{0}, comm);
  if (comm.rank() == tutti::Rank{1}) compute(std::chrono::seconds{seconds});
  const tutti::Communicator other{MPI_COMM_WORLD};
  tutti::allreduce(data, tutti::Op::sum, other);
  std::printf("rank %d: the sum is %g\n", comm.rank().value(), static_cast<double>(data[0]));
}

constexpr std::int64_t long_message = 2 << 20;  // elements

/// By a function that takes its time for each element.
void reduce_slowly(const tutti::Communicator& comm, int seconds) {
  std::vector<float> data(long_message, 1.0F);
  const auto add = [](const void* lhs, const void* rhs, void* into, tutti::Count count, void* context) {
    const auto of_all = std::chrono::nanoseconds{std::chrono::seconds{*static_cast<const int*>(context)}};
    std::this_thread::sleep_for(of_all * count.value() / long_message);
    for (std::int64_t i = 0; i < count.value(); ++i)
      static_cast<float*>(into)[i] = static_cast<const float*>(lhs)[i] + static_cast<const float*>(rhs)[i];
  };
  const tutti::Op op = tutti::Op::user(add, tutti::Commutative::yes, &seconds);
  tutti::reduce(data, op, tutti::Rank{0}, comm, {.algorithm = "knomial"});
  tutti::broadcast(data, tutti::Rank{0}, comm);
  std::printf("rank %d: the sum is %g\n", comm.rank().value(), static_cast<double>(data[0]));
}

/// One of several collectives in turn: each result is that of all ranks.
void call(int number, std::vector<float>& data, std::vector<float>& all, const tutti::Communicator& comm) {
  switch (number % 4) {
    case 0:
      return tutti::allreduce(data, tutti::Op::max, comm);
    case 1:
      return tutti::broadcast(data, tutti::Rank{0}, comm);
    case 2:
      return tutti::allgather(data, all, comm);
    default:
      return tutti::barrier(comm);
  }
}

/// With a dead rank an MPI may not come to the end of MPI_Finalize. A launcher may end the others when one has ended
/// so.
[[noreturn]] void end_without_mpi() {
  std::fflush(stdout);
  std::this_thread::sleep_for(std::chrono::milliseconds{500});
  _exit(0);
}

[[noreturn]] void endure(const tutti::Communicator& comm, int calls, int count) {
  std::vector<float> data(static_cast<std::size_t>(count), 1.0F);
  std::vector<float> all(data.size() * static_cast<std::size_t>(comm.size()));
  const int me = comm.rank().value();
  auto start = Clock::now();
  int number = 0;
  try {
    for (; number < calls; ++number) {
      start = Clock::now();
      call(number, data, all, comm);
    }
    std::printf("rank %d: all calls are over\n", me);
  } catch (const tutti::ArgumentError& error) {
    std::printf("rank %d: refused: %s\n", me, error.what());
  } catch (const tutti::Error& error) {
    const auto waited = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
    std::printf("rank %d: told in call %d after %d ms: %s\n", me, number, static_cast<int>(waited.count()),
                error.what());
  }
  try {
    tutti::barrier(comm);
    std::printf("rank %d: a later call went on\n", me);
  } catch (const tutti::Error& error) {
    std::printf("rank %d, later: %s\n", me, error.what());
  }
  end_without_mpi();
}

/// Ranks other than 0 make one call, and then none for long.
[[noreturn]] void leave(const tutti::Communicator& comm) {
  std::vector<float> data(10, 1.0F), all(10 * static_cast<std::size_t>(comm.size()));
  try {
    tutti::gather(data, all, tutti::Rank{0}, comm);
    if (comm.rank() != tutti::Rank{0}) std::this_thread::sleep_for(std::chrono::seconds{5});
  } catch (const tutti::Error& error) {
    std::printf("rank %d: %s\n", comm.rank().value(), error.what());
  }
  end_without_mpi();
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const tutti::Communicator comm{MPI_COMM_WORLD};
    const std::string_view mode = argc > 1 ? argv[1] : "";
    if (mode == "leave") leave(comm);
    if (mode == "late" && argc > 2) come_late(comm, [&] { compute(std::chrono::seconds{std::atoi(argv[2])}); });
    if (mode == "stop") come_late(comm, [] { static_cast<void>(std::raise(SIGSTOP)); });
    if (mode == "slow" && argc > 2) reduce_slowly(comm, std::atoi(argv[2]));
    if (mode == "apart" && argc > 2) make_late(comm, std::atoi(argv[2]));
    if (mode == "endure" && argc > 3) endure(comm, std::atoi(argv[2]), std::atoi(argv[3]));
  }
  MPI_Finalize();
}
