#include "apps/sgd/settings.hpp"

#include <limits>
#include <string_view>

#include "tutti/algorithm.hpp"

namespace tutti::sgd {

namespace {

constexpr std::size_t most_hidden = 100;

std::vector<std::string> allreduce_algorithms() {
  std::vector<std::string> names;
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->collective == Collective::allreduce) names.emplace_back(algorithm->name);
  }
  return names;
}

void require_both(std::string_view a, const std::string& a_value, std::string_view b, const std::string& b_value) {
  if (a_value.empty() == b_value.empty()) return;
  const auto given = a_value.empty() ? b : a, missing = a_value.empty() ? a : b;
  throw apps::InputError("--" + std::string{given} + " needs --" + std::string{missing});
}

}  // namespace

apps::Options command_line(Settings& settings) {
  apps::Options options{
      "tutti-sgd",
      "Trains a small neural network to read handwritten digits by stochastic gradient descent, the images of every\n"
      "step shared among the ranks and their gradients summed by Tutti's allreduce. Reports every epoch's loss,\n"
      "accuracy, training images per second, and the share of time in the allreduce (mean of the ranks, waiting\n"
      "for slower ones included).\n\nExample: mpirun -n 4 tutti-sgd --epochs 10"};
  options.made_of(components)
      .text("data", settings.data, "FILE", "images as CSV: 64 pixels (0-16) and a label a line; default: UCI digits")
      .text("images", settings.images, "FILE", "images in MNIST's format (IDX, uncompressed) instead")
      .text("labels", settings.labels, "FILE", "their labels")
      .text("test-images", settings.test_images, "FILE", "images to test with (IDX) instead of a part of --images")
      .text("test-labels", settings.test_labels, "FILE", "their labels")
      .number("test-fraction", settings.test_fraction, 0.001, 0.9, "part of the images set aside for testing")
      .integers("hidden", settings.hidden, 1, 65'536, "widths of the hidden layers")
      .choice("precision", settings.precision, {"float", "double"}, "type of all numbers")
      .integer("epochs", settings.epochs, 1, 1'000'000, "passes over the training images, resumed ones included")
      .integer("batch", settings.batch, 1, std::numeric_limits<int>::max(), "images per step, over all ranks")
      .number("rate", settings.rate, 1e-9, 100, "learning rate")
      .number("momentum", settings.momentum, 0, 0.9999, "part of the last step that the next one keeps")
      .integer("seed", settings.seed, 0, std::numeric_limits<std::int64_t>::max(),
               "of all random choices: test images, first weights, order of images")
      .flag("device", settings.device,
            "train on GPUs, which the ranks of a node take in turn; the results are those of the host, bit for bit")
      .choice("algorithm", settings.algorithm, allreduce_algorithms(), "allreduce algorithm, else Tutti chooses")
      .text("json", settings.json, "FILE", "write the report as JSON; - for stdout, without the table")
      .text("checkpoint", settings.checkpoint, "FILE", "resume from it if it exists, and write it after every epoch");
  return options;
}

void require_consistent(const Settings& settings) {
  if (settings.hidden.size() > most_hidden) {
    throw apps::InputError("--hidden: at most " + std::to_string(most_hidden) + " layers");
  }
  if (!settings.json.empty() && settings.json == settings.checkpoint) {
    throw apps::InputError("--json and --checkpoint name the same file");
  }
  require_both("images", settings.images, "labels", settings.labels);
  require_both("test-images", settings.test_images, "test-labels", settings.test_labels);
  if (!settings.images.empty() && !settings.data.empty()) {
    throw apps::InputError("--data and --images exclude each other");
  }
  if (!settings.test_images.empty() && settings.images.empty()) {
    throw apps::InputError("--test-images needs --images");
  }
}

}  // namespace tutti::sgd
