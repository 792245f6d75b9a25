// Under MPI_THREAD_FUNNELED only the main thread may call; another gets a clear error and does no harm.
#include <mpi.h>

#include <span>
#include <thread>
#include <vector>

#include "tests/support/program_checks.hpp"
#include "tutti/tutti.hpp"

namespace {

constexpr const char* reason = "MPI_THREAD_SERIALIZED";

/// Runs `call` on another thread, where it must be refused.
template <class Call>
void expect_refused(tutti::test::Checks& checks, Call call, const char* what) {
  std::thread{[&] { checks.expect_state_error(call, reason, what); }}.join();
}

void expect_works(tutti::test::Checks& checks, const tutti::Communicator& comm, const char* when) {
  std::vector<int> data(10, 1);
  tutti::allreduce(std::span{data}, tutti::Op::sum, comm);
  checks.expect(data == std::vector<int>(10, comm.size()), std::string{"the main thread's result "} + when);
}

void try_second_thread(tutti::test::Checks& checks) {
  expect_refused(
      checks, [] { const tutti::Communicator early{MPI_COMM_WORLD}; }, "the first communicator");
  const tutti::Communicator comm{MPI_COMM_WORLD};
  std::vector<int> data(10, 1);
  expect_works(checks, comm, "before");
  const std::span all{data};
  expect_refused(
      checks, [&] { tutti::allreduce(all, tutti::Op::sum, comm); }, "a blocking call");
  expect_refused(
      checks, [&] { tutti::allreduce_async(all, tutti::Op::sum, comm).wait(); }, "a nonblocking call");
  expect_refused(
      checks, [&] { tutti::plan_allreduce(all, tutti::Op::sum, comm).start(); }, "a plan");
  expect_refused(
      checks, [] { const tutti::Communicator other{MPI_COMM_WORLD}; }, "another communicator");
  checks.expect(data == std::vector<int>(10, 1), "refused calls leave the data alone");
  expect_works(checks, comm, "between");

  tutti::Plan plan = tutti::plan_allreduce(all, tutti::Op::sum, comm);
  expect_refused(
      checks, [&] { plan.start(); }, "Plan::start");
  expect_refused(
      checks, [&] { plan.wait(); }, "Plan::wait");
  tutti::Request request = tutti::allreduce_async(all, tutti::Op::sum, comm);
  expect_refused(
      checks, [&] { static_cast<void>(request.test()); }, "Request::test");
  request.wait();
  checks.expect(data == std::vector<int>(10, comm.size()), "the main thread's request");
  expect_works(checks, comm, "after");
}

}  // namespace

int main(int argc, char** argv) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  tutti::test::Checks checks;
  if (provided <= MPI_THREAD_FUNNELED)
    try_second_thread(checks);
  else
    std::puts("skipped: this MPI provides more than MPI_THREAD_FUNNELED");
  MPI_Finalize();
  return checks.exit_status();
}
