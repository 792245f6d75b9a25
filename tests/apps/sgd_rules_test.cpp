// The rules by which weights change and by which work is divided, and errors that all ranks learn.
#include <gtest/gtest.h>
#include <mpi.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>
#include <vector>

#include "apps/root.hpp"
#include "tests/apps/sgd_runs.hpp"

namespace tutti::sgd {
namespace {

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
