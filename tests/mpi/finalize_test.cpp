// The library before MPI_Init, at MPI_Finalize with operations in flight, and after it.
#include <mpi.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tests/support/program_checks.hpp"
#include "tutti/tutti.hpp"

namespace {

/// Collects the output of this process on stderr during the object's life.
class StandardError {
 public:
  StandardError() : file_(std::tmpfile()), saved_(dup(STDERR_FILENO)) { dup2(fileno(file_), STDERR_FILENO); }
  StandardError(const StandardError&) = delete;
  StandardError& operator=(const StandardError&) = delete;
  ~StandardError() {
    restore();
    std::fclose(file_);
  }
  /// Ends collecting and returns the text.
  std::string end() {
    restore();
    std::rewind(file_);
    std::array<char, 4096> text{};
    const std::size_t length = std::fread(text.data(), 1, text.size(), file_);
    return {text.data(), length};
  }

 private:
  void restore() {
    if (saved_ < 0) return;
    std::fflush(stderr);
    dup2(saved_, STDERR_FILENO);
    close(saved_);
    saved_ = -1;
  }
  std::FILE* file_;
  int saved_;
};

/// Everything that is alive while MPI is finalized.
struct Alive {
  tutti::Communicator comm{MPI_COMM_WORLD}, idle{MPI_COMM_WORLD};
  std::vector<std::int64_t> first = std::vector<std::int64_t>(1000), second = std::vector<std::int64_t>(3);
  std::vector<std::int64_t> planned = std::vector<std::int64_t>(5, 1);
  tutti::Plan plan = tutti::plan_allreduce(std::span{planned}, tutti::Op::sum, comm);
  tutti::Plan never_started = tutti::plan_allreduce(std::span{planned}, tutti::Op::sum, idle);
  tutti::Request of_first, of_second;
};

void start(Alive& alive) {
  for (std::size_t i = 0; i < alive.first.size(); ++i)
    alive.first[i] = static_cast<std::int64_t>(i);
  alive.second.assign(3, alive.comm.rank().value());
  alive.of_first = tutti::allreduce_async(std::span{alive.first}, tutti::Op::sum, alive.comm);
  alive.of_second = tutti::allreduce_async(std::span{alive.second}, tutti::Op::max, alive.comm);
  alive.plan.start();
}

/// Rank 0 starts when the others have: theirs cannot have completed by then.
void start_with_rank_zero_last(Alive& alive) {
  if (alive.comm.rank().value() == 0) MPI_Barrier(MPI_COMM_WORLD);
  start(alive);
  if (alive.comm.rank().value() != 0) MPI_Barrier(MPI_COMM_WORLD);
}

void check_results(tutti::test::Checks& checks, Alive& alive, int size) {
  bool right = true;
  for (std::size_t i = 0; i < alive.first.size(); ++i)
    right = right && alive.first[i] == size * static_cast<std::int64_t>(i);
  checks.expect(right, "the sum that was in flight");
  checks.expect(alive.second == std::vector<std::int64_t>(3, size - 1), "the maximum that was in flight");
  checks.expect(alive.planned == std::vector<std::int64_t>(5, size), "the plan that was in flight");
  checks.expect(alive.of_first.test(), "the request has completed");
  alive.of_second.wait();
  alive.plan.wait();
}

void check_afterwards(tutti::test::Checks& checks, Alive& alive) {
  std::vector<float> data(4);
  checks.expect(!alive.comm.is_open() && !alive.idle.is_open(), "communicators are closed");
  for (const tutti::Communicator* comm : {&alive.comm, &alive.idle}) {
    checks.expect_state_error([&] { tutti::allreduce(std::span{data}, tutti::Op::sum, *comm); }, "MPI_Finalize",
                              "a call after MPI_Finalize");
    checks.expect_state_error([&] { static_cast<void>(comm->rank()); }, "MPI_Finalize", "rank() after MPI_Finalize");
  }
  checks.expect_state_error([&] { alive.plan.start(); }, "MPI_Finalize", "Plan::start after MPI_Finalize");
  checks.expect_state_error([&] { alive.never_started.start(); }, "MPI_Finalize", "the other plan's start");
  checks.expect_state_error([] { const tutti::Communicator late{MPI_COMM_WORLD}; }, "after MPI_Finalize",
                            "a communicator after MPI_Finalize");
  alive.comm.close();
}

}  // namespace

int main(int argc, char** argv) {
  tutti::test::Checks checks;
  checks.expect_state_error([] { const tutti::Communicator early{MPI_COMM_WORLD}; }, "MPI_Init",
                            "a communicator before MPI_Init");
  int provided = 0, rank = 0, size = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  std::optional<Alive> alive{std::in_place};
  start_with_rank_zero_last(*alive);

  StandardError collected;
  MPI_Finalize();
  const std::string warning = collected.end();
  const std::string expected = "tutti: rank " + std::to_string(rank) + ": MPI_Finalize with 3 operations in flight";
  if (rank > 0) checks.expect(warning.find(expected) != std::string::npos, "'" + expected + "' is not in: " + warning);
  if (size == 1) checks.expect(warning.find("tutti:") == std::string::npos, "nothing was in flight, yet: " + warning);

  check_results(checks, *alive, size);
  check_afterwards(checks, *alive);
  alive.reset();  // destructors do no harm
  return checks.exit_status();
}
