// The ways to share the work of a training: the same numbers in all of them, and what each needs.
#include <gtest/gtest.h>
#include <mpi.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "apps/root.hpp"
#include "tests/apps/sgd_runs.hpp"

namespace tutti::sgd {
namespace {

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

}  // namespace
}  // namespace tutti::sgd
