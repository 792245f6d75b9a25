#include "apps/soak/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>

#include "apps/bench/cuda.hpp"
#include "apps/bench/memory.hpp"
#include "apps/soak/executor.hpp"
#include "apps/soak/report.hpp"
#include "apps/standard_output.hpp"
#include "lib/core/transport/mpi/check.hpp"
#include "lib/core/transport/shm/segment/shared_file.hpp"
#include "tutti/barrier.hpp"

namespace tutti::soak {
namespace {

/// The largest of the ranks' numbers.
template <std::size_t number>
std::array<int, number> largest_of(std::array<int, number> mine) {
  mpi::check(MPI_Allreduce(MPI_IN_PLACE, mine.data(), number, MPI_INT, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
  return mine;
}

/// Collective over MPI_COMM_WORLD. Throws apps::InputError on all ranks alike.
std::string chosen_device(const Settings& settings, const Communicator& comm) {
  for (const bench::BenchMemory* const memory : memories_of(settings))
    if (memory->needs_driver()) return bench::choose_device(*memory, comm);
  return {};
}

/// Collective over MPI_COMM_WORLD.
std::uint64_t agreed_seed(const Settings& settings) {
  const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since_epoch).count();
  std::uint64_t seed = settings.seed.value_or(static_cast<std::uint64_t>(seconds));
  mpi::check(MPI_Bcast(&seed, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD), "MPI_Bcast");
  return seed;
}

CallRange range_of(const Settings& settings) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  return {settings.from_call, settings.calls ? settings.from_call + *settings.calls : most};
}

class Run {
 public:
  Run(const Settings& settings, const std::vector<std::string>& arguments);
  /// The exit code.
  int run();

 private:
  void add_workers();
  void run_round(std::int64_t round);
  void run_thread(std::int64_t round, std::size_t thread);
  void keep();
  [[nodiscard]] bool is_over(std::int64_t round) const;
  void list(std::size_t thread, const Step& step);
  void report_wrong(std::size_t thread, std::int64_t call, const std::string& text);
  void report_positions() const;
  [[nodiscard]] std::string again(std::int64_t call) const;
  [[nodiscard]] bool is_last_rank() const { return world_.rank().value() == world_.size() - 1; }

  const Settings& settings_;
  const std::vector<std::string>& arguments_;
  const std::uint64_t seed_;
  const CallRange range_;
  const Communicator world_;  ///< The first one of the process, of which all others take over what they share.
  const std::string device_;
  Reporter reporter_;
  std::vector<Position> positions_;
  std::vector<Worker> workers_;
  std::mutex mutex_;  ///< Guards reported_ and the output of threads.
  int reported_ = 0;
  std::vector<std::string> kept_;
  std::vector<shm::Descriptor> kept_descriptors_;
};

Run::Run(const Settings& settings, const std::vector<std::string>& arguments)
    : settings_(settings),
      arguments_(arguments),
      seed_(agreed_seed(settings)),
      range_(range_of(settings)),
      world_(MPI_COMM_WORLD, {.transport = settings.transport == "random" ? "" : settings.transport}),
      device_(chosen_device(settings, world_)),
      reporter_({.machine = bench::survey(world_, arguments, device_),
                 .seed = seed_,
                 .threads = settings.threads,
                 .most_bytes = settings.most_bytes.value(),
                 .transport = settings.transport,
                 .memories = fmt::format("{}", fmt::join(settings.memories, ","))},
                settings, world_),
      positions_(static_cast<std::size_t>(settings.threads)) {
  add_workers();
}

void Run::add_workers() {
  const Repertoire repertoire = repertoire_of(settings_);
  constexpr std::size_t some = 1U << 16U;
  const std::size_t bytes = 2 * static_cast<std::size_t>(settings_.most_bytes.value()) + some;
  for (std::size_t thread = 0; thread < positions_.size(); ++thread) {
    const Faults faults = is_last_rank() && thread == 0 ? Faults{settings_.spoil, settings_.hang} : Faults{};
    workers_.emplace_back(
        repertoire, CommunicatorSource{seed_, static_cast<int>(thread), settings_.transport, MPI_COMM_WORLD},
        std::make_unique<MemoryPool>(memories_of(settings_), bytes), positions_[thread], faults,
        [this, thread](std::int64_t call, const std::string& text) { report_wrong(thread, call, text); });
  }
}

int Run::run() {
  const Watchdog watchdog{positions_, settings_.hang_after, [this] { report_positions(); }};
  for (std::int64_t round = range_.first / calls_of_round;; ++round) {
    run_round(round);
    keep();
    reporter_.sample();
    // Rank 0 decides by its clock; a wrong result of any rank is the end.
    const bool decides = world_.rank() == Rank{0};
    const bool is_wrong = reporter_.figures().tally.wrong > 0;
    const auto [ends, reports] =
        largest_of<2>({is_wrong || (decides && is_over(round)) ? 1 : 0, decides && reporter_.is_due() ? 1 : 0});
    if (reports != 0) reporter_.report();
    if (ends != 0) break;
  }
  for (Position& position : positions_)
    position.enter(Position::Phase::finished);
  const bool is_well = reporter_.conclude();
  return largest_of<1>({is_well ? apps::exit_success : apps::exit_failure})[0];
}

void Run::run_round(std::int64_t round) {
  for (Worker& worker : workers_)
    worker.prepare(round);
  std::vector<std::thread> threads;
  for (std::size_t thread = 1; thread < workers_.size(); ++thread)
    threads.emplace_back([=, this] { run_thread(round, thread); });
  run_thread(round, 0);
  for (std::thread& thread : threads)
    thread.join();
  // MPI, which is called next, does not move what UCX may still hold for others (docs/ucx.md).
  barrier(world_);
  reporter_.figures().tally = {};
  for (Worker& worker : workers_) {
    worker.finish(reporter_.figures());
    reporter_.figures().tally += worker.tally();
  }
}

/// An exception ends all ranks.
void Run::run_thread(std::int64_t round, std::size_t thread) {
  try {
    if (!device_.empty()) static_cast<void>(bench::cuda::use_device(world_.node().me));
    Worker::Listener listener;
    if (settings_.lists_calls && world_.rank() == Rank{0})
      listener = [this, thread](const Step& step) { list(thread, step); };
    workers_[thread].run(round, range_, listener);
  } catch (const std::exception& error) {
    report_wrong(thread, positions_[thread].call, fmt::format("{}: {}", positions_[thread].text(), error.what()));
    MPI_Abort(MPI_COMM_WORLD, apps::exit_failure);
  }
}

/// The fault that --keep asks for.
void Run::keep() {
  if (settings_.keep == Bytes{0} || !is_last_rank()) return;
  kept_.emplace_back(static_cast<std::size_t>(settings_.keep.value()), 'x');
  kept_descriptors_.emplace_back(::dup(STDERR_FILENO));
}

bool Run::is_over(std::int64_t round) const {
  if (settings_.calls) return (round + 1) * calls_of_round >= range_.end;
  constexpr double usual_seconds = 60;
  return reporter_.seconds() >= settings_.seconds.value_or(usual_seconds);
}

void Run::list(std::size_t thread, const Step& step) {
  const std::lock_guard lock{mutex_};
  for (std::size_t i = 0; i < step.calls.size(); ++i) {
    const std::string repeated =
        step.repetitions == 1 ? "" : fmt::format(", repeated as {}", step.number_of(i, step.repetitions - 1));
    apps::print("# thread {}, call {}: {}{}\n", thread, step.number_of(i, 0), to_text(step.calls[i]), repeated);
  }
  apps::flush_output();
}

void Run::report_wrong(std::size_t thread, std::int64_t call, const std::string& text) {
  constexpr int most = 20;
  const std::lock_guard lock{mutex_};
  if (++reported_ > most) return;
  apps::print_error("WRONG on rank {}, thread {}, seed {}, call {}: {}; again: {}\n", world_.rank().value(), thread,
                    seed_, call, text, again(call));
  if (reported_ == most) apps::print_error("rank {} counts further ones without a word\n", world_.rank().value());
}

void Run::report_positions() const {
  for (std::size_t thread = 0; thread < positions_.size(); ++thread)
    apps::print_error("HANGS: rank {}, thread {}, seed {}, {}; again: {}\n", world_.rank().value(), thread, seed_,
                      positions_[thread].text(), again(positions_[thread].call));
}

std::string Run::again(std::int64_t call) const {
  return repeat_command(arguments_, seed_, call, call + 1, world_.size());
}

}  // namespace

int run(const Settings& settings, const std::vector<std::string>& arguments) {
  Run run{settings, arguments};
  return run.run();
}

}  // namespace tutti::soak
