// Children of a fork that end as processes do, with destructors and all, leave the memory and the messages of their
// parents alone.
#include <mpi.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/program_checks.hpp"
#include "tutti/tutti.hpp"

namespace {

constexpr std::size_t elements = 200'000;  // so many pieces that nothing is over before it is waited for

/// One of everything: operations under way and prepared, memory that the ranks share, communicators.
struct Everything {
  tutti::Communicator first{MPI_COMM_WORLD}, comm{MPI_COMM_WORLD};
  tutti::SharedBuffer<std::int64_t> kept{elements}, sum{elements};
  std::vector<std::int64_t> planned = std::vector<std::int64_t>(elements), started = planned;
  tutti::Plan plan = tutti::plan_allreduce(std::span{planned}, tutti::Op::sum, comm, {.algorithm = "ring"});
  tutti::Plan unused = tutti::plan_allreduce(std::span{planned}, tutti::Op::max, comm);
  tutti::Batch batch{comm};
  tutti::Request request, of_shared;
  void* raw = tutti::allocate(tutti::Bytes{4096});
};

std::optional<Everything> everything;  // with static storage: destroyed by exit()

std::int64_t value(std::size_t i, int turn) { return 3 * static_cast<std::int64_t>(i) + turn; }

void start(int turn) {
  Everything& all = *everything;
  for (std::size_t i = 0; i < elements; ++i)
    all.planned[i] = all.started[i] = all.kept[i] = all.sum[i] = value(i, turn);
  all.plan.start();
  all.request = tutti::allreduce_async(std::span{all.started}, tutti::Op::sum, all.comm, {.algorithm = "ring"});
  all.of_shared = tutti::allreduce_async(all.sum.span(), tutti::Op::sum, all.first, {.algorithm = "ring"});
  MPI_Barrier(MPI_COMM_WORLD);  // all have started, and Tutti does nothing in here: messages wait to be taken
}

template <class Values>
bool holds(const Values& values, int turn, int times) {
  for (std::size_t i = 0; i < elements; ++i)
    if (values[i] != times * value(i, turn)) return false;
  return true;
}

/// Completes the operations of start().
void check(tutti::test::Checks& checks, int turn, const std::string& after) {
  Everything& all = *everything;
  all.of_shared.wait();
  all.request.wait();
  all.plan.wait();
  const int ranks = all.comm.size();
  checks.expect(holds(all.kept, turn, 1), "what Tutti memory holds, after " + after);
  checks.expect(holds(all.sum, turn, ranks), "the sum in Tutti memory, after " + after);
  checks.expect(holds(all.started, turn, ranks), "the request's sum, after " + after);
  checks.expect(holds(all.planned, turn, ranks), "the plan's sum, after " + after);
  tutti::allreduce(all.kept.span(), tutti::Op::sum, all.comm);
  checks.expect(holds(all.kept, turn, ranks), "a call after " + after);
  const tutti::Communicator made_later{MPI_COMM_WORLD};
  std::ranges::fill(all.started, 1);
  tutti::allreduce(std::span{all.started}, tutti::Op::sum, made_later);
  checks.expect(std::ranges::count(all.started, ranks) == std::ssize(all.started), "a communicator after " + after);
}

/// Waits for the end of a child, for longer than it can need, or ends it.
void wait_for(pid_t child, tutti::test::Checks& checks, const std::string& which) {
  using namespace std::chrono_literals;
  const auto limit = std::chrono::steady_clock::now() + 20s;
  int status = 0;
  pid_t ended = 0;
  while ((ended = waitpid(child, &status, WNOHANG)) == 0 && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(1ms);
  checks.expect(ended == child, which + " waits for what it never gets");
  if (ended != child) {
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    return;
  }
  checks.expect(WIFEXITED(status) && WEXITSTATUS(status) == 0, which + " fails: status " + std::to_string(status));
}

enum class Ending : std::uint8_t { by_return, by_exit, by_destructors, by_exec };
constexpr std::pair<Ending, const char*> endings[] = {{Ending::by_return, "a child that returns from main"},
                                                      {Ending::by_exit, "a child that calls exit"},
                                                      {Ending::by_destructors, "a child that destroys everything"},
                                                      {Ending::by_exec, "a child that becomes another program"}};

/// The end of a child; true: it is to return from main.
bool end(Ending ending) {
  if (ending == Ending::by_exit) std::exit(0);
  if (ending == Ending::by_exec) {
    execl("/bin/true", "true", nullptr);
    _exit(1);
  }
  if (ending == Ending::by_destructors) {
    tutti::deallocate(everything->raw);
    everything->comm.close();
    everything->kept = {};
    everything.reset();
  }
  return true;
}

/// True in children that are to return from main.
bool fork_each(tutti::test::Checks& checks) {
  for (int turn = 0; const auto& [ending, name] : endings) {
    start(++turn);
    const pid_t child = fork();
    if (child == 0) return end(ending);
    checks.expect(child > 0, "fork");
    if (child > 0) wait_for(child, checks, name);
    MPI_Barrier(MPI_COMM_WORLD);                                  // no child lives on while others go on
    if (checks.exit_status() != 0) MPI_Abort(MPI_COMM_WORLD, 1);  // messages may be gone: ranks would wait for ever
    check(checks, turn, name);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  tutti::test::Checks checks;
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  everything.emplace();
  if (fork_each(checks)) return 0;
  tutti::deallocate(everything->raw);
  everything.reset();
  MPI_Finalize();
  return checks.exit_status();
}
