// Training on a device against training on the host, bit for bit, over the fake driver or on a GPU.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "apps/root.hpp"
#include "apps/sgd/device.hpp"
#include "apps/sgd/tasks.hpp"
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
  EXPECT_EQ(device.steps, host.steps);
  EXPECT_EQ(device.scale, host.scale);
  EXPECT_EQ(device.weights, host.weights);
  EXPECT_EQ(device.mean, host.mean);
  EXPECT_EQ(device.square, host.square);
}

void expect_same_results(const EpochReport& device, const EpochReport& host) {
  EXPECT_EQ(device.loss, host.loss);
  EXPECT_EQ(device.train_accuracy, host.train_accuracy);
  EXPECT_EQ(device.test_accuracy, host.test_accuracy);
  EXPECT_EQ(device.skipped, host.skipped);
}

template <class T>
class SgdDevice : public testing::Test {
 protected:
  static void SetUpTestSuite() { use_device(local_rank(Communicator{MPI_COMM_WORLD})); }

  static constexpr const char* precision = sizeof(T) == sizeof(float) ? "fp32" : "fp64";
  /// Trains twice and compares every epoch. Sums have the same bits in a fixed order.
  void expect_same_training(Settings settings) {
    if (settings.format() == std::nullopt) settings.precision = precision;
    settings.products = "in-order";
    settings.device = false;
    Settings plain = settings;
    plain.overlap = false;
    Trainer<T> host{plain, digits(), comm_};
    settings.device = true;
    Trainer<T> device{settings, digits(), comm_};
    for (int epoch = 0; epoch < settings.epochs; ++epoch) {
      expect_same_results(device.run_epoch(), host.run_epoch());
      expect_same_numbers(device.progress(), host.progress());
    }
  }
  const Communicator comm_{MPI_COMM_WORLD, {.buffers = "device", .bits = Bits::fixed}};
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
  this->expect_same_training({.model = "cnn", .hidden = {4}, .channels = {2, 3}, .epochs = 1, .batch = 20});
}

TYPED_TEST(SgdDevice, BatchesMayBeSmallerThanTheNumberOfRanks) {
  this->expect_same_training({.hidden = {3}, .epochs = 1, .batch = 1, .rate = 0.01});
}

/// In buckets, beside computing, with ZeRO.
TYPED_TEST(SgdDevice, SharesTheWorkInAllWays) {
  for (const bool overlap : {false, true})
    for (const int zero : {0, 1}) {
      SCOPED_TRACE(overlap ? "overlap" : "no overlap");
      const Settings settings{
          .hidden = {6, 5}, .epochs = 1, .batch = 20, .bucket = 300, .overlap = overlap, .zero = zero};
      this->expect_same_training(settings);
    }
}

TYPED_TEST(SgdDevice, TakesAllRules) {
  this->expect_same_training({.hidden = {5},
                              .epochs = 2,
                              .batch = 10,
                              .accumulate = 2,
                              .optimizer = "adam",
                              .rate = 0.01,
                              .schedule = "cosine",
                              .warm_up = 2,
                              .clip = 0.5,
                              .zero = 1});
}

TEST(SgdDevice16Bits, HasTheBitsOfTheHost) {
  const Communicator comm{MPI_COMM_WORLD, {.buffers = "device", .bits = Bits::fixed}};
  for (const auto* const precision : {"bf16", "fp16"})
    for (const int zero : {0, 1}) {
      Settings settings{.hidden = {5}, .precision = precision, .epochs = 1, .batch = 20, .zero = zero};
      settings.products = "in-order";
      Trainer<float> host{settings, digits(), comm};
      settings.device = true, settings.overlap = true;
      Trainer<float> device{settings, digits(), comm};
      expect_same_results(device.run_epoch(), host.run_epoch());
      expect_same_numbers(device.progress(), host.progress());
    }
}

TYPED_TEST(SgdDevice, EveryAlgorithmTrains) {
  const Communicator comm{MPI_COMM_WORLD};
  for (const auto* const algorithm : {"ring", "recursive_doubling", "two_shot"}) {
    Settings settings{.hidden = {3}, .precision = TestFixture::precision, .batch = 20, .products = "in-order"};
    settings.algorithm = algorithm;
    Trainer<TypeParam> host{settings, digits(), comm};
    settings.device = true;
    Trainer<TypeParam> device{settings, digits(), comm};
    expect_same_results(device.run_epoch(), host.run_epoch());
    expect_same_numbers(device.progress(), host.progress());
  }
}

TYPED_TEST(SgdDevice, StepsThatOverlapDoNotWait) {
  const Communicator comm{MPI_COMM_WORLD, {.buffers = "device"}};
  const auto& devices = test::TestDevices::get();
  if (comm.size() == 1 || !devices.is_fake()) GTEST_SKIP() << "there are no sums, or nobody counts waits";
  const Settings settings{
      .hidden = {5}, .batch = 4, .bucket = 100, .overlap = true, .device = true, .products = "in-order"};
  Trainer<TypeParam> trainer{settings, digits(), comm};
  trainer.run_epoch();  // which prepares the calls
  const std::uint64_t before = devices.calls("cuStreamSynchronize");
  trainer.run_epoch();
  constexpr std::uint64_t steps = 10;
  EXPECT_LT(devices.calls("cuStreamSynchronize") - before, steps);
}

TYPED_TEST(SgdDevice, GoesOnWhereTheHostHasStopped) {
  using T = TypeParam;
  Settings settings{.hidden = {4}, .precision = TestFixture::precision, .batch = 20, .products = "in-order"};
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
  Settings large{.hidden = {3}, .batch = 5, .rate = 1e308, .device = true, .products = "in-order"};
  Trainer<TypeParam> trainer{large, digits(), this->comm_};
  EXPECT_THROW(trainer.run_epoch(), apps::CommonFailure);
  EXPECT_EQ(trainer.epochs(), 0);
}

/// The last part of a batch, and the only image of one, as well.
TYPED_TEST(SgdDevice, ComputesAsManyImagesAtOnceAsHaveRoom) {
  using T = TypeParam;
  const Network network = Network::perceptron({64, 4, 10});
  std::vector<T> first(network.parameter_count());
  Random random{1, Random::Purpose::weights};
  initialize(network, std::span{first}, random);
  std::vector<int> order(40);
  for (std::size_t i = 0; i < order.size(); ++i)
    order[i] = static_cast<int>(order.size() - 1 - i);
  const Machine host{Products::in_order}, device{Products::in_order, open_device(0)};
  std::vector<std::vector<T>> gradients;
  std::vector<Totals> totals;
  std::vector<int> correct;
  for (const Machine* const machine : {&host, &device}) {
    Parameters<T> parameters{*machine, network, std::nullopt};
    const Array<T> weights{*machine, std::span<const T>{first}};
    parameters.take(weights.data(), 0, first.size());
    Array<T> gradient{*machine, first.size()};
    Model<T> model{*machine, network, digits(), 20, machine == &host ? most_values : 400};
    EXPECT_EQ(model.at_once(), machine == &host ? 20U : 4U);
    model.begin_epoch(order);
    for (std::size_t done = 0; done < 22; done += model.at_once()) {
      const std::size_t end = std::min<std::size_t>(22, done + model.at_once());
      model.forward(parameters, {done, end - done}, T{1});
      model.backward(parameters, gradient.data(), [](std::size_t /*layer*/) {});
    }
    gradient.get(std::span{gradients.emplace_back(first.size())});
    totals.push_back(model.totals());
    correct.push_back(model.correct_in_test(parameters, {0, 10}));
    correct.push_back(model.correct_in_test(parameters, {9, 1}));
  }
  EXPECT_EQ(gradients[0], gradients[1]);
  EXPECT_EQ(totals[0].loss, totals[1].loss);
  EXPECT_EQ(totals[0].correct, totals[1].correct);
  EXPECT_EQ(correct[0], correct[2]);
  EXPECT_EQ(correct[1], correct[3]);
}

}  // namespace
}  // namespace tutti::sgd
