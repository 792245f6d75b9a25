// Training on a device against training on the host, bit for bit, over the fake driver or on a GPU.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <numeric>

#include "apps/root.hpp"
#include "apps/sgd/device_learner.hpp"
#include "apps/sgd/host_learner.hpp"
#include "apps/sgd/trainer.hpp"
#include "tests/support/device_memory.hpp"

namespace tutti::sgd {
namespace {

/// A few digits: kernels are interpreted here.
const Split& digits() {
  static const Split data = [] {
    const char* const moved = std::getenv("TUTTI_TEST_DIGITS");  // where the tree is not where it was built
    DataSet some = read_csv(moved == nullptr ? TUTTI_TEST_DIGITS : moved);
    some.labels.resize(50);
    some.pixels.resize(some.labels.size() * static_cast<std::size_t>(some.features));
    return split(some, 0.2, 1);
  }();
  return data;
}

template <class T>
void expect_same_numbers(const Progress<T>& device, const Progress<T>& host) {
  EXPECT_EQ(device.epochs, host.epochs);
  EXPECT_EQ(device.weights, host.weights);
  EXPECT_EQ(device.velocity, host.velocity);
}

void expect_same_results(const EpochReport& device, const EpochReport& host) {
  EXPECT_EQ(device.loss, host.loss);
  EXPECT_EQ(device.train_accuracy, host.train_accuracy);
  EXPECT_EQ(device.test_accuracy, host.test_accuracy);
}

template <class T>
class SgdDevice : public testing::Test {
 protected:
  /// Trains twice and compares every epoch.
  void expect_same_training(Settings settings) {
    Trainer<T> host{settings, digits(), comm_};
    settings.device = true;
    Trainer<T> device{settings, digits(), comm_};
    for (int epoch = 0; epoch < settings.epochs; ++epoch) {
      expect_same_results(device.run_epoch(), host.run_epoch());
      expect_same_numbers(device.progress(), host.progress());
    }
  }
  const Communicator comm_{MPI_COMM_WORLD};
};

using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(SgdDevice, Types);

TYPED_TEST(SgdDevice, HasTheBitsOfTheHost) {
  ASSERT_EQ(why_no_device(), "");
  this->expect_same_training({.hidden = {7}, .epochs = 2, .batch = 9});
}

TYPED_TEST(SgdDevice, TakesAnyModel) {
  this->expect_same_training({.hidden = {5, 3, 4}, .epochs = 1, .batch = 40});
  this->expect_same_training({.hidden = {1}, .epochs = 1, .batch = 11});
  this->expect_same_training({.hidden = {}, .epochs = 1, .batch = 11});
}

TYPED_TEST(SgdDevice, BatchesMayBeSmallerThanTheNumberOfRanks) {
  this->expect_same_training({.hidden = {3}, .epochs = 1, .batch = 1, .rate = 0.01});
}

TYPED_TEST(SgdDevice, EveryAlgorithmTrains) {
  for (const auto* const algorithm : {"ring", "recursive_doubling", "two_shot"}) {
    this->expect_same_training({.hidden = {3}, .epochs = 1, .batch = 20, .algorithm = algorithm});
  }
}

/// Where the algorithm adds in the same order at any length.
TYPED_TEST(SgdDevice, SumsOfLayersOverlapWithComputing) {
  const Communicator comm{MPI_COMM_WORLD, {.buffers = "device"}};
  const auto overlaps = [&](const std::vector<int>& hidden, const std::string& algorithm) {
    const Settings settings{.hidden = hidden, .batch = 9, .device = true, .algorithm = algorithm};
    Trainer<TypeParam> device{settings, digits(), comm};
    Settings of_host = settings;
    of_host.device = false;
    Trainer<TypeParam> host{of_host, digits(), comm};
    const EpochReport report = device.run_epoch();
    expect_same_results(report, host.run_epoch());
    expect_same_numbers(device.progress(), host.progress());
    EXPECT_EQ(report.comm_share.has_value(), !device.has_overlap());
    return device.has_overlap();
  };
  const bool has_peers = comm.size() > 1;
  EXPECT_EQ(overlaps({5, 3, 4}, "one_shot"), has_peers);
  EXPECT_EQ(overlaps({5}, "two_shot"), has_peers);
  EXPECT_FALSE(overlaps({5}, "ring"));
  EXPECT_FALSE(overlaps({}, "one_shot"));
}

TYPED_TEST(SgdDevice, StepsThatOverlapDoNotWait) {
  use_device(local_rank(Communicator{MPI_COMM_WORLD}));
  const Communicator comm{MPI_COMM_WORLD, {.buffers = "device"}};
  const auto& devices = test::TestDevices::get();
  if (comm.size() == 1 || !devices.is_fake()) GTEST_SKIP() << "there are no sums, or nobody counts waits";
  Trainer<TypeParam> trainer{{.hidden = {5}, .batch = 4, .device = true, .algorithm = "one_shot"}, digits(), comm};
  const std::uint64_t before = devices.calls("cuStreamSynchronize");
  trainer.run_epoch();
  constexpr std::uint64_t steps = 10;
  EXPECT_LT(devices.calls("cuStreamSynchronize") - before, steps);
}

TYPED_TEST(SgdDevice, GoesOnWhereTheHostHasStopped) {
  using T = TypeParam;
  Settings settings{.hidden = {4}, .batch = 20};
  Trainer<T> host{settings, digits(), this->comm_};
  host.run_epoch();
  settings.device = true;
  Trainer<T> device{settings, digits(), this->comm_};
  device.resume(host.progress());
  EXPECT_EQ(device.epochs(), 1);
  expect_same_results(device.run_epoch(), host.run_epoch());
  expect_same_numbers(device.progress(), host.progress());
}

TYPED_TEST(SgdDevice, DivergenceIsAnErrorOnAllRanks) {
  Settings settings{.hidden = {3}, .batch = 5, .rate = 1e308};
  settings.device = true;
  Trainer<TypeParam> trainer{settings, digits(), this->comm_};
  EXPECT_THROW(trainer.run_epoch(), apps::CommonFailure);
  EXPECT_EQ(trainer.epochs(), 0);
}

/// The last part of a batch, and the only image of one, as well.
TYPED_TEST(SgdDevice, ComputesAsManyImagesAtOnceAsHaveRoom) {
  using T = TypeParam;
  const Settings settings{.hidden = {4}, .batch = 20};
  const Shape shape{{64, 4, 10}};
  Progress<T> progress{0, std::vector<T>(shape.parameter_count()), std::vector<T>(shape.parameter_count())};
  Random random{1, Random::Purpose::weights};
  initialize(shape, std::span{progress.weights}, random);
  HostLearner<T> host{shape, digits(), settings};
  const auto device = device_learner<T>(shape, digits(), settings, 0, 3 * (64 + 4 + 10 + 1));
  std::vector<int> order(40);
  std::iota(order.rbegin(), order.rend(), 0);
  for (Learner<T>* const learner : {static_cast<Learner<T>*>(&host), device.get()}) {
    learner->load(progress);
    learner->begin_epoch(order);
    for (const Part part : {Part{0, 20}, Part{20, 1}, Part{21, 0}, Part{30, 6}}) {
      learner->differentiate(part);
      learner->update(20);
    }
  }
  Progress<T> of_host, of_device;
  host.save(of_host);
  device->save(of_device);
  expect_same_numbers(of_device, of_host);
  EXPECT_EQ(device->totals().loss, host.totals().loss);
  EXPECT_EQ(device->totals().correct, host.totals().correct);
  EXPECT_EQ(device->correct_in_test({0, 10}), host.correct_in_test({0, 10}));
  EXPECT_EQ(device->correct_in_test({9, 1}), host.correct_in_test({9, 1}));
}

}  // namespace
}  // namespace tutti::sgd
