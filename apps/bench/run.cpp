#include "apps/bench/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <mpi.h>

#include <algorithm>
#include <cstdio>

#include "apps/bench/buffers.hpp"
#include "apps/bench/measure.hpp"
#include "apps/bench/progress.hpp"
#include "apps/bench/report.hpp"
#include "apps/bench/table.hpp"
#include "lib/mpi/check.hpp"

namespace tutti::bench {

namespace {

class Bench {
 public:
  Bench(const Experiment& what, const Settings& settings, const Machine& machine, const Communicator& comm)
      : what_(what),
        settings_(settings),
        machine_(machine),
        comm_(comm),
        buffers_(what, comm),
        table_(layout()),
        progress_(speaks() ? Progress::Speaker::yes : Progress::Speaker::no) {}

  std::vector<Record> run() {
    print(preface() + table_.header());
    std::vector<Record> records;
    for (std::size_t i = 0; i < what_.counts.size(); ++i) {
      for (const Placement placement : what_.placements) {
        progress_.show(fmt::format("size {} of {}", i + 1, what_.counts.size()));
        records.push_back(measured(what_.counts[i], placement));
        print(table_.row(records.back()));
      }
    }
    print(notes(records));
    return records;
  }

 private:
  [[nodiscard]] bool speaks() const { return comm_.rank() == Rank{0}; }
  [[nodiscard]] bool is_compared() const { return settings_.compare == "mpi"; }
  [[nodiscard]] Table::Layout layout() const;
  [[nodiscard]] std::string preface() const;
  [[nodiscard]] std::string notes(std::span<const Record> records) const;
  [[nodiscard]] Record described(const Call& call, Placement placement) const;
  [[nodiscard]] Record measured(Count count, Placement placement) const;
  [[nodiscard]] std::int64_t wrong_on_all_ranks(const Call& call, Repeater& ours) const;
  void print(const std::string& text) const;

  const Experiment& what_;
  const Settings& settings_;
  const Machine& machine_;
  const Communicator& comm_;
  Buffers buffers_;
  Table table_;
  Progress progress_;
};

Table::Layout Bench::layout() const {
  std::size_t algorithm = what_.algorithm.size();
  for (const Algorithm* each : algorithms()) {
    if (what_.algorithm.empty()) algorithm = std::max(algorithm, each->name.size());
  }
  return {settings_.type.size(), settings_.op.size(), algorithm, is_compared() ? "mpi" : ""};
}

std::string Bench::preface() const {
  std::string text = fmt::format("# {}\n", machine_.command);
  text += fmt::format("# ranks {}, nodes {} ({}), hardware threads {}, {}\n", machine_.ranks, machine_.nodes,
                      machine_.hosts.front(), machine_.cores, machine_.mpi);
  if (machine_.most_ranks_per_node > machine_.cores) {
    text += "# more ranks than hardware threads: times say how ranks take turns, more than how data moves\n";
  }
  text +=
      fmt::format("# {} of {} {}, {}, {} memory; times are of the slowest rank, over {} rounds\n", settings_.collective,
                  settings_.op, settings_.type, settings_.mode, settings_.memory, settings_.rounds);
  if (settings_.is_touched) {
    text +=
        fmt::format("# inputs are rewritten before each call; calls are timed alone, reading the clock: {:.0f} ns\n",
                    machine_.clock_cost_ns);
  }
  return text;
}

std::string Bench::notes(std::span<const Record> records) const {
  std::string text;
  for (const Record& record : records) {
    if (!is_compared() || record.peer) continue;
    text += fmt::format("# {} elements: not compared, MPI's call takes counts up to 2147483647\n", record.count);
  }
  const auto compared =
      std::find_if(records.begin(), records.end(), [](const Record& r) { return r.peer.has_value(); });
  if (compared == records.end()) return text;
  if (compared->peer->mode != settings_.mode) {
    text += fmt::format("# {} has no {} calls: it was measured with {} ones\n", machine_.mpi, settings_.mode,
                        compared->peer->mode);
  }
  std::vector<std::string> means;
  const auto add_mean = [&](Placement placement, std::string_view name) {
    const auto ratio = mean_ratio(records, placement);
    if (ratio) means.push_back(fmt::format("{} {:.3f}", name, *ratio));
  };
  add_mean(Placement::out_of_place, "out of place");
  add_mean(Placement::in_place, "in place");
  return text + fmt::format("# ratio: {}'s median over Tutti's; above 1, Tutti is faster. Geometric mean: {}\n",
                            machine_.mpi, fmt::join(means, ", "));
}

Record Bench::described(const Call& call, Placement placement) const {
  Record record;
  record.collective = settings_.collective;
  record.algorithm = what_.collective->algorithm(call);
  record.transport = what_.transport;
  record.memory = settings_.memory;
  record.mode = settings_.mode;
  record.ranks = comm_.size();
  record.nodes = comm_.node_count();
  record.count = call.count.value();
  record.bytes = (call.count.value() * size_of(call.type)).value();
  record.type = settings_.type;
  record.op = settings_.op;
  record.placement = placement;
  return record;
}

Spread in_microseconds(const Timing& timing) {
  const Spread seconds = spread_of(timing.seconds);
  return {seconds.min * 1e6, seconds.median * 1e6, seconds.max * 1e6};
}

Record Bench::measured(Count count, Placement placement) const {
  const Call call = buffers_.call(count, placement);
  Record record = described(call, placement);
  const auto ours = what_.collective->ours(call, what_.mode);
  const auto peer = is_compared() ? what_.collective->peer(call, what_.mode) : std::nullopt;
  std::vector<Repeater*> ways{ours.get()};
  if (peer) ways.push_back(peer->repeater.get());
  const auto timings =
      measure(ways, {.rounds = settings_.rounds,
                     .warmup_rounds = settings_.warmup,
                     .calls = settings_.iters,
                     .touched = settings_.is_touched ? buffers_.input_of(call) : std::span<std::byte>{},
                     .memory = what_.memory});
  record.calls = timings[0].calls;
  record.rounds = settings_.rounds;
  record.time_us = in_microseconds(timings[0]);
  constexpr double gigabytes_per_s = 1e-3;  // in bytes per microsecond
  record.algbw = static_cast<double>(record.bytes) / record.time_us.median * gigabytes_per_s;
  record.busbw = record.algbw * what_.collective->busbw_factor(comm_.size());
  if (peer) {
    const Spread time_us = in_microseconds(timings[1]);
    const auto mode = std::string{to_string(peer->mode)};
    record.peer = Peer{machine_.mpi, mode, time_us, time_us.median / record.time_us.median};
  }
  if (settings_.is_checked) record.wrong = wrong_on_all_ranks(call, *ours);
  return record;
}

std::int64_t Bench::wrong_on_all_ranks(const Call& call, Repeater& ours) const {
  std::int64_t wrong = what_.collective->check(call, ours);
  mpi::check(MPI_Allreduce(MPI_IN_PLACE, &wrong, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD), "MPI_Allreduce");
  return wrong;
}

void Bench::print(const std::string& text) const {
  if (!speaks()) return;
  progress_.clear();
  fmt::print("{}", text);
  std::fflush(stdout);
}

}  // namespace

std::vector<Record> run(const Experiment& what, const Settings& settings, const Machine& machine,
                        const Communicator& comm) {
  return Bench{what, settings, machine, comm}.run();
}

}  // namespace tutti::bench
