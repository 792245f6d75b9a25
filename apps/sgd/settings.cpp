#include "apps/sgd/settings.hpp"

#include <limits>
#include <string_view>

#include "tutti/algorithm.hpp"

namespace tutti::sgd {

namespace {

constexpr std::size_t most_hidden = 100;
constexpr int most_channels = 4096;

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

void add_data(apps::Options& options, Settings& settings) {
  options.text("data", settings.data, "FILE", "images as CSV: 64 pixels (0-16) and a label a line; default: UCI digits")
      .text("images", settings.images, "FILE", "images in MNIST's format (IDX, uncompressed) instead")
      .text("labels", settings.labels, "FILE", "their labels")
      .text("test-images", settings.test_images, "FILE", "images to test with (IDX) instead of a part of --images")
      .text("test-labels", settings.test_labels, "FILE", "their labels")
      .integer("synthetic", settings.synthetic, 0, 10'000'000,
               "so many made-up images of 28 x 28 points in 10 classes instead; 0: none")
      .number("test-fraction", settings.test_fraction, 0.001, 0.9, "part of the images set aside for testing");
}

void add_training(apps::Options& options, Settings& settings) {
  options.choice("model", settings.model, {"mlp", "cnn"}, "dense layers only, or convolutions before them")
      .integers("hidden", settings.hidden, 1, 65'536, "widths of the hidden layers")
      .integers("channels", settings.channels, 1, most_channels, "channels of the convolutions of --model cnn")
      .choice("precision", settings.precision, {"fp64", "fp32", "bf16", "fp16"},
              "type of all numbers; bf16 and fp16: of weights and of gradients that travel, with weights in fp32 that "
              "the optimizer keeps, and, for fp16, a loss that is scaled")
      .integer("epochs", settings.epochs, 1, 1'000'000, "passes over the training images, resumed ones included")
      .integer("batch", settings.batch, 1, std::numeric_limits<int>::max(), "images of a batch, over all ranks")
      .integer("accumulate", settings.accumulate, 1, 1'000'000, "batches whose gradients are added for a step")
      .choice("optimizer", settings.optimizer, {"sgd", "adam"}, "gradient descent with momentum, or Adam")
      .number("rate", settings.rate, 1e-9, 100, "learning rate")
      .number("momentum", settings.momentum, 0, 0.9999, "part of the last step that the next one keeps (sgd)")
      .choice("schedule", settings.schedule, {"constant", "cosine"}, "the rate stays, or falls like a cosine to 0")
      .integer("warm-up", settings.warm_up, 0, 1'000'000'000, "steps in which the rate grows evenly to --rate")
      .number("clip", settings.clip, 0, 1e9, "gradients that are longer are shortened to this; 0: none")
      .integer("seed", settings.seed, 0, std::numeric_limits<std::int64_t>::max(),
               "of all random choices: test images, first weights, order of images");
}

void add_communication(apps::Options& options, Settings& settings) {
  options
      .custom("bucket", "BYTES", "all", "gradients are summed in buckets of this size (1M), last layers first",
              [&settings](std::string_view text) {
                settings.bucket = static_cast<std::size_t>(apps::parse_bytes(text).value());
                if (settings.bucket == 0) throw apps::InputError("0 bytes, allowed: 1 and more");
              })
      .flag("overlap", settings.overlap,
            "sum a bucket as soon as its gradients are there, while others are computed: between layers, or all the "
            "time with TUTTI_PROGRESS_THREAD=1; on devices in a second stream")
      .integer("zero", settings.zero, 0, 1,
               "1: each rank keeps the optimizer's state of a part of the parameters, and updates it (ZeRO-1)")
      .choice("compress", settings.compress, {compression_names.begin(), compression_names.end()},
              "gradients travel in fewer bytes, and what that loses is added to the next step's (fp32)")
      .number("keep", settings.keep, 1e-6, 1, "the share of the elements that --compress top_k sends")
      .choice("algorithm", settings.algorithm, allreduce_algorithms(), "allreduce algorithm, else Tutti chooses");
}

/// Throws if an option is given that has no effect.
void require_used(const Settings& settings) {
  const Settings usual;
  if (settings.keep != usual.keep && settings.compress != "top_k")
    throw apps::InputError("--keep is that of --compress top_k");
  if (settings.channels != usual.channels && settings.model != "cnn")
    throw apps::InputError("--channels is that of --model cnn");
  if (settings.momentum != usual.momentum && settings.optimizer != "sgd")
    throw apps::InputError("--momentum is that of --optimizer sgd");
  if (settings.study && (settings.overlap || settings.zero > 0 || !settings.compress.empty()))
    throw apps::InputError("--study tries --overlap, --zero and --compress by itself");
}

void require_compressible(const Settings& settings) {
  if (settings.compress.empty()) return;
  if (settings.precision != "fp32") throw apps::InputError("--compress needs --precision fp32");
  if (settings.zero > 0) throw apps::InputError("--compress and --zero exclude each other");
  if (settings.device && settings.overlap)
    throw apps::InputError("--compress and --overlap exclude each other with --device: the host starts the exchanges");
  if (!settings.algorithm.empty())
    throw apps::InputError("--algorithm is that of the allreduce, and --compress makes none");
}

}  // namespace

apps::Options command_line(Settings& settings) {
  apps::Options options{
      "tutti-sgd",
      "Trains a neural network to tell images apart by gradient descent, the images of every step shared among the\n"
      "ranks and their gradients summed by Tutti: all at once or in buckets, after the backward pass or beside it,\n"
      "with the optimizer's state on each rank or shared (ZeRO). Reports every epoch's loss, accuracy, images per\n"
      "second, and the share of time in which a rank does nothing but communicate (mean of the ranks, waiting for\n"
      "slower ones included).\n\nExample: mpirun -n 4 tutti-sgd --epochs 10 --bucket 16K --overlap"};
  options.made_of(components);
  add_data(options, settings);
  add_training(options, settings);
  add_communication(options, settings);
  options.flag("device", settings.device, "train on GPUs, which the ranks of a node take in turn")
      .choice("products", settings.products, {"auto", "in-order", "library"},
              "what multiplies matrices: loops that add in order, with the same bits on hosts and devices, or OpenBLAS "
              "and cuBLAS; auto: the library where there is one, in order on a device without")
      .text("json", settings.json, "FILE", "write the report as JSON; - for stdout, without the table")
      .text("report", settings.report, "FILE", "write the report as a page of HTML, with curves and one step")
      .custom("compare", "FILES", "", "reports as JSON of other runs, separated by commas, for --report",
              [&settings](std::string_view text) { settings.compare = apps::split_list(text); })
      .flag("study", settings.study,
            "run the ways to share the work, --epochs rounds of each in turn, and say what each gains here")
      .text("checkpoint", settings.checkpoint, "FILE", "resume from it if it exists, and write it after every epoch");
  return options;
}

void require_consistent(const Settings& settings) {
  if (settings.hidden.size() > most_hidden) {
    throw apps::InputError("--hidden: at most " + std::to_string(most_hidden) + " layers");
  }
  if (settings.channels.empty() || settings.channels.size() > 2) throw apps::InputError("--channels: 1 or 2 numbers");
  if (!settings.json.empty() && settings.json == settings.checkpoint) {
    throw apps::InputError("--json and --checkpoint name the same file");
  }
  for (const auto& [name, file] :
       {std::pair{"--json", settings.json}, std::pair{"--checkpoint", settings.checkpoint}}) {
    if (!settings.report.empty() && settings.report == file)
      throw apps::InputError(std::string{"--report and "} + name + " name the same file");
  }
  if (!settings.compare.empty() && settings.report.empty()) throw apps::InputError("--compare needs --report");
  if (settings.study && !(settings.checkpoint.empty() && settings.report.empty() && settings.json.empty())) {
    throw apps::InputError("--study prints a table: it takes no --checkpoint, --report or --json");
  }
  require_both("images", settings.images, "labels", settings.labels);
  require_both("test-images", settings.test_images, "test-labels", settings.test_labels);
  if (!settings.images.empty() + !settings.data.empty() + (settings.synthetic > 0) > 1) {
    throw apps::InputError("--data, --images and --synthetic exclude each other");
  }
  if (!settings.test_images.empty() && settings.images.empty()) {
    throw apps::InputError("--test-images needs --images");
  }
  if (settings.zero > 0 && !settings.algorithm.empty()) {
    throw apps::InputError("--algorithm is that of the allreduce, and --zero 1 makes none");
  }
  require_used(settings);
  require_compressible(settings);
}

}  // namespace tutti::sgd
