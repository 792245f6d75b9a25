#include "apps/bench/run.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <climits>

#include "apps/bench/buffers.hpp"
#include "apps/bench/cuda.hpp"
#include "apps/bench/lists.hpp"
#include "apps/bench/load.hpp"
#include "apps/bench/measure.hpp"
#include "apps/bench/memory.hpp"
#include "apps/bench/progress.hpp"
#include "apps/bench/text.hpp"
#include "apps/root.hpp"
#include "apps/standard_output.hpp"
#include "lib/core/communicator/communicator_state.hpp"
#include "lib/core/schedule/choice.hpp"
#include "lib/core/schedule/passes.hpp"
#include "lib/core/transport/mpi/check.hpp"

namespace tutti::bench {

namespace {

/// Calls that the library refuses: a choice for small data may be one of them for large data.
bool has_too_many_segments(const Call& call, const BenchCollective& collective) {
  if (call.algorithm.empty() || !collective.collective) return false;
  const Choice choice = read_choice(*collective.collective, call.algorithm);
  const std::int64_t bytes = (call.count.value() * size_of(call.type)).value();
  return choice.segment > 0 && bytes / choice.segment >= most_segments;
}

/// One collective on one team.
class Bench {
 public:
  Bench(const Experiment& what, const Settings& settings, const Machine& machine, const Team& team, Load& load,
        const Progress& progress)
      : what_(what),
        settings_(settings),
        machine_(machine),
        team_(team),
        comm_(team.comm),
        plain_(plain_of(settings, team)),
        buffers_(what, team.comm, team.mpi),
        algorithms_(algorithms_of(what)),
        table_(layout()),
        load_(load),
        progress_(progress) {}

  std::vector<Record> run() const {
    print(heading(what_, settings_, comm_.size()) + table_.header());
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
  [[nodiscard]] bool is_compared() const {
    return plain_ || settings_.compare == "calls" || (settings_.compare == "mpi" && mpi_takes(*what_.memory));
  }
  [[nodiscard]] Table::Layout layout() const;
  /// Those asked for, and those that Tutti chooses at the sizes.
  [[nodiscard]] std::vector<std::string> algorithms_of(const Experiment& what) const;
  /// The one that Tutti chooses.
  [[nodiscard]] std::string chosen(const Call& call) const;
  [[nodiscard]] Record described(const Call& call, Placement placement) const;
  /// What follows the built-in rules, for the same kind of buffers.
  [[nodiscard]] static std::optional<Communicator> plain_of(const Settings& settings, const Team& team) {
    if (settings.compare != "default") return std::nullopt;
    const AssumedMemory memory = team.comm.state().paths().assumed_memory();
    const std::string_view buffers = assumed_memory_names[static_cast<std::size_t>(memory)];
    return std::optional<Communicator>{std::in_place, team.mpi,
                                       CommunicatorOptions{.buffers = buffers, .rules = "none", .bits = Bits::same}};
  }
  [[nodiscard]] std::optional<PeerCall> peer_of(const Call& call) const;
  [[nodiscard]] PeerCall alone(const Call& call) const;
  [[nodiscard]] std::unique_ptr<Repeater> peer_repeater(const Call& call) const;
  [[nodiscard]] bool is_too_large_for_mpi(const Call& call) const;
  /// The calls that are measured, each with a record of it.
  [[nodiscard]] std::vector<std::unique_ptr<Repeater>> calls(Call& call, Placement placement,
                                                             std::vector<Record>& records) const;
  /// One record for each algorithm.
  [[nodiscard]] std::vector<Record> measured(Count count, Placement placement) const;
  void set_times(Record& record, const Timing& timing, std::optional<double> load) const;
  [[nodiscard]] Peer described(const PeerCall& peer, const Timing& ours, const Timing& theirs,
                               std::optional<double> load) const;
  /// Measures the ways again, alone and beside computation as long as each of them was before; the peer's is the last.
  void add_overlaps(Call& call, std::span<Repeater* const> ways, const std::optional<PeerCall>& peer,
                    std::span<const Timing> alone, std::vector<Record>& records) const;
  [[nodiscard]] std::int64_t wrong_on_all_ranks(const Call& call, Repeater& ours) const;
  void print(const std::string& text) const;

  const Experiment& what_;
  const Settings& settings_;
  const Machine& machine_;
  const Team& team_;
  const Communicator& comm_;
  const std::optional<Communicator> plain_;  ///< What it is compared with, if that is Tutti by other rules.
  Buffers buffers_;
  std::vector<std::string> algorithms_;
  Table table_;
  Load& load_;
  const Progress& progress_;
};

Table::Layout Bench::layout() const {
  std::size_t algorithm = 0;
  for (const std::string& asked : algorithms_) {
    algorithm = std::max(algorithm, asked.size());
  }
  const bool is_chosen = algorithm == 0;  // by Tutti, at each size
  for (std::size_t i = 0; is_chosen && i < what_.counts.size(); ++i) {
    for (const Placement placement : what_.placements)
      algorithm = std::max(algorithm, chosen(buffers_.described(what_.counts[i], placement)).size());
  }
  auto work = Table::Work::none;
  if (what_.memory->needs_driver()) work = cuda::driver_counts() ? Table::Work::of_driver : Table::Work::bytes;
  std::string_view peer;
  if (is_compared()) peer = settings_.compare;
  return {.type = settings_.type.size(),
          .op = settings_.op.size(),
          .algorithm = algorithm,
          .peer = peer,
          .work = work,
          .has_overlap = settings_.is_overlapped};
}

std::string Bench::chosen(const Call& call) const {
  Call plain = call;
  plain.algorithm = {};
  return what_.collective->algorithm(plain);
}

std::vector<std::string> Bench::algorithms_of(const Experiment& what) const {
  std::vector<std::string> names = what.algorithms;
  for (std::size_t i = 0; what.has_selected && i < what.counts.size(); ++i) {
    for (const Placement placement : what.placements) {
      std::string name = chosen(buffers_.described(what.counts[i], placement));
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(std::move(name));
    }
  }
  return names;
}

Record Bench::described(const Call& call, Placement placement) const {
  const BenchCollective& collective = *what_.collective;
  Record record;
  record.collective = collective.name;
  record.algorithm = collective.algorithm(call);
  record.is_auto = call.algorithm.empty();
  record.transport = what_.transport;
  record.memory = settings_.memory;
  record.mode = to_string(what_.mode);
  record.ranks = comm_.size();
  record.nodes = comm_.node_count();
  record.count = call.count.value();
  record.bytes = (call.count.value() * size_of(call.type)).value();
  record.list = what_.list;
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
  if (!is_compared()) return std::nullopt;
  if (plain_) {
    Call theirs = call;
    theirs.comm = &*plain_;
    theirs.algorithm = {};
    if (theirs.op == Op::exact_sum) theirs.op = Op::sum;
    theirs.accumulate = {};
    return PeerCall{what_.collective->ours(theirs, what_.mode), what_.mode, what_.collective->algorithm(theirs)};
  }
  if (settings_.compare == "mpi" && is_too_large_for_mpi(call)) return std::nullopt;
  return alone(call);
}

/// The MPI's call, or Tutti's ordinary one on each buffer of a list.
PeerCall Bench::alone(const Call& call) const {
  return in_turn(call, [&](const Call& each) {
    if (settings_.compare == "calls") return PeerCall{what_.collective->ours(each, what_.mode), what_.mode};
    return what_.collective->peer(each, what_.mode);
  });
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
  const std::string chosen = this->chosen(call);
  for (const std::string& algorithm : algorithms_) {
    call.algorithm = algorithm;
    if (has_too_many_segments(call, *what_.collective)) continue;
    records.push_back(described(call, placement));
    records.back().is_chosen = records.back().algorithm == chosen;
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
  load_.begin();
  const std::vector<Timing> timings = measure(ways, protocol_of(*what_.collective, settings_, buffers_, call));
  const std::optional<double> load = load_.share();
  for (std::size_t i = 0; i < records.size(); ++i) {
    set_times(records[i], timings[i], load);
    if (peer) records[i].peer = described(*peer, timings[i], timings[records.size()], load);
    if (what_.memory->needs_driver()) records[i].device = work_of(*what_.collective, call, *ours[i], comm_);
    if (settings_.is_checked) records[i].wrong = wrong_on_all_ranks(call, *ours[i]);
  }
  if (settings_.is_overlapped) add_overlaps(call, ways, peer, timings, records);
  return records;
}

void Bench::set_times(Record& record, const Timing& timing, std::optional<double> load) const {
  record.calls = timing.calls;
  record.time_us = in_microseconds(timing.seconds);
  record.rounds_us = timing.microseconds();
  record.load = load;
  constexpr double gigabytes_per_s = 1e-3;  // in bytes per microsecond
  record.algbw = static_cast<double>(record.bytes * std::max(1, record.list)) / record.time_us.median * gigabytes_per_s;
  record.busbw = record.algbw * what_.collective->busbw_factor(comm_.size());
}

Peer Bench::described(const PeerCall& peer, const Timing& ours, const Timing& theirs,
                      std::optional<double> load) const {
  const bool is_ours = settings_.compare == "calls";
  return {.name = plain_    ? "Tutti by the built-in rules"
                  : is_ours ? "Tutti's ordinary calls"
                            : machine_.mpi,
          .mode = std::string{to_string(peer.mode)},
          .algorithm = peer.algorithm,
          .time_us = in_microseconds(theirs.seconds),
          .rounds_us = theirs.microseconds(),
          .ratio = ratio_of(ours.seconds, theirs.seconds, load)};
}

std::unique_ptr<Repeater> Bench::peer_repeater(const Call& call) const {
  if (plain_) return std::move(peer_of(call)->repeater);
  return alone(call).repeater;
}

void Bench::add_overlaps(Call& call, std::span<Repeater* const> ways, const std::optional<PeerCall>& peer,
                         std::span<const Timing> alone, std::vector<Record>& records) const {
  std::vector<std::unique_ptr<OverlappedCall>> overlapped;
  std::vector<Repeater*> all;
  for (std::size_t i = 0; i < ways.size(); ++i) {
    double seconds = spread_of(alone[i].seconds).median;  // on rank 0
    apps::broadcast(team_.mpi, seconds);
    OverlappedCall& its = *overlapped.emplace_back(std::make_unique<OverlappedCall>(seconds));
    call.computation = &its.computation();
    const bool is_peer = i == records.size() || settings_.calls == "mpi";
    if (!is_peer) call.algorithm = records[i].is_auto ? std::string_view{} : records[i].algorithm;
    its.measures(*ways[i], is_peer ? peer_repeater(call) : what_.collective->ours(call, what_.mode));
    const std::array three = its.ways();
    all.insert(all.end(), three.begin(), three.end());
  }
  load_.begin();
  const std::vector<Timing> timings = measure(all, protocol_of(*what_.collective, settings_, buffers_, call));
  const std::optional<double> load = load_.share();
  const auto of = [&](std::size_t way) {
    return overlap_of(timings[3 * way].seconds, timings[3 * way + 1].seconds, timings[3 * way + 2].seconds, load);
  };
  const std::size_t last = 3 * records.size();
  for (std::size_t i = 0; i < records.size(); ++i) {
    set_times(records[i], timings[3 * i], load);
    records[i].overlap = of(i);
    if (!peer) continue;
    records[i].peer = described(*peer, timings[3 * i], timings[last], load);
    records[i].peer->overlap = of(records.size());
  }
  call.computation = nullptr;
}

std::int64_t Bench::wrong_on_all_ranks(const Call& call, Repeater& ours) const {
  std::int64_t wrong = wrong_elements(*what_.collective, buffers_, call, ours);
  mpi::check(MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM, team_.mpi), "MPI_Allreduce");
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
                        const Team& team) {
  const Progress progress{team.has_root() ? Progress::Speaker::yes : Progress::Speaker::no};
  std::vector<Record> records;
  Load load{team.mpi};
  for (const Experiment& what : experiments) {
    for (Record& record : Bench{what, settings, machine, team, load, progress}.run()) {
      records.push_back(std::move(record));
    }
  }
  return records;
}

}  // namespace tutti::bench
