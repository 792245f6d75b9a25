#include "apps/bench/run.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <climits>

#include "apps/bench/buffers.hpp"
#include "apps/bench/cuda.hpp"
#include "apps/bench/measure.hpp"
#include "apps/bench/memory.hpp"
#include "apps/bench/text.hpp"
#include "apps/standard_output.hpp"
#include "lib/core/transport/mpi/check.hpp"

namespace tutti::bench {

namespace {

/// A line that shows people the progress, and leaves no trace: on stderr, only if that is a terminal: nothing of it
/// gets into pipes and files.
class Progress {
 public:
  enum class Speaker : bool { no, yes };
  explicit Progress(Speaker speaker) : is_shown_(speaker == Speaker::yes && isatty(STDERR_FILENO) == 1) {}
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  ~Progress() { clear(); }

  void show(std::string_view text) const {
    if (is_shown_) apps::print_error("{}{}", erase_line, text);
  }
  /// Before anything else is printed.
  void clear() const {
    if (is_shown_) apps::print_error("{}", erase_line);
  }

 private:
  static constexpr std::string_view erase_line = "\r\x1b[K";
  bool is_shown_;
};

/// One collective.
class Bench {
 public:
  Bench(const Experiment& what, const Settings& settings, const Machine& machine, const Communicator& comm,
        const Progress& progress)
      : what_(what),
        settings_(settings),
        machine_(machine),
        comm_(comm),
        buffers_(what, comm),
        table_(layout()),
        progress_(progress) {}

  std::vector<Record> run() const {
    print(heading(what_, settings_) + table_.header());
    std::vector<Record> records;
    for (std::size_t i = 0; i < what_.counts.size(); ++i) {
      for (const Placement placement : what_.placements) {
        progress_.show(fmt::format("{}: size {} of {}", what_.collective->name, i + 1, what_.counts.size()));
        for (Record& record : measured(what_.counts[i], placement)) {
          print(table_.row(record));
          records.push_back(std::move(record));
        }
      }
    }
    print(notes(what_, settings_, machine_, records));
    return records;
  }

 private:
  [[nodiscard]] bool is_compared() const { return settings_.compare == "mpi" && mpi_takes(*what_.memory); }
  [[nodiscard]] Table::Layout layout() const;
  [[nodiscard]] Record described(const Call& call, Placement placement) const;
  [[nodiscard]] std::optional<PeerCall> peer_of(const Call& call) const;
  [[nodiscard]] bool is_too_large_for_mpi(const Call& call) const;
  /// The calls that are measured, each with a record of it.
  [[nodiscard]] std::vector<std::unique_ptr<Repeater>> calls(Call& call, Placement placement,
                                                             std::vector<Record>& records) const;
  /// One record for each algorithm.
  [[nodiscard]] std::vector<Record> measured(Count count, Placement placement) const;
  [[nodiscard]] std::int64_t wrong_on_all_ranks(const Call& call, Repeater& ours) const;
  void print(const std::string& text) const;

  const Experiment& what_;
  const Settings& settings_;
  const Machine& machine_;
  const Communicator& comm_;
  Buffers buffers_;
  Table table_;
  const Progress& progress_;
};

Table::Layout Bench::layout() const {
  std::size_t algorithm = 0;
  for (const std::string& asked : what_.algorithms) {
    algorithm = std::max(algorithm, asked.size());
  }
  for (const Algorithm* each : algorithms()) {
    if (algorithm == 0 && each->collective == what_.collective->collective) {
      algorithm = std::max(algorithm, each->name.size());
    }
  }
  auto work = Table::Work::none;
  if (what_.memory->needs_driver()) work = cuda::driver_counts() ? Table::Work::of_driver : Table::Work::bytes;
  return {.type = settings_.type.size(),
          .op = settings_.op.size(),
          .algorithm = algorithm,
          .peer = is_compared() ? "mpi" : "",
          .work = work};
}

Record Bench::described(const Call& call, Placement placement) const {
  const BenchCollective& collective = *what_.collective;
  Record record;
  record.collective = collective.name;
  record.algorithm = collective.algorithm(call);
  record.is_auto = call.algorithm.empty();
  record.transport = what_.transport;
  record.memory = settings_.memory;
  record.mode = settings_.mode;
  record.ranks = comm_.size();
  record.nodes = comm_.node_count();
  record.count = call.count.value();
  record.bytes = (call.count.value() * size_of(call.type)).value();
  record.type = collective.has_data() ? settings_.type : "none";
  record.op = collective.reduces() ? settings_.op : "none";
  if (collective.has_root()) record.root = settings_.root;
  record.placement = placement;
  record.rounds = settings_.rounds;
  return record;
}

bool Bench::is_too_large_for_mpi(const Call& call) const {
  const Count largest = what_.collective->divided == Divided::evenly ? call.block() : call.count;
  return largest > Count{INT_MAX};
}

/// Nothing if it is not asked for, or if MPI's call cannot take the count.
std::optional<PeerCall> Bench::peer_of(const Call& call) const {
  if (!is_compared() || is_too_large_for_mpi(call)) return std::nullopt;
  return what_.collective->peer(call, what_.mode);
}

std::vector<std::unique_ptr<Repeater>> Bench::calls(Call& call, Placement placement,
                                                    std::vector<Record>& records) const {
  std::vector<std::unique_ptr<Repeater>> calls;
  if (settings_.calls == "mpi") {
    if (is_too_large_for_mpi(call)) return calls;
    PeerCall its = what_.collective->peer(call, what_.mode);
    records.push_back(described(call, placement));
    records.back().algorithm = "mpi";
    records.back().mode = to_string(its.mode);
    calls.push_back(std::move(its.repeater));
    return calls;
  }
  for (const std::string& algorithm : what_.algorithms) {
    call.algorithm = algorithm;
    records.push_back(described(call, placement));
    calls.push_back(what_.collective->ours(call, what_.mode));
  }
  return calls;
}

std::vector<Record> Bench::measured(Count count, Placement placement) const {
  Call call = buffers_.call(count, placement);
  const std::optional<PeerCall> peer = peer_of(call);
  std::vector<Record> records;
  const std::vector<std::unique_ptr<Repeater>> ours = calls(call, placement, records);
  std::vector<Repeater*> ways;
  ways.reserve(ours.size() + 1);
  for (const auto& each : ours)
    ways.push_back(each.get());
  if (peer) ways.push_back(peer->repeater.get());
  const std::vector<Timing> timings = measure(ways, protocol_of(*what_.collective, settings_, buffers_, call));
  for (std::size_t i = 0; i < records.size(); ++i) {
    Record& record = records[i];
    record.calls = timings[i].calls;
    record.time_us = in_microseconds(timings[i].seconds);
    constexpr double gigabytes_per_s = 1e-3;  // in bytes per microsecond
    record.algbw = static_cast<double>(record.bytes) / record.time_us.median * gigabytes_per_s;
    record.busbw = record.algbw * what_.collective->busbw_factor(comm_.size());
    if (peer) {
      const Spread time_us = in_microseconds(timings[records.size()].seconds);
      const auto mode = std::string{to_string(peer->mode)};
      record.peer = Peer{machine_.mpi, mode, time_us, time_us.median / record.time_us.median};
    }
    if (what_.memory->needs_driver()) record.device = work_of(*what_.collective, call, *ours[i], comm_);
    if (settings_.is_checked) record.wrong = wrong_on_all_ranks(call, *ours[i]);
  }
  return records;
}

std::int64_t Bench::wrong_on_all_ranks(const Call& call, Repeater& ours) const {
  std::int64_t wrong = wrong_elements(*what_.collective, buffers_, call, ours);
  mpi::check(MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce");
  return wrong;
}

void Bench::print(const std::string& text) const {
  if (comm_.rank() != Rank{0}) return;
  progress_.clear();
  apps::print(text);
  apps::flush_output();
}

}  // namespace

std::vector<Record> run(std::span<const Experiment> experiments, const Settings& settings, const Machine& machine,
                        const Communicator& comm) {
  const bool speaks = comm.rank() == Rank{0};
  const Progress progress{speaks ? Progress::Speaker::yes : Progress::Speaker::no};
  if (speaks) apps::print(preface(settings, machine));
  std::vector<Record> records;
  for (const Experiment& what : experiments) {
    for (Record& record : Bench{what, settings, machine, comm, progress}.run()) {
      records.push_back(std::move(record));
    }
  }
  const std::vector<Summary> summaries = summarised(records);
  if (speaks && summaries.size() > 1) apps::print(to_text(summaries));
  return records;
}

}  // namespace tutti::bench
