// Buckets of gradients: which tensors they have, and their allreduces in any order in which tensors become ready.
#include "tutti/buckets.hpp"

#include <algorithm>
#include <numeric>
#include <random>

#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

std::vector<Count> counts(std::initializer_list<std::int64_t> numbers) {
  std::vector<Count> list;
  for (const std::int64_t number : numbers)
    list.emplace_back(number);
  return list;
}

std::vector<std::vector<int>> tensors_of(const Buckets& buckets) {
  std::vector<std::vector<int>> all;
  for (int bucket = 0; bucket < buckets.size(); ++bucket)
    all.emplace_back(buckets.tensors(bucket).begin(), buckets.tensors(bucket).end());
  return all;
}

using Tensors = std::vector<std::vector<int>>;
constexpr BucketLimits small{.bytes = Bytes{40}, .first = Bytes{12}};  // 10 and 3 elements of fp32

TEST(Buckets, AreFilledFromTheLastTensorToTheFirst) {
  const Buckets buckets{counts({4, 3, 3, 5, 1, 2}), Type::fp32, small};
  EXPECT_EQ(tensors_of(buckets), (Tensors{{4, 5}, {2, 3}, {0, 1}}));
  EXPECT_EQ(buckets.count(0), Count{3});
  EXPECT_EQ(buckets.count(1), Count{8});
  EXPECT_EQ(buckets.bucket_of(0), 2);
  EXPECT_EQ(buckets.bucket_of(5), 0);
}

TEST(Buckets, OfATensorThatIsLargerThanTheLimit) {
  EXPECT_EQ(tensors_of(Buckets(counts({1, 11, 1, 1, 100}), Type::fp32, small)), (Tensors{{4}, {2, 3}, {1}, {0}}));
  EXPECT_EQ(tensors_of(Buckets(counts({10, 10, 3}), Type::fp32, small)), (Tensors{{2}, {1}, {0}}));
  EXPECT_EQ(tensors_of(Buckets(counts({5, 5, 3}), Type::fp32, small)), (Tensors{{2}, {0, 1}}));
}

TEST(Buckets, OfNothing) {
  EXPECT_EQ(Buckets(counts({}), Type::fp32).size(), 0);
  EXPECT_EQ(tensors_of(Buckets(counts({0, 0}), Type::fp32, small)), (Tensors{{0, 1}}));
  EXPECT_EQ(tensors_of(Buckets(counts({0, 11, 0}), Type::fp32, small)), (Tensors{{2}, {0, 1}}));
}

TEST(Buckets, HaveTheLimitsOfDdp) {
  const std::vector<Count> sizes(60, Count{1 << 18});  // 1 MiB each
  const Buckets buckets{sizes, Type::fp32};
  EXPECT_EQ(buckets.size(), 4);
  EXPECT_EQ(buckets.tensors(0).size(), 1U);
  EXPECT_EQ(buckets.tensors(1).size(), 25U);
  EXPECT_EQ(buckets.tensors(3).size(), 9U);
}

TEST(Buckets, RefuseWhatIsNotAllowed) {
  expect_throw<ArgumentError>([] { Buckets(counts({1, -2}), Type::fp32); }, {"'sizes[1]'", "-2", "0 to"});
  expect_throw<ArgumentError>([] { Buckets(counts({1}), Type::fp32, {.bytes = Bytes{0}}); }, {"'limits.bytes'", "0"});
  expect_throw<ArgumentError>([] { Buckets(counts({1}), Type::fp32, {.first = Bytes{-1}}); }, {"'limits.first'", "-1"});
  expect_throw<ArgumentError>([] { Buckets(counts({1}), static_cast<Type>(99)); }, {"'type'", "99"});
  const Buckets buckets{counts({1, 2}), Type::fp32};
  expect_throw<ArgumentError>([&] { (void)buckets.tensors(1); }, {"'bucket'", "is 1", "0 to 0"});
  expect_throw<ArgumentError>([&] { (void)buckets.count(-1); }, {"'bucket'", "is -1"});
  expect_throw<ArgumentError>([&] { (void)buckets.bucket_of(2); }, {"'tensor'", "is 2", "0 to 1"});
}

// ---- Their allreduces

/// Tensors of a model, in one block of memory if they lie one after the other.
class Model {
 public:
  Model(const std::vector<Count>& sizes, int gap) : sizes_(sizes) {
    std::int64_t at = 0;
    for (const Count size : sizes) {
      places_.push_back(at);
      at += size.value() + gap;
    }
    memory_.resize(static_cast<std::size_t>(at));
  }
  void compute(int tensor, int step) {
    for (std::int64_t i = 0; i < sizes_[index(tensor)].value(); ++i)
      data(tensor)[i] = static_cast<float>((world_rank() + 1) * (tensor + 1) + step + i % 5);
  }
  [[nodiscard]] bool is_summed(int tensor, int step) {
    const int p = world_size();
    for (std::int64_t i = 0; i < sizes_[index(tensor)].value(); ++i)
      if (data(tensor)[i] != static_cast<float>(p * (p + 1) / 2 * (tensor + 1) + p * (step + i % 5))) return false;
    return true;
  }
  [[nodiscard]] std::vector<void*> tensors() {
    std::vector<void*> all;
    for (int tensor = 0; tensor < size(); ++tensor)
      all.push_back(data(tensor));
    return all;
  }
  [[nodiscard]] int size() const { return static_cast<int>(sizes_.size()); }

 private:
  static std::size_t index(int tensor) { return static_cast<std::size_t>(tensor); }
  float* data(int tensor) { return memory_.data() + places_[index(tensor)]; }
  std::vector<Count> sizes_;
  std::vector<std::int64_t> places_{};
  std::vector<float> memory_{};
};

class BucketedSums : public testing::Test {
 protected:
  void expect_sums(int gap, bool shuffles, bool tests) {
    Model model{sizes_, gap};
    BucketedAllreduce sums{Buckets{sizes_, Type::fp32, limits_}, model.tensors(), Op::sum, comm_};
    std::mt19937 dice{static_cast<unsigned>(world_rank())};  // another order on each rank
    for (int step = 0; step < 4; ++step) {
      std::vector<int> order(sizes_.size());
      std::iota(order.rbegin(), order.rend(), 0);
      if (shuffles) std::ranges::shuffle(order, dice);
      for (const int tensor : order) {
        EXPECT_FALSE(sums.test());
        model.compute(tensor, step);
        sums.ready(tensor);
      }
      EXPECT_EQ(sums.started(), sums.buckets().size());
      while (tests && !sums.test()) {
      }
      sums.wait();
      for (int tensor = 0; tensor < model.size(); ++tensor)
        EXPECT_TRUE(model.is_summed(tensor, step)) << "tensor " << tensor << " in step " << step;
    }
  }
  Communicator comm_{MPI_COMM_WORLD};
  std::vector<Count> sizes_ = counts({3, 0, 70'000, 8, 1, 900, 20'000, 4, 2, 17, 30, 6});
  BucketLimits limits_{.bytes = Bytes{100'000}, .first = Bytes{200}};
};

TEST_F(BucketedSums, InTheOrderOfTheBackwardPass) { expect_sums(1, false, false); }
TEST_F(BucketedSums, InOtherOrdersOnOtherRanks) { expect_sums(1, true, false); }
TEST_F(BucketedSums, WithTests) { expect_sums(2, true, true); }

TEST_F(BucketedSums, PackOnlyWhatLiesApart) {
  sizes_ = counts({3, 0, 8, 1, 900, 4, 2, 17, 30, 6});
  expect_sums(0, true, false);
  EXPECT_EQ(comm_.counters().at("calls.packed"), 0U);
  expect_sums(1, true, false);
  EXPECT_GT(comm_.counters().at("calls.packed"), 0U);
}

TEST_F(BucketedSums, StartWhenAllTensorsAreReadyAndAllBucketsBeforeHaveStarted) {
  const std::vector<Count> sizes = counts({4, 3, 3, 5, 1, 2});
  Model model{sizes, 0};
  BucketedAllreduce sums{Buckets{sizes, Type::fp32, small}, model.tensors(), Op::sum, comm_};
  const std::pair<int, int> started_after[] = {{0, 0}, {1, 0}, {5, 0}, {2, 0}, {4, 1}, {3, 3}};
  for (const auto& [tensor, started] : started_after) {
    model.compute(tensor, 0);
    sums.ready(tensor);
    EXPECT_EQ(sums.started(), started) << "after tensor " << tensor;
  }
  sums.wait();
  EXPECT_EQ(sums.started(), 0);
}

TEST_F(BucketedSums, RefuseWhatIsNotAllowed) {
  const std::string rank = "on rank " + std::to_string(world_rank());
  const std::vector<Count> sizes = counts({2, 3});
  Model model{sizes, 0};
  std::vector<void*> tensors = model.tensors();
  expect_throw<ArgumentError>(
      [&] { BucketedAllreduce(Buckets(sizes, Type::fp32), std::span{tensors}.first(1), Op::sum, comm_); },
      {"'tensors'", "1 tensors", "2 tensors", rank});
  const auto of = [&](const std::vector<void*>& given) {
    BucketedAllreduce(Buckets(sizes, Type::fp32, {Bytes{8}, Bytes{8}}), given, Op::sum, comm_);
  };
  expect_throw<ArgumentError>([&] { of({tensors[0], nullptr}); }, {"null for tensor 1 of 3 elements", rank});
  expect_throw<ArgumentError>([&] { of({tensors[0], tensors[0]}); }, {"which share memory", rank});
  BucketedAllreduce sums{Buckets{sizes, Type::fp32}, tensors, Op::sum, comm_};
  expect_throw<ArgumentError>([&] { sums.ready(2); }, {"'tensor'", "is 2", "0 to 1", rank});
  expect_throw<ArgumentError>([&] { sums.ready(-1); }, {"'tensor'", "is -1", rank});
  expect_throw<StateError>([&] { sums.wait(); }, {"tensor 0 is not ready", rank});
  sums.ready(0);
  expect_throw<StateError>([&] { sums.ready(0); }, {"tensor 0 was ready before in this step", rank});
  expect_throw<StateError>([&] { sums.wait(); }, {"tensor 1 is not ready", rank});
  sums.ready(1);
  sums.wait();
  sums.ready(0);  // the next step
  sums.ready(1);
  sums.wait();
  expect_works(comm_);
}

}  // namespace
}  // namespace tutti::test
