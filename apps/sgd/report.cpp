#include "apps/sgd/report.hpp"

#include <fmt/format.h>

#include "apps/json.hpp"

namespace tutti::sgd {

namespace {

std::string with_plural(int count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

std::string header_text(const RunDescription& run) {
  const Settings& settings = run.settings;
  const DataSet& train = run.data.train;
  std::string rule =
      fmt::format("{}, rate {}", settings.optimizer == "adam" ? "Adam" : "gradient descent", settings.rate);
  if (settings.optimizer == "sgd") rule += fmt::format(", momentum {}", settings.momentum);
  if (settings.schedule == "cosine") rule += ", falling to 0";
  const std::string sums = settings.zero > 0
                               ? fmt::format("ZeRO-1 in {}", with_plural(static_cast<int>(run.buckets), "bucket"))
                               : fmt::format("allreduce in {}{}", with_plural(static_cast<int>(run.buckets), "bucket"),
                                             run.algorithm.empty() ? "" : " by " + run.algorithm);
  return fmt::format(
      "Data      {}: {} training and {} test images of {}, {} classes\n"
      "Model     {} {}, {} parameters, {}\n"
      "Training  {}{}, batches of {} images{}, {}, seed {}\n"
      "Products  {}\n"
      "Sums      {}{}\n\n"
      "{:>6}  {:>11}  {:>14}  {:>13}  {:>9}  {:>13}\n",
      train.name, train.size(), run.data.test.size(), with_plural(train.features, "pixel"), train.classes,
      settings.model == "mlp" ? "perceptron" : "network", run.model, run.parameters, settings.precision,
      with_plural(run.ranks, "rank"), settings.device ? " on GPUs" : "", settings.batch,
      settings.accumulate > 1 ? fmt::format(" ({} a step)", settings.accumulate) : "", rule, settings.seed,
      run.products, sums,
      (settings.compress.empty() ? "" : ", compressed to " + settings.compress) +
          (settings.overlap ? ", beside the backward pass" : ""),
      "epoch", "loss", "train accuracy", "test accuracy", "samples/s", "communication");
}

std::string row_text(const Settings& settings, const EpochReport& report) {
  const std::string share =
      settings.has_times() ? fmt::format("{:.1f} %", 100 * report.step.exposed / report.step.all) : "overlaps";
  return fmt::format("{:>6}  {:>11.6f}  {:>12.2f} %  {:>11.2f} %  {:>9.0f}  {:>13}\n", report.epoch, report.loss,
                     100 * report.train_accuracy, 100 * report.test_accuracy, report.samples_per_s, share);
}

StepTimes mean_step(const std::vector<EpochReport>& epochs) {
  StepTimes mean;
  for (const EpochReport& epoch : epochs) {
    const double share = 1.0 / static_cast<double>(epochs.size());
    mean.forward += share * epoch.step.forward, mean.backward += share * epoch.step.backward;
    mean.exposed += share * epoch.step.exposed, mean.hidden += share * epoch.step.hidden;
    mean.optimizer += share * epoch.step.optimizer, mean.all += share * epoch.step.all;
  }
  return mean;
}

std::string step_text(const RunDescription& run, const std::vector<EpochReport>& epochs) {
  const StepTimes step = mean_step(epochs);
  const auto share = [&](double seconds) { return fmt::format("{:.1f} %", 100 * seconds / step.all); };
  const auto mib = [](std::size_t bytes) { return fmt::format("{:.2f} MiB", static_cast<double>(bytes) / 0x1p20); };
  const Memory& memory = run.memory;
  const std::string times = fmt::format(
      "forward {}, backward {}, exposed communication {}, optimizer {}; hidden communication {}", share(step.forward),
      share(step.backward), share(step.exposed), share(step.optimizer), share(step.hidden));
  return fmt::format(
      "\nStep      {}\n"
      "Bytes     {} a step in collectives\n"
      "Memory    parameters {}, gradients {}, optimizer {}, exchange {}, values of layers {}\n",
      run.settings.has_times() ? times : "all in streams: nobody waits to measure its parts", mib(run.bytes_of_step),
      mib(memory.parameters), mib(memory.gradients), mib(memory.optimizer), mib(memory.exchange), mib(memory.values));
}

namespace {

apps::Json json_of(const StepTimes& step) {
  const auto ms = [](double seconds) { return 1000 * seconds; };
  return {{"all", ms(step.all)},
          {"forward", ms(step.forward)},
          {"backward", ms(step.backward)},
          {"exposed_communication", ms(step.exposed)},
          {"hidden_communication", ms(step.hidden)},
          {"optimizer", ms(step.optimizer)}};
}

apps::Json json_of(const Memory& memory) {
  return {{"parameters", memory.parameters},
          {"gradients", memory.gradients},
          {"optimizer", memory.optimizer},
          {"exchange", memory.exchange},
          {"values", memory.values}};
}

apps::Json json_of(const Settings& settings, const EpochReport& report) {
  const std::optional<double> share =
      settings.has_times() ? std::optional{report.step.exposed / report.step.all} : std::nullopt;
  return {{"epoch", report.epoch},
          {"loss", report.loss},
          {"train_accuracy", report.train_accuracy},
          {"test_accuracy", report.test_accuracy},
          {"samples_per_s", report.samples_per_s},
          {"comm_share", share},
          {"rate", report.rate},
          {"steps", report.steps},
          {"skipped_steps", report.skipped},
          {"loss_scale", report.scale},
          {"step_ms", json_of(report.step)}};
}

}  // namespace

std::string json_text(const RunDescription& run, const std::vector<EpochReport>& epochs) {
  const Settings& settings = run.settings;
  apps::Json json{
      {"program", "tutti-sgd"},
      {"version", TUTTI_VERSION},
      {"mpi", mpi_library()},
      {"ranks", run.ranks},
      {"algorithm", run.algorithm},
      {"data", run.data.train.name},
      {"train_images", run.data.train.size()},
      {"test_images", run.data.test.size()},
      {"model", run.model},
      {"parameters", run.parameters},
      {"precision", settings.precision},
      {"device", settings.device},
      {"batch", settings.batch},
      {"accumulate", settings.accumulate},
      {"optimizer", settings.optimizer},
      {"rate", settings.rate},
      {"momentum", settings.momentum},
      {"schedule", settings.schedule},
      {"warm_up", settings.warm_up},
      {"clip", settings.clip},
      {"seed", settings.seed},
      {"buckets", run.buckets},
      {"products", std::string{run.products}},
      {"bucket_bytes", settings.bucket},
      {"overlap", settings.overlap},
      {"zero", settings.zero},
      {"compress", settings.compress},
      {"bytes_of_step", run.bytes_of_step},
      {"memory", json_of(run.memory)},
  };
  apps::Json rows = apps::Json::array();
  for (const EpochReport& report : epochs)
    rows.push_back(json_of(settings, report));
  json.set("epochs", std::move(rows));
  return json.text(2) + "\n";
}

}  // namespace tutti::sgd
