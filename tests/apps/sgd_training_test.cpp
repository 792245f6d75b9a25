// Training on 1, 2, ... ranks: the same losses, the accuracy asked for, and checkpoints that change nothing.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>

#include "apps/root.hpp"
#include "tests/apps/sgd_runs.hpp"

namespace tutti::sgd {
namespace {

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

}  // namespace
}  // namespace tutti::sgd
