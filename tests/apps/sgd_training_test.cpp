// Training on 1, 2, ... ranks: the same losses, the accuracy asked for, and checkpoints that change nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "apps/root.hpp"
#include "apps/sgd/checkpoint.hpp"
#include "apps/sgd/trainer.hpp"

namespace tutti::sgd {
namespace {

class Ranks {
 public:
  /// The first `size` ranks of the world; on the others a null communicator.
  explicit Ranks(int size) {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank < size ? 0 : MPI_UNDEFINED, rank, &comm_);
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;
  ~Ranks() {
    if (comm_ != MPI_COMM_NULL) MPI_Comm_free(&comm_);
  }
  [[nodiscard]] bool include_me() const { return comm_ != MPI_COMM_NULL; }
  [[nodiscard]] MPI_Comm comm() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

const DataSet& digits() {
  static const DataSet data = read_csv(TUTTI_TEST_DIGITS);
  return data;
}

template <class T>
std::vector<EpochReport> reports(const Settings& settings, const Split& data, const Communicator& comm) {
  Trainer<T> trainer{settings, data, comm};
  std::vector<EpochReport> reports;
  while (trainer.epochs() < settings.epochs) {
    reports.push_back(trainer.run_epoch());
  }
  return reports;
}

/// What a checkpoint of the training says of it.
Identity identity_of(const Settings& settings, const Split& data) {
  const Network network = network_of(settings, data.train);
  return {settings.precision,
          network.name(),
          settings.optimizer,
          network.parameter_count(),
          settings.seed,
          static_cast<std::uint64_t>(settings.batch),
          static_cast<std::uint64_t>(settings.accumulate),
          fingerprint(data)};
}

template <class T>
void expect_same_progress(const Progress<T>& a, const Progress<T>& b) {
  EXPECT_EQ(a.epochs, b.epochs);
  EXPECT_EQ(a.steps, b.steps);
  EXPECT_EQ(a.weights, b.weights);
  EXPECT_EQ(a.mean, b.mean);
  EXPECT_EQ(a.square, b.square);
}

/// Trains on 1 rank, on 2, ... and compares the loss of every epoch with the one on 1 rank.
template <class T>
void expect_same_losses(const Settings& settings, double tolerance) {
  const Split data = split(digits(), settings.test_fraction, settings.seed);
  std::vector<EpochReport> alone;
  for (int size = 1; size <= world_size(); ++size) {
    const Ranks ranks{size};
    if (!ranks.include_me()) continue;
    const auto found = reports<T>(settings, data, Communicator{ranks.comm()});
    if (size == 1) alone = found;
    double worst = 0;
    // Rank 0 alone was in the run on 1 rank.
    for (std::size_t epoch = 0; epoch < alone.size(); ++epoch) {
      worst = std::max(worst, std::abs(found[epoch].loss / alone[epoch].loss - 1));
    }
    EXPECT_LE(worst, tolerance) << "on " << size << " ranks";
  }
}

TEST(SgdTraining, LossesAgreeBetweenNumbersOfRanksInDouble) { expect_same_losses<double>({}, 1e-9); }

TEST(SgdTraining, LossesAgreeBetweenNumbersOfRanksInFloat) { expect_same_losses<float>({}, 1e-4); }

TEST(SgdTraining, BatchesMayBeSmallerThanTheNumberOfRanks) {
  expect_same_losses<double>({.epochs = 2, .batch = 1, .rate = 0.01}, 1e-9);
  expect_same_losses<double>({.hidden = {16, 8}, .epochs = 3, .batch = 3, .rate = 0.01}, 1e-9);
}

TEST(SgdTraining, EveryAlgorithmTrains) {
  const Communicator comm{MPI_COMM_WORLD};
  Settings settings{.epochs = 2};
  const Split data = split(digits(), settings.test_fraction, settings.seed);
  const double expected = reports<double>(settings, data, comm).back().loss;
  for (const auto* const algorithm : {"ring", "recursive_doubling", "rabenseifner"}) {
    settings.algorithm = algorithm;
    EXPECT_NEAR(reports<double>(settings, data, comm).back().loss, expected, 1e-9 * expected) << algorithm;
  }
}

TEST(SgdTraining, ReachesTheAccuracyAskedFor) {
  const Settings settings;
  const Split data = split(digits(), settings.test_fraction, settings.seed);
  const auto last = reports<double>(settings, data, Communicator{MPI_COMM_WORLD}).back();
  EXPECT_GE(last.test_accuracy, 0.96);
  EXPECT_GE(last.train_accuracy, 0.99);
  EXPECT_GT(last.samples_per_s, 0);
  EXPECT_GE(last.step.exposed, 0);
  EXPECT_LE(last.step.exposed, last.step.all);
  EXPECT_GT(last.step.forward, 0);
  EXPECT_GT(last.step.backward, 0);
  EXPECT_GT(last.step.optimizer, 0);
}

TEST(SgdTraining, ResumesWithTheSameWeightsAsUninterrupted) {
  const Settings settings{.epochs = 6};
  const Split data = split(digits(), settings.test_fraction, settings.seed);
  const Communicator comm{MPI_COMM_WORLD};
  Trainer<double> uninterrupted{settings, data, comm}, first{settings, data, comm}, second{settings, data, comm};
  const Identity identity = identity_of(settings, data);
  for (int epoch = 0; epoch < 6; ++epoch) {
    uninterrupted.run_epoch();
  }
  for (int epoch = 0; epoch < 2; ++epoch) {
    first.run_epoch();
  }
  second.resume(decode<double>("memory", encode(identity, first.progress()), identity));
  for (int epoch = 2; epoch < 6; ++epoch) {
    second.run_epoch();
  }
  EXPECT_EQ(second.epochs(), 6);
  expect_same_progress(second.progress(), uninterrupted.progress());
}

TEST(SgdTraining, AllRanksHaveTheSameWeights) {
  const Settings settings{.epochs = 2};
  const Split data = split(digits(), settings.test_fraction, settings.seed);
  const Communicator comm{MPI_COMM_WORLD};
  Trainer<float> trainer{settings, data, comm};
  trainer.run_epoch();
  std::vector<float> of_root = trainer.progress().weights;
  apps::broadcast(MPI_COMM_WORLD, of_root);
  EXPECT_EQ(trainer.progress().weights, of_root);
}

TEST(SgdTraining, DivergenceIsAnErrorOnAllRanks) {
  const Settings settings{.epochs = 1, .rate = 1e308};
  const Split data = split(digits(), settings.test_fraction, settings.seed);
  const Communicator comm{MPI_COMM_WORLD};
  Trainer<double> trainer{settings, data, comm};
  EXPECT_THROW(trainer.run_epoch(), apps::CommonFailure);
  EXPECT_EQ(trainer.epochs(), 0);
}

TEST(SgdTraining, ImpossibleSettingsAreRefused) {
  const Split data = split(digits(), 0.2, 1);
  const Communicator comm{MPI_COMM_WORLD};
  EXPECT_THROW((Trainer<double>{{.batch = 1'000'000}, data, comm}), apps::InputError);
  EXPECT_THROW((Trainer<double>{{.batch = 1000, .accumulate = 2}, data, comm}), apps::InputError);
  EXPECT_THROW((Trainer<double>{{.hidden = {60'000, 60'000}}, data, comm}), apps::InputError);
  if (!has_openblas()) {
    EXPECT_THROW((Trainer<double>{{.products = "library"}, data, comm}), apps::InputError);
  }
}

// ---- Ways to share the work

/// In the ways that share a training of the same numbers.
std::vector<Settings> ways(const Settings& settings) {
  std::vector<Settings> ways;
  for (const std::size_t bucket : {0, 400, 9000, 1'000'000})
    for (const bool overlap : {false, true})
      for (const int zero : {0, 1}) {
        ways.push_back(settings);
        ways.back().bucket = bucket;
        ways.back().overlap = overlap;
        ways.back().zero = zero;
      }
  return ways;
}

std::string name_of(const Settings& settings) {
  return settings.model + ", " + settings.precision + ", " + settings.optimizer + ", buckets of " +
         std::to_string(settings.bucket) + (settings.overlap ? ", overlap" : "") + (settings.zero > 0 ? ", ZeRO" : "");
}

template <class T>
Progress<T> trained(const Settings& settings, const Split& data, const Communicator& comm) {
  Trainer<T> trainer{settings, data, comm};
  for (int epoch = 0; epoch < settings.epochs; ++epoch)
    trainer.run_epoch();
  return trainer.progress();
}

/// With a fixed order of operands a sum has the same bits in buckets of any size, and as a part of a reduce-scatter.
template <class T>
void expect_same_bits(const Settings& settings, const Split& data) {
  const Communicator comm{MPI_COMM_WORLD, {.bits = Bits::fixed}};
  const Progress<T> expected = trained<T>(settings, data, comm);
  for (const Settings& way : ways(settings)) {
    SCOPED_TRACE(name_of(way));
    expect_same_progress(trained<T>(way, data, comm), expected);
  }
}

TEST(SgdWays, HaveTheSameBitsInAFixedOrder) {
  const Split data = split(digits(), 0.8, 1);
  expect_same_bits<float>({.hidden = {20, 11}, .precision = "fp32", .epochs = 2}, data);
  expect_same_bits<double>({.hidden = {9}, .epochs = 1, .optimizer = "adam", .rate = 0.01}, data);
  expect_same_bits<float>({.hidden = {20}, .precision = "bf16", .epochs = 1, .accumulate = 2}, data);
  expect_same_bits<float>(
      {.model = "cnn", .hidden = {8}, .channels = {2, 3}, .precision = "fp32", .epochs = 1, .rate = 0.01},
      split(digits(), 0.95, 1));
}

TEST(SgdWays, LossesAgreeBetweenNumbersOfRanksInDouble) {
  const Split data = split(digits(), 0.5, 1);
  std::vector<EpochReport> alone;
  for (int size = 1; size <= world_size(); ++size) {
    const Ranks ranks{size};
    if (!ranks.include_me()) continue;
    const Communicator comm{ranks.comm()};
    for (const Settings& way : ways({.hidden = {20, 11}, .epochs = 3})) {
      const auto found = reports<double>(way, data, comm);
      if (alone.empty()) alone = found;
      for (std::size_t epoch = 0; epoch < found.size() && size > 1; ++epoch)
        EXPECT_LE(std::abs(found[epoch].loss / alone[epoch].loss - 1), 1e-9) << name_of(way) << " on " << size;
    }
  }
}

TEST(SgdWays, LayersAreInBuckets) {
  const Split data = split(digits(), 0.9, 1);
  const Communicator comm{MPI_COMM_WORLD};
  Settings settings{.hidden = {20, 30}, .precision = "fp32"};  // layers of 1300, 630 and 310 parameters
  const auto owned = [&] {
    std::vector<std::pair<std::size_t, std::size_t>> found;
    const Trainer<float> trainer{settings, data, comm};
    for (const Part& part : trainer.exchange().owned())
      found.emplace_back(part.first, part.count);
    return found;
  };
  using Parts = std::vector<std::pair<std::size_t, std::size_t>>;
  EXPECT_EQ(owned(), (Parts{{0, 2240}}));
  settings.bucket = 4 * 940;
  EXPECT_EQ(owned(), (Parts{{1300, 940}, {0, 1300}}));
  settings.bucket = 4 * 939;
  EXPECT_EQ(owned(), (Parts{{1930, 310}, {1300, 630}, {0, 1300}}));
}

/// Of a rank, as the formula says: Adam has two numbers for each parameter, or for its part of them.
TEST(SgdWays, ZeroSharesTheOptimizersMemory) {
  const Split data = split(digits(), 0.9, 1);
  const Communicator comm{MPI_COMM_WORLD};
  Settings settings{.hidden = {33}, .precision = "fp32", .optimizer = "adam"};
  const std::size_t parameters = network_of(settings, data.train).parameter_count();
  const auto memory = [&] { return Trainer<float>{settings, data, comm}.memory(); };
  EXPECT_EQ(memory().parameters, 4 * parameters);
  EXPECT_EQ(memory().gradients, 4 * parameters);
  EXPECT_EQ(memory().optimizer, 8 * parameters);
  settings.zero = 1;
  const std::size_t mine = part_of(parameters, comm.rank().value(), comm.size()).count;
  EXPECT_EQ(memory().parameters, 4 * parameters);
  EXPECT_EQ(memory().optimizer, 8 * mine);
  EXPECT_EQ(memory().exchange, 0U);
  settings.precision = "bf16";
  EXPECT_LT(memory().parameters, 4 * parameters);
  EXPECT_EQ(memory().optimizer, 12 * mine);
}

TEST(SgdWays, ACheckpointGoesFromOneToAnother) {
  const Split data = split(digits(), 0.5, 1);
  const Settings plain{.hidden = {20}, .epochs = 4, .optimizer = "adam", .rate = 0.01};
  Settings shared = plain;
  shared.zero = 1, shared.bucket = 3000, shared.overlap = true;
  const Communicator world{MPI_COMM_WORLD};
  const std::vector<EpochReport> expected = reports<double>(plain, data, world);
  const Identity identity = identity_of(plain, data);
  std::string saved;
  for (int size = world_size(), epoch = 0; epoch<4; ++epoch, size = size> 1 ? size - 1 : world_size()) {
    const Ranks ranks{size};
    if (ranks.include_me()) {
      const Communicator comm{ranks.comm()};
      Trainer<double> trainer{epoch % 2 == 0 ? shared : plain, data, comm};
      if (!saved.empty()) trainer.resume(decode<double>("memory", saved, identity));
      EXPECT_NEAR(trainer.run_epoch().loss, expected[static_cast<std::size_t>(epoch)].loss, 1e-9);
      saved = encode(identity, trainer.progress());
    }
    apps::broadcast(MPI_COMM_WORLD, saved);
  }
}

/// A step of several batches is that of one batch of all of them.
TEST(SgdWays, AccumulatedBatchesAreALargerOne) {
  const Split data = split(digits(), 0.5, 1);
  const Communicator comm{MPI_COMM_WORLD};
  const auto one = reports<double>({.hidden = {20}, .epochs = 3, .batch = 60}, data, comm);
  const auto three = reports<double>({.hidden = {20}, .epochs = 3, .batch = 20, .accumulate = 3}, data, comm);
  for (std::size_t epoch = 0; epoch < 3; ++epoch) {
    EXPECT_NEAR(three[epoch].loss, one[epoch].loss, 1e-9);
    EXPECT_EQ(three[epoch].steps, one[epoch].steps);
  }
}

// ---- Precision

TEST(SgdPrecision, SixteenBitsReachTheAccuracy) {
  const Split data = split(digits(), 0.2, 1);
  const Communicator comm{MPI_COMM_WORLD};
  for (const auto* const precision : {"bf16", "fp16"}) {
    const auto last = reports<float>({.precision = precision, .epochs = 12}, data, comm).back();
    EXPECT_GE(last.test_accuracy, 0.955) << precision;
  }
}

/// Gradients of 16 bits that are too large: the scale is halved until they fit, and no step is taken.
TEST(SgdPrecision, TheScaleOfTheLossFollowsTheGradients) {
  const Split data = split(digits(), 0.5, 1);
  const Communicator comm{MPI_COMM_WORLD};
  Trainer<float> trainer{{.hidden = {16}, .precision = "fp16", .rate = 0.01}, data, comm};
  Progress<float> progress = trainer.progress();
  EXPECT_EQ(progress.scale, 1024);
  progress.scale = 0x1p24;
  trainer.resume(progress);
  const EpochReport report = trainer.run_epoch();
  EXPECT_GT(report.skipped, 3);
  EXPECT_EQ(report.scale, std::ldexp(0x1p24, -report.skipped));
  EXPECT_EQ(trainer.progress().steps, report.steps - report.skipped);
  EXPECT_EQ(trainer.run_epoch().skipped, 0);
  progress = trainer.progress();
  progress.unscaled = 499, progress.scale = 8;
  trainer.resume(progress);
  EXPECT_EQ(trainer.run_epoch().scale, 16);
}

// ---- Rules

TEST(SgdRules, LongGradientsAreShortened) {
  const Split data = split(digits(), 0.5, 1);
  const Communicator comm{MPI_COMM_WORLD};
  constexpr double rate = 0.01, longest = 1e-3;
  for (const int zero : {0, 1}) {
    const Settings settings{.hidden = {16}, .batch = 700, .rate = rate, .momentum = 0, .clip = longest, .zero = zero};
    Trainer<double> trainer{settings, data, comm};
    const std::vector<double> before = trainer.progress().weights;
    EXPECT_EQ(trainer.run_epoch().steps, 2);
    const std::vector<double> after = trainer.progress().weights;
    double squares = 0;
    for (std::size_t i = 0; i < before.size(); ++i)
      squares += (after[i] - before[i]) * (after[i] - before[i]);
    EXPECT_LE(std::sqrt(squares), 2 * rate * longest * (1 + 1e-9));
    EXPECT_GE(std::sqrt(squares), rate * longest);
  }
}

TEST(SgdRules, RatesWarmUpAndFall) {
  const Settings constant{.rate = 0.4}, warm{.rate = 0.4, .warm_up = 4},
      cosine{.rate = 0.4, .schedule = "cosine", .warm_up = 4};
  EXPECT_EQ(rate_of(constant, 0, 100), 0.4);
  EXPECT_EQ(rate_of(constant, 99, 100), 0.4);
  EXPECT_DOUBLE_EQ(rate_of(warm, 0, 100), 0.1);
  EXPECT_DOUBLE_EQ(rate_of(warm, 2, 100), 0.3);
  EXPECT_DOUBLE_EQ(rate_of(warm, 50, 100), 0.4);
  EXPECT_DOUBLE_EQ(rate_of(cosine, 3, 104), 0.4);
  EXPECT_DOUBLE_EQ(rate_of(cosine, 4, 104), 0.4);
  EXPECT_DOUBLE_EQ(rate_of(cosine, 54, 104), 0.2);
  EXPECT_NEAR(rate_of(cosine, 104, 104), 0, 1e-15);
  EXPECT_NEAR(rate_of(cosine, 500, 104), 0, 1e-15);
}

/// Against the rule as its authors write it.
TEST(SgdRules, AdamIsAsItsAuthorsWriteIt) {
  double mean = 0, square = 0, weight = 1, expected_mean = 0, expected_square = 0, expected = 1;
  constexpr double rate = 0.1, epsilon = 1e-8;
  for (int step = 1; step <= 20; ++step) {
    const double gradient = std::sin(step);
    expected_mean = 0.9 * expected_mean + 0.1 * gradient;
    expected_square = 0.999 * expected_square + 0.001 * gradient * gradient;
    const double corrected_mean = expected_mean / (1 - std::pow(0.9, step));
    const double corrected_square = expected_square / (1 - std::pow(0.999, step));
    expected -= rate * corrected_mean / (std::sqrt(corrected_square) + epsilon);
    const double unseen = std::sqrt(1 - std::pow(0.999, step));
    const Adam<double> formula{0.9, 0.999, rate * unseen / (1 - std::pow(0.9, step)), epsilon * unseen, 0.5};
    formula.step(2 * gradient, weight, mean, square);
    EXPECT_NEAR(weight, expected, 1e-12) << step;
  }
}

TEST(SgdParts, CoverEverythingOnceAndDifferByOne) {
  constexpr std::size_t all = 17;
  for (int size = 1; size <= 40; ++size) {
    std::size_t covered = 0, smallest = all, largest = 0;
    for (int rank = 0; rank < size; ++rank) {
      const Part part = part_of(all, rank, size);
      EXPECT_EQ(part.first, covered);
      covered += part.count;
      smallest = std::min(smallest, part.count);
      largest = std::max(largest, part.count);
    }
    EXPECT_EQ(covered, all);
    EXPECT_LE(largest - smallest, 1U);
  }
}

TEST(SgdRoot, TextsOfAnyRankAreErrorsOfAll) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  EXPECT_NO_THROW(apps::refuse_if_any(MPI_COMM_WORLD, ""));
  const int last = world_size() - 1;
  try {
    apps::refuse_if_any(MPI_COMM_WORLD, rank == last ? "no device" : "");
    FAIL();
  } catch (const apps::InputError& error) {
    EXPECT_STREQ(error.what(), "no device");
  }
  try {
    apps::refuse_if_any(MPI_COMM_WORLD, "rank " + std::to_string(rank));
    FAIL();
  } catch (const apps::InputError& error) {
    EXPECT_STREQ(error.what(), "rank 0");
  }
}

TEST(SgdRoot, ErrorsOfRankZeroReachAllRanks) {
  int rank = 0, calls = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  apps::on_root(MPI_COMM_WORLD, [&] { ++calls; });
  EXPECT_EQ(calls, rank == 0 ? 1 : 0);
  try {
    apps::on_root(MPI_COMM_WORLD, [] { throw apps::InputError("line 3 is wrong"); });
    FAIL();
  } catch (const apps::InputError& error) {
    EXPECT_STREQ(error.what(), "line 3 is wrong");
  }
  EXPECT_THROW(apps::on_root(MPI_COMM_WORLD, [] { throw std::runtime_error("disk full"); }), apps::CommonFailure);
}

}  // namespace
}  // namespace tutti::sgd
