#include "apps/sgd/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/json.hpp"

namespace tutti::sgd {

namespace {

std::string with_plural(int count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace

std::string header_text(const RunDescription& run) {
  const auto& [settings, data, widths, parameters, ranks, algorithm] = run;
  return fmt::format(
      "Data      {}: {} training and {} test images of {}, {} classes\n"
      "Model     perceptron {}, {} parameters, {}\n"
      "Training  {}{}, batches of {} images, rate {}, momentum {}, seed {}, allreduce by {}\n\n"
      "{:>6}  {:>11}  {:>14}  {:>13}  {:>9}  {:>13}\n",
      data.train.name, data.train.size(), data.test.size(), with_plural(data.train.features, "pixel"),
      data.train.classes, fmt::join(widths, "-"), parameters, settings.precision, with_plural(ranks, "rank"),
      settings.device ? " on GPUs" : "", settings.batch, settings.rate, settings.momentum, settings.seed, algorithm,
      "epoch", "loss", "train accuracy", "test accuracy", "samples/s", "communication");
}

std::string row_text(const EpochReport& report) {
  const std::string share = report.comm_share ? fmt::format("{:.1f} %", 100 * *report.comm_share) : "overlaps";
  return fmt::format("{:>6}  {:>11.6f}  {:>12.2f} %  {:>11.2f} %  {:>9.0f}  {:>13}\n", report.epoch, report.loss,
                     100 * report.train_accuracy, 100 * report.test_accuracy, report.samples_per_s, share);
}

std::string json_text(const RunDescription& run, const std::vector<EpochReport>& epochs) {
  apps::Json json{
      {"program", "tutti-sgd"},
      {"version", TUTTI_VERSION},
      {"mpi", mpi_library()},
      {"ranks", run.ranks},
      {"algorithm", run.algorithm},
      {"data", run.data.train.name},
      {"train_images", run.data.train.size()},
      {"test_images", run.data.test.size()},
      {"model", run.widths},
      {"parameters", run.parameters},
      {"precision", run.settings.precision},
      {"device", run.settings.device},
      {"batch", run.settings.batch},
      {"rate", run.settings.rate},
      {"momentum", run.settings.momentum},
      {"seed", run.settings.seed},
  };
  apps::Json rows = apps::Json::array();
  for (const EpochReport& report : epochs) {
    rows.push_back({{"epoch", report.epoch},
                    {"loss", report.loss},
                    {"train_accuracy", report.train_accuracy},
                    {"test_accuracy", report.test_accuracy},
                    {"samples_per_s", report.samples_per_s},
                    {"comm_share", report.comm_share}});
  }
  json.set("epochs", std::move(rows));
  return json.text(2) + "\n";
}

}  // namespace tutti::sgd
