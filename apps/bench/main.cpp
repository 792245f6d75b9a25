// tutti-bench: times of Tutti's collectives, and of the MPI's own beside them.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>

#include "apps/bench/memory.hpp"
#include "apps/bench/records.hpp"
#include "apps/bench/run.hpp"
#include "apps/bench/text.hpp"
#include "apps/bench/thresholds.hpp"
#include "apps/files.hpp"
#include "apps/root.hpp"
#include "apps/standard_output.hpp"

namespace {

using namespace tutti;
using namespace tutti::bench;

/// The files asked for, open on rank 0 only.
struct Outputs {
  std::optional<apps::OutputFile> json, csv;
};

/// Throws InputError on all ranks if rank 0 cannot open a file.
void open_outputs(Outputs& outputs, const Settings& settings) {
  apps::on_root(MPI_COMM_WORLD, [&] {
    if (!settings.json.empty()) outputs.json.emplace("json", settings.json);
    if (!settings.csv.empty()) outputs.csv.emplace("csv", settings.csv);
  });
}

/// Writes every file that can be written: a failure of one loses nothing of the other.
void write_outputs(Outputs& outputs, const Machine& machine, const std::vector<Record>& records) {
  std::exception_ptr failure;
  try {
    if (outputs.json) outputs.json->commit(json_text(machine, records));
  } catch (const std::exception&) {
    failure = std::current_exception();
  }
  if (outputs.csv) outputs.csv->commit(to_csv(records));
  if (failure) std::rethrow_exception(failure);
}

void measure_thresholds_and_write(const Settings& settings, const Machine& machine, const Communicator& comm,
                                  Outputs& outputs) {
  if (comm.rank() == Rank{0}) apps::print(preface(settings, machine));
  const std::vector<Threshold> thresholds = measure_thresholds(settings, comm);
  if (outputs.json) outputs.json->commit(json_text(machine, thresholds));
}

/// The exit code, the same on all ranks. Throws errors of this rank alone.
int bench_main(int argc, char** argv, int rank, int ranks) {
  Settings settings;
  apps::Options options = options_for(settings);
  if (const auto code = apps::parse_or_report(options, argc, argv, rank == 0)) return *code;
  try {
    const std::vector<Experiment> experiments = resolved(settings, ranks);
    Outputs outputs;
    open_outputs(outputs, settings);
    choose_transport(settings);
    // First, so that the communicator that is measured knows the devices.
    const std::string device = choose_device(*experiments.front().memory, Communicator{MPI_COMM_WORLD});
    const bool on_device = !experiments.front().memory->is_readable_by_host();
    const Communicator comm{MPI_COMM_WORLD,
                            {.buffers = on_device && std::getenv("TUTTI_BUFFERS") == nullptr ? "device" : ""}};
    const Machine machine = survey(comm, {argv, argv + argc}, device);
    if (settings.has_thresholds) {
      measure_thresholds_and_write(settings, machine, comm, outputs);
      return apps::exit_success;
    }
    const std::vector<Record> records = run(experiments, settings, machine, comm);
    write_outputs(outputs, machine, records);
    const bool is_wrong = std::any_of(records.begin(), records.end(), [](const Record& r) { return r.wrong > 0; });
    return is_wrong ? apps::exit_failure : apps::exit_success;
  } catch (const apps::InputError& error) {
    if (rank == 0) apps::print_error("tutti-bench: {} (see --help)\n", error.what());
    return apps::exit_bad_input;
  }
}

/// Calls in streams may be driven by threads of the library; else an MPI that knows of one thread is measured.
int level_of_threads(int argc, char** argv) {
  Settings settings;
  apps::Options options = options_for(settings);
  try {
    static_cast<void>(options.parse({argv + 1, argv + argc}));
  } catch (const apps::InputError&) {
    return MPI_THREAD_SINGLE;  // rank 0 says it
  }
  return is_in_stream(settings.mode) ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
}

}  // namespace

int main(int argc, char** argv) {
  apps::reserve_standard_streams();
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(&argc, &argv, level_of_threads(argc, argv), &provided);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int code = apps::exit_failure;
  try {
    code = bench_main(argc, argv, rank, ranks);
  } catch (const std::exception& error) {
    // The other ranks may be waiting for this one: end them too.
    apps::print_error("tutti-bench: rank {}: {}\n", rank, error.what());
    MPI_Abort(MPI_COMM_WORLD, apps::exit_failure);
  }
  MPI_Finalize();
  return apps::exit_code_after_output("tutti-bench", code);
}
