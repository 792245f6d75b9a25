#pragma once
// Any collective under way, with the result that it must give.

#include <memory>

#include "tests/mpi/collective_cases.hpp"

namespace tutti::test {

/// A nonblocking collective of 8-byte integers; made on all ranks at once, as the MPI is asked for the result.
class Flight {
 public:
  Flight(const Trial& trial, const Communicator& comm, MPI_Comm mpi_comm = MPI_COMM_WORLD)
      : trial_(trial),
        comm_(comm),
        problems_(problems_of(trial, comm.size())),
        problem_(problems_.of(comm.rank())),
        input_(inputs<Element>(Op::sum, comm.rank().value(), shape_of(problem_).input.value())),
        memory_(problem_, input_, filling),
        expected_(memory_) {
    std::vector<Element> out = expected_.output();
    if (!reduces(trial.collective))
      move_by_mpi(problem_, input_, out, mpi_comm);
    else
      reduce_by_mpi(problem_, Op::sum, input_, out, mpi_comm);
    expected_.set_output(out);
  }
  void start() {
    detail::Call call = call_of(trial_, problem_, type_of<Element>, Op::sum);
    call.in = memory_.in();
    call.out = memory_.out();
    request_ = detail::start(call, comm_, {.algorithm = trial_.algorithm});
  }
  void finish() {
    request_.wait();
    EXPECT_TRUE(memory_.same_as(expected_)) << describe(trial_, Op::sum, type_of<Element>);
  }

 private:
  using Element = std::int64_t;
  static constexpr Element filling = 85;

  Trial trial_;
  const Communicator& comm_;
  checker::Problems problems_;
  const Problem& problem_;
  std::vector<Element> input_;
  CallMemory<Element> memory_, expected_;
  Request request_;
};
using Flights = std::vector<std::unique_ptr<Flight>>;

/// Different collectives, of sizes from nothing to several areas.
inline Trial different_trial(int number) {
  constexpr std::int64_t counts[] = {0, 1, 5, 6, 31, 32, 33, 127, 128, 129, 1000, 8191, 8192, 8193, 20'000};
  const std::vector<Collective> all = all_collectives();
  Trial trial{.collective = all[static_cast<std::size_t>(number) % all.size()]};
  trial.count =
      trial.collective == Collective::barrier ? 0 : counts[static_cast<std::size_t>(number) % std::size(counts)];
  trial.root = has_root(trial.collective) ? number % world_size() : 0;
  return trial;
}

}  // namespace tutti::test
