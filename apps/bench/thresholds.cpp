#include "apps/bench/thresholds.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <limits>

#include "apps/bench/buffers.hpp"
#include "apps/bench/measure.hpp"
#include "apps/standard_output.hpp"
#include "lib/core/communicator/communicator_state.hpp"
#include "lib/core/selection/rule_file.hpp"
#include "lib/core/selection/rules.hpp"
#include "lib/core/selection/selection.hpp"

namespace tutti::bench {

namespace {

/// The borders that the built-in rules for devices have for allreduce.
struct DeviceBorders {
  std::int64_t one_kernel_few, one_kernel;  ///< Bytes up to which one kernel reads all inputs: of few ranks, of more.
  int few_ranks, most_ranks;
};
const DeviceBorders device_tuning = [] {
  std::vector<const Rule*> rules;
  for (const Rule& rule : builtin_rules().of(Collective::allreduce))
    if (rule.when.memory == AssumedMemory::device) rules.push_back(&rule);
  return DeviceBorders{rules.at(0)->when.bytes.most, rules.at(1)->when.bytes.most,
                       static_cast<int>(rules.at(0)->when.ranks.most), static_cast<int>(rules.at(1)->when.ranks.most)};
}();

constexpr std::string_view selection_file = "lib/core/selection/builtin.json";
constexpr std::string_view staging_file = "lib/device/staging/tuning.hpp";

/// How a call is made: on a communicator with settings of its own.
struct Way {
  const Communicator* comm;
  std::string algorithm{};  ///< Empty: Tutti chooses.
};

/// An environment variable, as long as a communicator is made.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    setenv(name, value, 1);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;
  ~Variable() { before_ ? setenv(name_, before_->c_str(), 1) : unsetenv(name_); }

 private:
  const char* name_;
  std::optional<std::string> before_;
};

Communicator tuned(const device::Tuning& tuning) {
  Communicator comm{MPI_COMM_WORLD, {.buffers = "device"}};
  comm.state().tune(tuning);
  return comm;
}

/// One whose messages the host stages, in chunks of so many bytes.
Communicator staging_in_chunks(std::int64_t chunk_bytes) {
  const Variable path{"TUTTI_DEVICE_PATH", "staging"}, worker{"TUTTI_STAGING", "host"};
  return tuned({.chunk_bytes = chunk_bytes});
}

/// Other sizes of chunks, as far as they differ for buffers of so many bytes.
std::vector<std::int64_t> chunks_around(std::int64_t today, std::int64_t bytes) {
  constexpr std::int64_t step = 4, steps = step * step, least = 4096;
  std::vector<std::int64_t> chunks;
  for (std::int64_t chunk = today / steps; chunk <= today * steps; chunk *= step) {
    if (chunk != today && chunk >= least && chunk < bytes * step) chunks.push_back(chunk);
  }
  return chunks;
}

class ThresholdBench {
 public:
  ThresholdBench(const Settings& settings, const Communicator& comm)
      : settings_(settings), comm_(comm), of_devices_(tuned(device::tuning)) {}

  std::vector<Threshold> run() {
    for (const Collective collective : {Collective::allreduce, Collective::reduce})
      measure_one_kernel(collective);
    add({.member = "DeviceTuning::few_ranks",
         .file = selection_file,
         .today = device_tuning.few_ranks,
         .unit = "ranks",
         .why_not = "runs on different numbers of ranks show it, by their values of one_kernel"});
    measure_most_ranks();
    measure_copied_in_place();
    measure_chunks();
    return std::move(thresholds_);
  }

 private:
  [[nodiscard]] Experiment experiment(std::string_view collective, const char* placement) const;
  [[nodiscard]] std::vector<Timing> timed(const Experiment& what, const Buffers& buffers, Count count,
                                          std::span<const Way> ways) const;
  /// At each size.
  [[nodiscard]] std::vector<Comparison> compared_by_size(const Experiment& what, const Way& first,
                                                         const Way& second) const;
  /// At the largest size, with chunks of these sizes instead of today's.
  [[nodiscard]] std::vector<Comparison> compared_by_chunk(const Experiment& what, std::int64_t today,
                                                          const std::vector<std::int64_t>& values) const;
  [[nodiscard]] std::string why_not_direct(int least_ranks) const;
  [[nodiscard]] Selection chosen(Collective collective, std::int64_t bytes) const;
  void measure_one_kernel(Collective collective);
  void measure_most_ranks();
  void measure_copied_in_place();
  void measure_chunks();
  /// Concludes up to which size the first way is taken.
  void conclude_crossing(Threshold& threshold) const;
  void add(Threshold threshold);
  [[nodiscard]] bool speaks() const { return comm_.rank() == Rank{0}; }

  const Settings& settings_;
  const Communicator& comm_;
  Communicator of_devices_;
  std::vector<Threshold> thresholds_;
};

Experiment ThresholdBench::experiment(std::string_view collective, const char* placement) const {
  Settings settings = settings_;
  settings.collectives = {std::string{collective}};
  settings.placement = placement;
  settings.has_thresholds = false;
  return resolved(settings, comm_.size()).front();
}

std::vector<Comparison> ThresholdBench::compared_by_chunk(const Experiment& what, std::int64_t today,
                                                          const std::vector<std::int64_t>& values) const {
  std::vector<Communicator> comms;
  comms.reserve(values.size() + 1);
  comms.push_back(staging_in_chunks(today));
  for (const std::int64_t value : values) {
    comms.push_back(staging_in_chunks(value));
  }
  std::vector<Way> ways;
  ways.reserve(comms.size());
  for (const Communicator& comm : comms) {
    ways.push_back({&comm});
  }
  const Buffers buffers{what, comm_};
  const std::vector<Timing> timings = timed(what, buffers, what.counts.back(), ways);
  std::vector<Comparison> points;
  for (std::size_t i = 0; speaks() && i < values.size(); ++i) {
    points.push_back(compared(values[i], timings[0].seconds, timings[i + 1].seconds));
  }
  return points;
}

std::vector<Timing> ThresholdBench::timed(const Experiment& what, const Buffers& buffers, Count count,
                                          std::span<const Way> ways) const {
  const Call call = buffers.call(count, what.placements.front());
  std::vector<std::unique_ptr<Repeater>> repeaters;
  std::vector<Repeater*> all;
  for (const Way& way : ways) {
    Call its = call;
    its.comm = way.comm;
    its.algorithm = way.algorithm;
    all.push_back(repeaters.emplace_back(what.collective->ours(its, what.mode)).get());
  }
  return measure(all, protocol_of(*what.collective, settings_, buffers, call));
}

std::vector<Comparison> ThresholdBench::compared_by_size(const Experiment& what, const Way& first,
                                                         const Way& second) const {
  const Buffers buffers{what, comm_};
  const Way ways[] = {first, second};
  std::vector<Comparison> points;
  for (const Count count : what.counts) {
    const std::vector<Timing> timings = timed(what, buffers, count, ways);
    const std::int64_t bytes = (count.value() * size_of(what.type)).value();
    if (speaks()) points.push_back(compared(bytes, timings[0].seconds, timings[1].seconds));
  }
  return points;
}

/// Why the rules for devices cannot be measured here; else empty. The same on all ranks.
std::string ThresholdBench::why_not_direct(int least_ranks) const {
  if (comm_.size() < least_ranks) return fmt::format("it takes {} ranks or more: run it on more", least_ranks);
  if (comm_.size() > device_tuning.most_ranks)
    return fmt::format("the rules hold for up to {} ranks: run it on fewer", device_tuning.most_ranks);
  if (!of_devices_.state().paths().chooses_for_devices())
    return "the ranks do not map each other's memory on devices (TUTTI_LOG=1 says why)";
  return {};
}

Selection ThresholdBench::chosen(Collective collective, std::int64_t bytes) const {
  const Question question{.collective = collective,
                          .ranks = comm_.size(),
                          .bytes = Bytes{bytes},
                          .shares_memory = true,
                          .maps_devices = true,
                          .memory = AssumedMemory::device};
  return select(question, {}, nullptr);
}

void ThresholdBench::measure_one_kernel(Collective collective) {
  const bool is_few = comm_.size() <= device_tuning.few_ranks;
  Threshold threshold{.member = is_few ? "DeviceTuning::one_kernel_few" : "DeviceTuning::one_kernel",
                      .file = selection_file,
                      .collective = to_string(collective),
                      .today = is_few ? device_tuning.one_kernel_few : device_tuning.one_kernel,
                      .why_not = why_not_direct(2)};
  if (threshold.why_not.empty()) {
    threshold.first = to_text(chosen(collective, 1).choice);
    threshold.second = to_text(chosen(collective, std::numeric_limits<std::int64_t>::max()).choice);
    threshold.points = compared_by_size(experiment(threshold.collective, "out"), {&of_devices_, threshold.first},
                                        {&of_devices_, threshold.second});
    conclude_crossing(threshold);
  }
  add(std::move(threshold));
  add({.member = is_few ? "DeviceTuning::one_kernel" : "DeviceTuning::one_kernel_few",
       .file = selection_file,
       .collective = to_string(collective),
       .today = is_few ? device_tuning.one_kernel : device_tuning.one_kernel_few,
       .why_not = fmt::format("it is for {} than {} ranks", is_few ? "more" : "no more", device_tuning.few_ranks)});
}

void ThresholdBench::measure_most_ranks() {
  Threshold threshold{.member = "DeviceTuning::most_ranks",
                      .file = selection_file,
                      .collective = "allreduce",
                      .first = "rules for devices",
                      .second = "rules for hosts",
                      .today = device_tuning.most_ranks,
                      .unit = "ranks",
                      .why_not = why_not_direct(2)};
  if (threshold.why_not.empty()) {
    const Communicator of_hosts{MPI_COMM_WORLD, {.buffers = "host"}};
    threshold.points = compared_by_size(experiment(threshold.collective, "out"), {&of_devices_}, {&of_hosts});
    threshold.measured = ranks_text(crossing_of(threshold.points), comm_.size());
    threshold.sides = sides_of(threshold.points, std::numeric_limits<std::int64_t>::max());
  }
  add(std::move(threshold));
}

void ThresholdBench::measure_copied_in_place() {
  Threshold threshold{.member = "device::Tuning::copied_in_place",
                      .file = staging_file,
                      .collective = "allreduce",
                      .first = "copied",
                      .second = "in place",
                      .today = device::tuning.copied_in_place,
                      .why_not = why_not_direct(3)};
  if (threshold.why_not.empty()) {
    const Communicator copied = tuned({.copied_in_place = std::numeric_limits<std::int64_t>::max()});
    const Communicator in_place = tuned({.copied_in_place = 0});
    const std::string algorithm = to_text(chosen(Collective::allreduce, 1).choice);
    threshold.points =
        compared_by_size(experiment(threshold.collective, "in"), {&copied, algorithm}, {&in_place, algorithm});
    conclude_crossing(threshold);
  }
  add(std::move(threshold));
}

void ThresholdBench::measure_chunks() {
  Threshold threshold{.member = "device::Tuning::chunk_bytes",
                      .file = staging_file,
                      .collective = "allreduce",
                      .first = "today's",
                      .second = "size as a chunk",
                      .today = device::tuning.chunk_bytes};
  const Experiment what = experiment(threshold.collective, "out");
  const std::int64_t most = (what.counts.back().value() * size_of(what.type)).value();
  if (most <= threshold.today) {
    threshold.why_not = fmt::format("buffers have to be longer than a chunk: --max is {}", settings_.max.value());
    return add(std::move(threshold));
  }
  threshold.points = compared_by_chunk(what, threshold.today, chunks_around(threshold.today, most));
  threshold.value = best_value(threshold.points, threshold.today);
  threshold.measured = threshold.value ? fmt::to_string(*threshold.value) : "no clear difference";
  threshold.sides = sides_of(threshold.points, threshold.today);
  add(std::move(threshold));
}

void ThresholdBench::conclude_crossing(Threshold& threshold) const {
  const Crossing crossing = crossing_of(threshold.points);
  threshold.measured = crossing_text(crossing);
  if (crossing.kind == Crossing::Kind::at) threshold.value = crossing.last_before;
  threshold.sides = sides_of(threshold.points, threshold.value.value_or(threshold.today));
}

void ThresholdBench::add(Threshold threshold) {
  if (speaks() && !threshold.points.empty()) {
    apps::print(to_text(threshold));
    apps::flush_output();
  }
  thresholds_.push_back(std::move(threshold));
}

}  // namespace

std::vector<Threshold> measure_thresholds(const Settings& settings, const Communicator& comm) {
  std::vector<Threshold> thresholds = ThresholdBench{settings, comm}.run();
  if (comm.rank() == Rank{0}) apps::print(summary_text(thresholds));
  return thresholds;
}

}  // namespace tutti::bench
