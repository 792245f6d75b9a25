// tutti-bench: times of Tutti's collectives, and of the MPI's own beside them.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <optional>

#include "apps/bench/best.hpp"
#include "apps/bench/fit.hpp"
#include "apps/bench/memory.hpp"
#include "apps/bench/pairs.hpp"
#include "apps/bench/records.hpp"
#include "apps/bench/report.hpp"
#include "apps/bench/run.hpp"
#include "apps/bench/text.hpp"
#include "apps/files.hpp"
#include "apps/mpi_main.hpp"

namespace {

using namespace tutti;
using namespace tutti::bench;

/// The files asked for, open on rank 0 only.
struct Outputs {
  std::optional<apps::OutputFile> json, csv, fit;
};

/// Throws InputError on all ranks if rank 0 cannot open a file.
void open_outputs(Outputs& outputs, const Settings& settings) {
  apps::on_root(MPI_COMM_WORLD, [&] {
    if (!settings.json.empty()) outputs.json.emplace("json", settings.json);
    if (!settings.csv.empty()) outputs.csv.emplace("csv", settings.csv);
    if (!settings.fit.empty()) outputs.fit.emplace("fit", settings.fit);
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

/// How many ranks measure, one number after the other. Throws InputError.
std::vector<int> numbers_of_ranks(const Settings& settings, int ranks) {
  for (const int number : settings.ranks) {
    if (std::count(settings.ranks.begin(), settings.ranks.end(), number) > 1)
      throw apps::InputError(fmt::format("--ranks: {} comes twice", number));
    if (number > ranks)
      throw apps::InputError(fmt::format("--ranks {0}: the job has {1} ranks; allowed: 1 to {1}", number, ranks));
  }
  return settings.ranks.empty() ? std::vector{ranks} : settings.ranks;
}

/// All numbers of ranks, one after the other.
std::vector<Record> measure_teams(const std::vector<std::vector<Experiment>>& experiments,
                                  const std::vector<int>& numbers, const Settings& settings, const Machine& machine,
                                  const Communicator& comm, const CommunicatorOptions& options) {
  std::vector<Record> records;
  if (comm.rank() == Rank{0}) apps::print(preface(settings, machine));
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    with_team(numbers[i], comm, options, [&](const Team& team) {
      for (Record& record : run(experiments[i], settings, machine, team))
        records.push_back(std::move(record));
    });
  }
  if (comm.rank() != Rank{0}) return records;
  apps::print(to_text(best_of(records)));
  const std::vector<Summary> summaries = summarised(records);
  const bool has_figures = std::any_of(summaries.begin(), summaries.end(),
                                       [](const Summary& each) { return each.ratios > 0 || each.wrong; });
  if (summaries.size() > 1 && has_figures) apps::print(to_text(summaries));
  return records;
}

void measure_pairs_and_write(const Settings& settings, const Machine& machine, const Communicator& comm,
                             Outputs& outputs) {
  if (comm.rank() == Rank{0}) apps::print(preface(settings, machine));
  const Pairs pairs = measure_pairs(settings, comm);
  if (comm.rank() != Rank{0}) return;
  apps::print(to_text(pairs));
  if (outputs.json) outputs.json->commit(json_text(machine, pairs));
  if (outputs.fit) outputs.fit->commit(rates_text(machine, pairs));
}

int measure_all(const Settings& settings, const apps::MpiProcess& process) {
  const std::vector<int> numbers = numbers_of_ranks(settings, process.ranks);
  std::vector<std::vector<Experiment>> experiments;
  experiments.reserve(numbers.size());
  for (const int ranks : numbers) {
    experiments.push_back(resolved(settings, ranks));
  }
  Outputs outputs;
  open_outputs(outputs, settings);
  choose_transport(settings);
  // First, so that the communicator that is measured knows the devices.
  const std::string device = choose_device(*experiments.front().front().memory, made_communicator(MPI_COMM_WORLD, {}));
  const bool on_device = !experiments.front().front().memory->is_readable_by_host();
  const CommunicatorOptions options{.buffers = on_device && std::getenv("TUTTI_BUFFERS") == nullptr ? "device" : "",
                                    .rules = settings.rules};
  const Communicator comm = made_communicator(MPI_COMM_WORLD, options);
  const Machine machine = survey(comm, process.arguments, device);
  if (settings.measures_pairs()) {
    measure_pairs_and_write(settings, machine, comm, outputs);
    return apps::exit_success;
  }
  const std::vector<Record> records = measure_teams(experiments, numbers, settings, machine, comm, options);
  write_outputs(outputs, machine, records);
  // Ranks that measured nothing have to end alike.
  bool is_wrong = std::any_of(records.begin(), records.end(), [](const Record& r) { return r.wrong > 0; });
  apps::broadcast(MPI_COMM_WORLD, is_wrong);
  return is_wrong ? apps::exit_failure : apps::exit_success;
}

/// Calls in streams may be driven by threads of the library, and so may all if the user asks for it; else an MPI that
/// knows of one thread is measured.
int level_of_threads(const Settings& settings) {
  const char* const thread = std::getenv("TUTTI_PROGRESS_THREAD");
  const bool has_thread = settings.is_overlapped && thread != nullptr && std::string_view{thread} == "1";
  return is_in_stream(settings.mode) || has_thread ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
}

}  // namespace

int main(int argc, char** argv) {
  const apps::MpiProgram<Settings> program{options_for, level_of_threads, measure_all};
  return apps::mpi_main(program, argc, argv);
}
