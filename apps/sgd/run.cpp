#include "apps/sgd/run.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "apps/files.hpp"
#include "apps/root.hpp"
#include "apps/sgd/checkpoint.hpp"
#include "apps/sgd/device_learner.hpp"
#include "apps/sgd/report.hpp"
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
  if (settings.images.empty()) {
    DataSet digits = read_csv(settings.data.empty() ? default_digits() : settings.data);
    if (settings.data.empty()) digits.name = "UCI handwritten digits";
    return split(digits, settings.test_fraction, settings.seed);
  }
  DataSet images = read_idx(settings.images, settings.labels);
  if (settings.test_images.empty()) return split(images, settings.test_fraction, settings.seed);
  Split data{std::move(images), read_idx(settings.test_images, settings.test_labels)};
  auto& [train, test] = data;
  if (train.features != test.features) {
    throw apps::InputError(
        fmt::format("{} has images of {} pixels, {} of {}", train.name, train.features, test.name, test.features));
  }
  train.classes = test.classes = std::max(train.classes, test.classes);
  return data;
}

void broadcast(MPI_Comm comm, DataSet& data) {
  apps::broadcast(comm, data.name);
  apps::broadcast(comm, data.features);
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
    data = read_data(settings);
  });
  broadcast(comm, data.train);
  broadcast(comm, data.test);
  return data;
}

/// Training that prints, saves and resumes.
template <class T>
class Run {
 public:
  Run(const Settings& settings, const Split& data, const Communicator& comm, MPI_Comm mpi)
      : settings_(settings),
        mpi_(mpi),
        trainer_(settings, data, comm),
        identity_{settings.precision, trainer_.shape().widths(), settings.seed,
                  static_cast<std::uint64_t>(settings.batch), fingerprint(data)},
        description_{settings,
                     data,
                     trainer_.shape().widths(),
                     trainer_.shape().parameter_count(),
                     comm.size(),
                     trainer_.algorithm()} {}

  void operator()() {
    resume();
    print(header_text(description_));
    while (trainer_.epochs() < settings_.epochs) {
      epochs_.push_back(trainer_.run_epoch());
      print(row_text(epochs_.back()));
      save();
    }
    if (epochs_.empty()) print("All epochs are done already: ask for more by --epochs.\n");
    report();
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
    apps::broadcast(mpi_, progress.weights);
    apps::broadcast(mpi_, progress.velocity);
    if (!progress.weights.empty()) trainer_.resume(progress);
  }
  void save() {
    if (settings_.checkpoint.empty()) return;
    apps::on_root(mpi_, [&] { apps::replace_file(settings_.checkpoint, encode(identity_, trainer_.progress())); });
  }
  void report() {
    apps::on_root(mpi_, [&] {
      if (settings_.json == "-") apps::print(json_text(description_, epochs_));
      if (!settings_.json.empty() && settings_.json != "-") {
        apps::replace_file(settings_.json, json_text(description_, epochs_));
      }
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
  Trainer<T> trainer_;
  Identity identity_;
  RunDescription description_;
  std::vector<EpochReport> epochs_;
};

}  // namespace

void run(const Settings& settings, MPI_Comm mpi) {
  require_consistent(settings);
  if (settings.device) apps::refuse_if_any(mpi, why_no_device());
  const Split data = shared_data(settings, mpi);
  if (settings.device) use_device(local_rank(Communicator{mpi}));
  const Communicator comm{mpi, {.buffers = settings.device && std::getenv("TUTTI_BUFFERS") == nullptr ? "device" : ""}};
  if (settings.precision == "float") {
    Run<float>{settings, data, comm, mpi}();
  } else {
    Run<double>{settings, data, comm, mpi}();
  }
}

}  // namespace tutti::sgd
