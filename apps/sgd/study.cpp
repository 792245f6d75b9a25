#include "apps/sgd/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "apps/sgd/report.hpp"
#include "apps/sgd/trainer.hpp"
#include "apps/standard_output.hpp"

namespace tutti::sgd {

namespace {

/// A way to share the work, and its training.
struct Way {
  std::string name;
  std::function<EpochReport()> run_epoch;
  Memory memory;
  std::size_t bytes_of_step = 0;
  std::vector<EpochReport> epochs = {};
};

template <class T>
Way way_of(std::string name, const Settings& settings, const Split& data, const Communicator& comm) {
  const auto trainer = std::make_shared<Trainer<T>>(settings, data, comm);
  return {std::move(name), [trainer] { return trainer->run_epoch(); }, trainer->memory(),
          trainer->exchange().bytes_of_step()};
}

std::vector<Way> ways_of(const Settings& base, const Split& data, const Communicator& comm) {
  constexpr std::size_t usual_bucket = std::size_t{4} << 20;
  Settings plain = base;
  plain.bucket = 0, plain.overlap = false, plain.zero = 0, plain.algorithm = "", plain.compress = "";
  std::vector<Way> ways;
  const auto add = [&](const std::string& name, const std::function<void(Settings&)>& change) {
    Settings settings = plain;
    change(settings);
    ways.push_back(settings.is_double() ? way_of<double>(name, settings, data, comm)
                                        : way_of<float>(name, settings, data, comm));
  };
  const std::size_t bucket = base.bucket > 0 ? base.bucket : usual_bucket;
  add("one allreduce", [](Settings& /*settings*/) {});
  add("buckets", [&](Settings& settings) { settings.bucket = bucket; });
  add("buckets, overlap", [&](Settings& settings) { settings.bucket = bucket, settings.overlap = true; });
  add("ZeRO-1", [](Settings& settings) { settings.zero = 1; });
  add("ZeRO-1, buckets, overlap",
      [&](Settings& settings) { settings.zero = 1, settings.bucket = bucket, settings.overlap = true; });
  add("bf16", [](Settings& settings) { settings.precision = "bf16"; });
  if (base.precision == "fp32")
    for (const auto* const compression : {"bf16", "fp8_e4m3", "int8", "top_k"})
      add(fmt::format("compressed to {}{}", compression, base.device ? "" : ", overlap"), [&](Settings& settings) {
        settings.compress = compression, settings.bucket = bucket, settings.overlap = !base.device;
      });
  return ways;
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double median_of(const Way& way, const std::function<double(const StepTimes&)>& value) {
  std::vector<double> values;
  for (const EpochReport& epoch : way.epochs)
    values.push_back(value(epoch.step));
  return median(values);
}

/// The median of ratios to the first way, each of one round.
double ratio_of(const Way& way, const Way& first) {
  std::vector<double> ratios;
  for (std::size_t round = 0; round < way.epochs.size(); ++round)
    ratios.push_back(way.epochs[round].step.all / first.epochs[round].step.all);
  return median(ratios);
}

std::string table_of(const std::vector<Way>& ways, const Settings& settings, int ranks, std::size_t parameters) {
  std::string text = fmt::format(
      "{} parameters, {}, {} rank{}, {} round{}; a step's time over that of one allreduce: medians of the rounds\n\n"
      "{:<32} {:>6} {:>9} {:>9} {:>13} {:>15} {:>15} {:>10}\n",
      parameters, settings.precision, ranks, ranks == 1 ? "" : "s", settings.epochs, settings.epochs == 1 ? "" : "s",
      "", "step", "exposed", "hidden", "MiB a step", "optimizer MiB", "all memory MiB", "loss");
  for (const Way& way : ways) {
    const auto share = [&](double StepTimes::*part) {
      return settings.device
                 ? std::string{"-"}
                 : fmt::format("{:.1f} %",
                               100 * median_of(way, [part](const StepTimes& step) { return step.*part / step.all; }));
    };
    const auto mib = [](std::size_t bytes) { return static_cast<double>(bytes) / 0x1p20; };
    const Memory& memory = way.memory;
    text += fmt::format(
        "{:<32} {:>6.2f} {:>9} {:>9} {:>13.2f} {:>15.2f} {:>15.2f} {:>10.5f}\n", way.name, ratio_of(way, ways.front()),
        share(&StepTimes::exposed), share(&StepTimes::hidden), mib(way.bytes_of_step), mib(memory.optimizer),
        mib(memory.parameters + memory.gradients + memory.optimizer + memory.exchange), way.epochs.back().loss);
  }
  return text;
}

}  // namespace

void study(const Settings& settings, const Split& data, const Communicator& comm) {
  std::vector<Way> ways = ways_of(settings, data, comm);
  for (int round = 0; round < settings.epochs; ++round)
    for (Way& way : ways)
      way.epochs.push_back(way.run_epoch());
  if (comm.rank() != Rank{0}) return;
  apps::print(table_of(ways, settings, comm.size(), network_of(settings, data.train).parameter_count()));
  apps::flush_output();
}

}  // namespace tutti::sgd
