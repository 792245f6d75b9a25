// Random calls of every kind, compared with the MPI's results: see docs/contributing.md.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <mutex>
#include <thread>

#include "tests/mpi/differential/executor.hpp"
#include "tests/mpi/differential/options.hpp"

namespace tutti::differential {
namespace {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// All threads of this rank.
class Run {
 public:
  explicit Run(const Options& options) : options_(options), positions_(static_cast<std::size_t>(options.threads)) {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }

  /// Returns the exit status.
  int run() {
    const Watchdog watchdog{positions_, options_.hang_after, [this] { report_positions(); }};
    const Communicator first{MPI_COMM_WORLD, {.transport = options_.transport == "random" ? "" : options_.transport}};
    const auto arena = static_cast<std::size_t>(2 * options_.max_bytes) + (std::size_t{1} << 16);
    for (std::size_t thread = 0; thread < positions_.size(); ++thread) {
      pools_.push_back(std::make_unique<MemoryPool>(arena, options_.on_devices));
      executors_.emplace_back(*pools_.back(), positions_[thread], [this, thread](const std::string& text) {
        report_wrong(static_cast<int>(thread), text);
      });
    }
    for (std::int64_t epoch = first_step() / steps_of_epoch; !is_over(epoch); ++epoch)
      run_epoch(epoch);
    for (Position& position : positions_)
      position.enter(Position::Phase::finished);
    return conclude();
  }

 private:
  [[nodiscard]] std::int64_t first_step() const { return options_.only_first.value_or(0); }
  [[nodiscard]] std::int64_t calls_of_thread() const {
    return (options_.calls + options_.threads - 1) / options_.threads;
  }

  /// The same on all ranks.
  [[nodiscard]] bool is_over(std::int64_t epoch) const {
    if (options_.only_last) return epoch * steps_of_epoch > *options_.only_last;
    if (!options_.seconds) {
      bool is_over = true;
      for (const Executor& executor : executors_)
        is_over = is_over && executor.tally().calls >= calls_of_thread();
      return is_over;
    }
    int is_over = now() - began_ >= *options_.seconds ? 1 : 0;
    MPI_Bcast(&is_over, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return is_over != 0;
  }

  void run_epoch(std::int64_t epoch) {
    std::vector<Communicators> communicators;
    for (int thread = 0; thread < options_.threads; ++thread)
      communicators.push_back(make_communicators(options_.seed, thread, epoch, options_.transport));
    std::vector<std::thread> threads;
    for (int thread = 1; thread < options_.threads; ++thread)
      threads.emplace_back([&, thread] { run_steps(epoch, thread, communicators[static_cast<std::size_t>(thread)]); });
    run_steps(epoch, 0, communicators[0]);
    for (std::thread& thread : threads)
      thread.join();
  }

  /// An exception ends all ranks.
  void run_steps(std::int64_t epoch, int thread, const Communicators& communicators) {
    Position& position = positions_[static_cast<std::size_t>(thread)];
    try {
      if (options_.on_devices) use_device();
      const Generator generator{options_.seed, thread, options_.max_bytes};
      Executor& executor = executors_[static_cast<std::size_t>(thread)];
      for (std::int64_t number = epoch * steps_of_epoch; number < (epoch + 1) * steps_of_epoch; ++number) {
        if (number < first_step() || number > options_.only_last.value_or(number)) continue;
        if (!options_.only_last && !options_.seconds && executor.tally().calls >= calls_of_thread()) return;
        const Step step = generator.step(number, communicators.shapes);
        if (options_.only_first) print(step, number, thread);
        position.step = number;
        if (number == options_.hang && is_last_rank()) std::this_thread::sleep_for(std::chrono::hours{1});
        executor.run(step, communicators, number == options_.spoil && is_last_rank());
      }
    } catch (const std::exception& error) {
      report_wrong(thread, fmt::format("{}: {}", position.text(), error.what()));
      MPI_Abort(MPI_COMM_WORLD, 2);
    }
  }

  /// One of the devices for each rank; in each thread.
  void use_device() const {
    const test::TestDevices& devices = test::TestDevices::get();
    devices.use(rank_ % devices.count());
  }

  [[nodiscard]] bool is_last_rank() const { return rank_ == size_ - 1; }

  void print(const Step& step, std::int64_t number, int thread) const {
    if (rank_ != 0) return;
    for (const Call& call : step.calls)
      fmt::print("step {}, thread {}, {} repetitions: {}\n", number, thread, step.repetitions, to_text(call));
    std::fflush(stdout);
  }

  void report_wrong(int thread, const std::string& text) {
    constexpr int most = 20;
    const std::lock_guard lock{mutex_};
    if (++reported_ > most) return;
    const std::int64_t step = positions_[static_cast<std::size_t>(thread)].step;
    fmt::print(stderr, "WRONG on rank {}, thread {}, step {}: {}; again: {}\n", rank_, thread, step, text,
               replay_command(options_, step, size_));
    if (reported_ == most) fmt::print(stderr, "rank {} counts further ones without a word\n", rank_);
  }

  void report_positions() const {
    for (std::size_t thread = 0; thread < positions_.size(); ++thread)
      fmt::print(stderr, "HANGS: rank {}, thread {}: seed {}, {}; again: {}\n", rank_, thread, options_.seed,
                 positions_[thread].text(), replay_command(options_, positions_[thread].step, size_));
  }

  [[nodiscard]] int conclude() const {
    Tally sum;
    for (const Executor& executor : executors_)
      sum += executor.tally();
    std::int64_t numbers[] = {sum.elements, sum.wrong};
    MPI_Allreduce(MPI_IN_PLACE, numbers, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    if (rank_ == 0)
      fmt::print("{} calls, {} elements, {} wrong, {:.1f} seconds\n", sum.calls, numbers[0], numbers[1],
                 now() - began_);
    return numbers[1] == 0 ? 0 : 1;
  }

  const Options options_;
  int rank_ = 0, size_ = 1;
  const double began_ = now();
  std::vector<Position> positions_;
  std::vector<std::unique_ptr<MemoryPool>> pools_;
  std::vector<Executor> executors_;
  std::mutex mutex_;
  int reported_ = 0;
};

/// As many threads as the MPI allows to call it.
int run(Options options, int provided) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (options.threads > 1 && provided < MPI_THREAD_MULTIPLE) {
    if (rank == 0) fmt::print("this MPI provides less than MPI_THREAD_MULTIPLE: one thread\n");
    options.threads = 1;
  }
  if (options.on_devices) {
    const test::TestDevices& devices = test::TestDevices::get();
    if (devices.count() == 0) {
      if (rank == 0) fmt::print("--devices: the CUDA driver finds no device\n");
      return 2;
    }
    devices.use(rank % devices.count());  // for the pools
  }
  return Run{options}.run();
}

}  // namespace
}  // namespace tutti::differential

int main(int argc, char** argv) {
  tutti::differential::Options options;
  try {
    options = tutti::differential::read_options(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "differential_test: {}\n", error.what());
    return 2;
  }
  int provided = 0;
  MPI_Init_thread(&argc, &argv, options.threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
  const int status = tutti::differential::run(options, provided);
  MPI_Finalize();
  return status;
}
