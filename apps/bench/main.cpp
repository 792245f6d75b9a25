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
#include "apps/mpi_main.hpp"

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

int measure_all(const Settings& settings, const apps::MpiProcess& process) {
  const std::vector<Experiment> experiments = resolved(settings, process.ranks);
  Outputs outputs;
  open_outputs(outputs, settings);
  choose_transport(settings);
  // First, so that the communicator that is measured knows the devices.
  const std::string device = choose_device(*experiments.front().memory, Communicator{MPI_COMM_WORLD});
  const bool on_device = !experiments.front().memory->is_readable_by_host();
  const Communicator comm{MPI_COMM_WORLD,
                          {.buffers = on_device && std::getenv("TUTTI_BUFFERS") == nullptr ? "device" : ""}};
  const Machine machine = survey(comm, process.arguments, device);
  if (settings.has_thresholds) {
    measure_thresholds_and_write(settings, machine, comm, outputs);
    return apps::exit_success;
  }
  const std::vector<Record> records = run(experiments, settings, machine, comm);
  write_outputs(outputs, machine, records);
  const bool is_wrong = std::any_of(records.begin(), records.end(), [](const Record& r) { return r.wrong > 0; });
  return is_wrong ? apps::exit_failure : apps::exit_success;
}

/// Calls in streams may be driven by threads of the library; else an MPI that knows of one thread is measured.
int level_of_threads(const Settings& settings) {
  return is_in_stream(settings.mode) ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
}

}  // namespace

int main(int argc, char** argv) {
  const apps::MpiProgram<Settings> program{options_for, level_of_threads, measure_all};
  return apps::mpi_main(program, argc, argv);
}
