#include "apps/sgd/run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "apps/files.hpp"
#include "apps/root.hpp"
#include "apps/sgd/checkpoint.hpp"
#include "apps/sgd/device.hpp"
#include "apps/sgd/page.hpp"
#include "apps/sgd/report.hpp"
#include "apps/sgd/study.hpp"
#include "apps/standard_output.hpp"

namespace tutti::sgd {

namespace fs = std::filesystem;

namespace {

/// The digits that come with Tutti: installed or in the source tree above the program, else where it was built from.
std::string default_digits() {
  std::error_code ignored;
  for (fs::path folder = fs::read_symlink("/proc/self/exe", ignored); folder.has_relative_path();) {
    folder = folder.parent_path();
    for (const auto* const place : {"share/tutti/digits.csv", "apps/data/digits.csv"}) {
      if (fs::exists(folder / place, ignored)) return folder / place;
    }
  }
  return TUTTI_SGD_DIGITS;
}

Split read_data(const Settings& settings) {
  if (settings.synthetic > 0)
    return split(made_up(settings.synthetic, settings.seed), settings.test_fraction, settings.seed);
  if (settings.images.empty()) {
    DataSet digits = read_csv(settings.data.empty() ? default_digits() : settings.data);
    if (settings.data.empty()) digits.name = "UCI handwritten digits";
    return split(digits, settings.test_fraction, settings.seed);
  }
  DataSet images = read_idx(settings.images, settings.labels);
  if (settings.test_images.empty()) return split(images, settings.test_fraction, settings.seed);
  Split data{std::move(images), read_idx(settings.test_images, settings.test_labels)};
  auto& [train, test] = data;
  if (train.features != test.features || train.height != test.height) {
    throw apps::InputError(
        fmt::format("{} has images of {} pixels, {} of {}", train.name, train.features, test.name, test.features));
  }
  train.classes = test.classes = std::max(train.classes, test.classes);
  return data;
}

void broadcast(MPI_Comm comm, DataSet& data) {
  apps::broadcast(comm, data.name);
  apps::broadcast(comm, data.features);
  apps::broadcast(comm, data.height);
  apps::broadcast(comm, data.classes);
  apps::broadcast(comm, data.white);
  apps::broadcast(comm, data.pixels);
  apps::broadcast(comm, data.labels);
}

/// Reads on rank 0, so that an error is told once, and gives everybody the data.
Split shared_data(const Settings& settings, MPI_Comm comm) {
  Split data;
  apps::on_root(comm, [&] {
    if (!settings.checkpoint.empty()) apps::require_writable(settings.checkpoint);
    if (!settings.json.empty() && settings.json != "-") apps::require_writable(settings.json);
    if (!settings.report.empty()) apps::require_writable(settings.report);
    data = read_data(settings);
  });
  broadcast(comm, data.train);
  broadcast(comm, data.test);
  return data;
}

/// Tells on a terminal how far an epoch is.
class Countdown {
 public:
  /// `is_shown`: on this rank.
  explicit Countdown(bool is_shown) : is_shown_(is_shown && ::isatty(STDERR_FILENO) == 1) {}
  void show(int epoch, double done) {
    const double now = MPI_Wtime();
    if (!is_shown_ || now < next_) return;
    next_ = now + 0.2;
    fmt::print(stderr, "\r{:>6}  {:3.0f} %, {:.0f} s left ", epoch, 100 * done, (now - start_) * (1 - done) / done);
    std::fflush(stderr);
    has_shown_ = true;
  }
  void clear() {
    if (has_shown_) fmt::print(stderr, "\r{:40}\r", "");
    has_shown_ = false;
    start_ = MPI_Wtime();
    next_ = start_ + 1;
  }

 private:
  bool is_shown_, has_shown_ = false;
  double start_ = MPI_Wtime(), next_ = start_ + 1;
};

/// Training that prints, saves and resumes.
template <class T>
class Run {
 public:
  Run(const Settings& settings, const Split& data, const Communicator& comm, MPI_Comm mpi)
      : settings_(settings),
        mpi_(mpi),
        countdown_(comm.rank() == Rank{0}),
        trainer_(settings, data, comm),
        identity_{.precision = settings.precision,
                  .model = trainer_.network().name(),
                  .optimizer = settings.optimizer,
                  .parameters = trainer_.network().parameter_count(),
                  .seed = settings.seed,
                  .batch = static_cast<std::uint64_t>(settings.batch),
                  .accumulate = static_cast<std::uint64_t>(settings.accumulate),
                  .data = fingerprint(data)},
        description_{settings,
                     data,
                     trainer_.network().name(),
                     trainer_.network().parameter_count(),
                     comm.size(),
                     trainer_.machine().products(),
                     std::string{trainer_.exchange().algorithm()},
                     trainer_.exchange().bucket_count(),
                     trainer_.exchange().bytes_of_step(),
                     trainer_.memory()} {}

  void operator()() {
    read_others();
    resume();
    print(header_text(description_));
    while (trainer_.epochs() < settings_.epochs) {
      countdown_.clear();
      const auto show = [&](double done) { countdown_.show(trainer_.epochs() + 1, done); };
      epochs_.push_back(trainer_.run_epoch(show));
      countdown_.clear();
      print(row_text(settings_, epochs_.back()));
      save();
      report();
    }
    if (epochs_.empty())
      print("All epochs are done already: ask for more by --epochs. No file was written.\n");
    else
      print(step_text(description_, epochs_));
    apps::on_root(mpi_, [&] {
      if (settings_.json == "-") apps::print(json_text(description_, epochs_));
    });
  }

 private:
  void resume() {
    Progress<T> progress;
    apps::on_root(mpi_, [&] {
      if (settings_.checkpoint.empty() || !fs::exists(settings_.checkpoint)) return;
      progress = decode<T>(settings_.checkpoint, apps::read_file(settings_.checkpoint), identity_);
      print(fmt::format("Resumed   '{}' after {} epochs\n", settings_.checkpoint, progress.epochs));
    });
    apps::broadcast(mpi_, progress.epochs);
    apps::broadcast(mpi_, progress.steps);
    apps::broadcast(mpi_, progress.scale);
    apps::broadcast(mpi_, progress.unscaled);
    apps::broadcast(mpi_, progress.weights);
    apps::broadcast(mpi_, progress.mean);
    apps::broadcast(mpi_, progress.square);
    if (!progress.weights.empty()) trainer_.resume(progress);
  }
  void save() {
    if (settings_.checkpoint.empty()) return;
    const Progress<T> progress = trainer_.progress();
    apps::on_root(mpi_, [&] { apps::replace_file(settings_.checkpoint, encode(identity_, progress)); });
  }
  /// The reports of other runs, which the page shows beside this one.
  void read_others() {
    apps::on_root(mpi_, [&] {
      for (const std::string& file : settings_.compare)
        others_.push_back(shown_run(file, apps::read_file(file)));
    });
  }
  /// After every epoch: a training that is killed has reports of what it did.
  void report() {
    apps::on_root(mpi_, [&] {
      if (!settings_.json.empty() && settings_.json != "-") {
        apps::replace_file(settings_.json, json_text(description_, epochs_));
      }
      if (!settings_.report.empty())
        apps::replace_file(settings_.report, page_text(description_, epochs_, trainer_.timeline(), others_));
    });
  }
  /// Prints on rank 0, unless stdout is for JSON.
  void print(const std::string& text) {
    int rank = 0;
    MPI_Comm_rank(mpi_, &rank);
    if (rank != 0 || settings_.json == "-") return;
    apps::print(text);
    apps::flush_output();
  }

  const Settings& settings_;
  MPI_Comm mpi_;
  Countdown countdown_;
  Trainer<T> trainer_;
  Identity identity_;
  RunDescription description_;
  std::vector<EpochReport> epochs_;
  std::vector<ShownRun> others_;  ///< On rank 0.
};

}  // namespace

void run(const Settings& settings, MPI_Comm mpi) {
  require_consistent(settings);
  if (settings.device) apps::refuse_if_any(mpi, why_no_device());
  const Split data = shared_data(settings, mpi);
  if (settings.device) use_device(local_rank(Communicator{mpi}));
  const Communicator comm{mpi, {.buffers = settings.device && std::getenv("TUTTI_BUFFERS") == nullptr ? "device" : ""}};
  if (settings.study) return study(settings, data, comm);
  if (settings.is_double()) {
    Run<double>{settings, data, comm, mpi}();
  } else {
    Run<float>{settings, data, comm, mpi}();
  }
}

}  // namespace tutti::sgd
