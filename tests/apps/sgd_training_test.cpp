// Training on 1, 2, ... ranks: the same losses, the accuracy asked for, and checkpoints that change nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <numeric>

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
  EXPECT_GE(last.comm_share.value(), 0);
  EXPECT_LE(last.comm_share.value(), 1);
}

TEST(SgdTraining, ResumesWithTheSameWeightsAsUninterrupted) {
  const Settings settings{.epochs = 6};
  const Split data = split(digits(), settings.test_fraction, settings.seed);
  const Communicator comm{MPI_COMM_WORLD};
  Trainer<double> uninterrupted{settings, data, comm}, first{settings, data, comm}, second{settings, data, comm};
  const Identity identity{"double", first.shape().widths(), settings.seed, 32, fingerprint(data)};
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
  EXPECT_EQ(second.progress().weights, uninterrupted.progress().weights);
  EXPECT_EQ(second.progress().velocity, uninterrupted.progress().velocity);
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
  EXPECT_THROW((Trainer<double>{{.hidden = {60'000, 60'000}}, data, comm}), apps::InputError);
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
