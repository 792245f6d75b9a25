#include "apps/tune/constants.hpp"

#include <algorithm>
#include <cstdio>
#include <list>
#include <memory>
#include <optional>
#include <utility>

#include "apps/bench/buffers.hpp"
#include "apps/bench/measure.hpp"
#include "apps/bench/statistics.hpp"
#include "apps/files.hpp"
#include "apps/root.hpp"
#include "lib/core/communicator/communicator_state.hpp"
#include "lib/core/selection/rule_writer.hpp"
#include "lib/core/transport/mpi/check.hpp"
#include "lib/core/transport/shm/tuning.hpp"
#include "lib/device/staging/stage.hpp"

namespace tutti::tune {
namespace {

/// The trial of a constant: the values that differ much, and the calls that show it.
struct Trial {
  std::string_view constant;
  std::vector<std::int64_t> values;  ///< The first is that of the build.
  std::vector<std::string_view> collectives;
  std::vector<std::int64_t> sizes;
  std::string_view memory = "host";
  bench::Placement placement = bench::Placement::out_of_place;
  int least_ranks = 2;
  bool is_staged = false;  ///< Of data on devices that ranks do not map.
};

std::vector<Trial> trials(const Communicator& world) {
  constexpr std::int64_t kib = 1024;
  const bool is_crowded = world.state().waiting().outnumbers_processors;
  const std::int64_t copied = is_crowded ? shm::tuning.copied_bytes_crowded : shm::tuning.copied_bytes;
  return {{.constant = "shm.fast_path_bytes",
           .values = {shm::tuning.fast_path_bytes, 1 * kib, 2 * kib, 4 * kib, 16 * kib, 32 * kib},
           .collectives = {"allreduce", "broadcast"},
           .sizes = {1 * kib, 2 * kib, 4 * kib, 8 * kib, 16 * kib, 32 * kib}},
          {.constant = "shm.copied_bytes",
           .values = {copied, 0, 1 * kib, 16 * kib, 48 * kib, 128 * kib},
           .collectives = {"broadcast", "allreduce"},
           .sizes = {512, 2 * kib, 8 * kib, 32 * kib},
           .least_ranks = 3},
          {.constant = "shm.joined_bytes",
           .values = {shm::tuning.joined_bytes, 0, 1 * kib, 16 * kib, 64 * kib},
           .collectives = {"allreduce", "reduce"},
           .sizes = {2 * kib, 8 * kib, 32 * kib, 128 * kib},
           .least_ranks = 3},
          {.constant = "device.chunk_bytes",
           .values = {device::tuning.chunk_bytes, 64 * kib, 1024 * kib, 4096 * kib},
           .collectives = {"allreduce"},
           .sizes = {512 * kib, 8192 * kib},
           .memory = "device",
           .is_staged = true},
          {.constant = "device.copied_in_place",
           .values = {device::tuning.copied_in_place, 0, 64 * kib, 1024 * kib},
           .collectives = {"allreduce"},
           .sizes = {32 * kib, 128 * kib, 512 * kib},
           .memory = "device",
           .placement = bench::Placement::in_place,
           .least_ranks = 3}};
}

std::string why_not(const Trial& trial, const Settings& settings, const Communicator& world) {
  if (trial.memory == "device" &&
      std::find(settings.memories.begin(), settings.memories.end(), "device") == settings.memories.end())
    return "--memory does not name device";
  if (trial.memory != "device" && !world.state().paths().shares_memory()) return "not all ranks share memory";
  if (trial.memory == "device") {
    const bool maps = Communicator{MPI_COMM_WORLD, {.buffers = "device"}}.state().paths().chooses_for_devices();
    if (maps == trial.is_staged)
      return maps ? "ranks map each other's devices" : "ranks do not map each other's devices";
  }
  if (world.size() < trial.least_ranks) return "it takes " + std::to_string(trial.least_ranks) + " ranks or more";
  return {};
}

/// The rounds of each value, in turns.
using Rounds = std::vector<std::vector<double>>;

class ConstantRace {
 public:
  ConstantRace(const Trial& trial, const TunedConstants& others, const std::string& path, double seconds)
      : trial_(trial), seconds_(seconds) {
    for (const std::int64_t value : trial.values) {
      TunedConstants constants = others;
      constants.values.emplace_back(trial.constant, value);
      const ConstantsFile file{path, constants};
      comms_.emplace_back(MPI_COMM_WORLD, CommunicatorOptions{.buffers = trial.memory, .rules = file.path()});
    }
  }

  MeasuredConstant run() {
    std::vector<Rounds> all;
    for (const std::string_view name : trial_.collectives)
      for (const std::int64_t size : trial_.sizes)
        all.push_back(measured(*bench::collective_named(name), size));
    MeasuredConstant best{std::string{trial_.constant}, trial_.values.front(), trial_.values.front()};
    constexpr double least = 1.03;
    for (std::size_t i = 1; i < trial_.values.size(); ++i) {
      const std::optional<double> gain = gain_of(all, i);
      if (gain && *gain >= least && *gain > best.gain) {
        best.value = trial_.values[i];
        best.gain = *gain;
      }
    }
    return best;
  }

 private:
  [[nodiscard]] Rounds measured(const bench::BenchCollective& collective, std::int64_t size) {
    const bench::Experiment what{.collective = &collective,
                                 .memory = &memory_named(trial_.memory),
                                 .mode = bench::Mode::blocking,
                                 .type = Type::fp32,
                                 .op = Op::sum,
                                 .root = Rank{0},
                                 .algorithms = {""},
                                 .transport = "auto",
                                 .placements = {trial_.placement},
                                 .counts = {Count{size / size_of(Type::fp32).value()}}};
    const Communicator& first = comms_.front();
    const bench::Buffers buffers{what, first};
    const std::vector<bench::Placement> has = collective.placements();
    bench::Call call = buffers.call(what.counts.front(), has.size() == 1 ? has.front() : trial_.placement);
    const auto races = static_cast<double>(trial_.collectives.size() * trial_.sizes.size() * trial_.values.size());
    constexpr int least_rounds = 5, most_rounds = 15;
    bench::Settings settings;
    settings.is_touched = true;
    settings.warmup = 1;
    const double fitting = seconds_ / races / std::max(seconds_of_a_call(call, collective), 3e-4);
    settings.rounds = fitting > most_rounds ? most_rounds : std::max(least_rounds, static_cast<int>(fitting));
    bench::Protocol protocol = bench::protocol_of(collective, settings, buffers, call);
    protocol.seconds = std::clamp(seconds_ / races / (settings.rounds + 4), 3e-4, bench::round_seconds);
    protocol.attempts = 1;
    std::vector<std::unique_ptr<bench::Repeater>> repeaters;
    std::vector<bench::Repeater*> ways;
    for (const Communicator& comm : comms_) {
      call.comm = &comm;
      repeaters.push_back(collective.ours(call, bench::Mode::blocking));
      ways.push_back(repeaters.back().get());
    }
    Rounds rounds;
    for (const bench::Timing& timing : bench::measure(ways, protocol)) {
      rounds.push_back(timing.microseconds());
      apps::broadcast(MPI_COMM_WORLD, rounds.back());
    }
    return rounds;
  }
  /// Of rank 0, with the first value.
  static double seconds_of_a_call(const bench::Call& call, const bench::BenchCollective& collective) {
    const std::unique_ptr<bench::Repeater> repeater = collective.ours(call, bench::Mode::blocking);
    repeater->run(1);
    double seconds = MPI_Wtime();
    repeater->run(1);
    seconds = MPI_Wtime() - seconds;
    apps::broadcast(MPI_COMM_WORLD, seconds);
    return seconds;
  }
  /// Nothing if it is clearly slower somewhere.
  [[nodiscard]] static std::optional<double> gain_of(const std::vector<Rounds>& all, std::size_t value) {
    std::vector<double> gains;
    for (const Rounds& rounds : all) {
      const bench::Ratio ratio = bench::ratio_of(rounds[value], rounds.front());
      constexpr double loss = 0.97;
      if (ratio.value < loss && ratio.upper < 1) return std::nullopt;
      gains.push_back(ratio.value);
    }
    return bench::geometric_mean(gains);
  }

  const Trial& trial_;
  double seconds_;
  std::list<Communicator> comms_{};
};

}  // namespace

ConstantsFile::ConstantsFile(std::string path, const TunedConstants& constants) : path_(std::move(path)) {
  apps::on_root(MPI_COMM_WORLD, [&] {
    RuleFile file;
    file.made = {{"by", "tutti tune, for the time that it runs"}};
    file.tuning = constants;
    apps::replace_file(path_, write_rule_file(file));
  });
}

ConstantsFile::~ConstantsFile() {
  if (mpi::rank_in(MPI_COMM_WORLD) == 0) std::remove(path_.c_str());
}

std::vector<MeasuredConstant> measured_constants(const Settings& settings, const Communicator& world,
                                                 const std::string& path, double seconds) {
  std::vector<MeasuredConstant> found;
  TunedConstants set;
  const std::vector<Trial> all = trials(world);
  const double begin = MPI_Wtime();
  for (const Trial& trial : all) {
    const std::int64_t before = trial.values.front();
    std::string why = why_not(trial, settings, world);
    bool is_over = MPI_Wtime() - begin > seconds;
    apps::broadcast(MPI_COMM_WORLD, is_over);
    if (why.empty() && is_over) why = "no time was left";
    if (!why.empty()) {
      found.push_back({std::string{trial.constant}, before, before, 1, std::move(why)});
      continue;
    }
    found.push_back(ConstantRace{trial, set, path, seconds / static_cast<double>(all.size())}.run());
    if (found.back().value != before) set.values.emplace_back(found.back().name, found.back().value);
  }
  return found;
}

}  // namespace tutti::tune
