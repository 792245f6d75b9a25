// Every registered algorithm is proved for 1 to 64 ranks and a few larger sizes.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <set>

#include "lib/checker/prove.hpp"
#include "lib/checker/random_run.hpp"

namespace tutti::checker {
namespace {

constexpr int most_ranks = 64, most_ranks_with_many_elements = 9, most_ranks_at_random = 17;

using Clock = std::chrono::steady_clock;

/// What the whole program proved; reported at its end.
class Totals : public testing::Environment {
 public:
  static void add(const Verdict& verdict) {
    ++problems_, schedules_ += verdict.costs.size(), steps_ += verdict.steps;
    if (!verdict.proved()) ++failed_;
  }
  void SetUp() override { begin_ = Clock::now(); }
  void TearDown() override {
    const std::chrono::duration<double> seconds = Clock::now() - begin_;
    fmt::print("proved: {} problems ({} schedules, {} steps), {} failed, {:.1f} s\n", problems_, schedules_, steps_,
               failed_, seconds.count());
  }

 private:
  static inline std::size_t problems_ = 0, schedules_ = 0, steps_ = 0, failed_ = 0;
  Clock::time_point begin_;
};
const auto* const totals = testing::AddGlobalTestEnvironment(new Totals);

std::set<Count> counts(int size) {
  std::set<Count> counts;
  for (const int count : {0, 1, size - 1, size, size + 1, 37, 2 * size + 3})
    counts.insert(Count{count});
  if (size <= most_ranks_with_many_elements) counts.insert(Count{1000});
  return counts;
}

constexpr Placement placements[] = {Placement::separate, Placement::in_place, Placement::in_place_on_even_ranks};

void expect_proved(const Algorithm& algorithm, const Case& what) {
  const Verdict verdict = prove(algorithm, what);
  Totals::add(verdict);
  EXPECT_TRUE(verdict.proved()) << fmt::format("{} {}, {}: {}", to_string(algorithm.collective), algorithm.name,
                                               to_text(what), verdict.fault);
}

/// A range of sizes, so that the proof of one algorithm is several tests.
struct Sizes {
  int first, last;
};
constexpr Sizes slices[] = {{1, 36}, {37, 51}, {52, most_ranks}};

class EveryProblem : public testing::TestWithParam<std::tuple<const Algorithm*, Sizes>> {};

TEST_P(EveryProblem, IsProved) {
  const auto& [parameter, sizes] = GetParam();
  const Algorithm& algorithm = *parameter;
  for (int size = sizes.first; size <= sizes.last; ++size) {
    for (const Count count : counts(size))
      for (const Placement placement : placements)
        expect_proved(algorithm, {.size = size, .count = count, .placement = placement});
  }
}

std::string name_of(const testing::TestParamInfo<EveryProblem::ParamType>& instance) {
  const auto& [algorithm, sizes] = instance.param;
  return fmt::format("{}_{}_{}_to_{}", to_string(algorithm->collective), algorithm->name, sizes.first, sizes.last);
}
INSTANTIATE_TEST_SUITE_P(Registry, EveryProblem,
                         testing::Combine(testing::ValuesIn(algorithms().begin(), algorithms().end()),
                                          testing::ValuesIn(slices)),
                         name_of);

class Proof : public testing::TestWithParam<const Algorithm*> {};

TEST_P(Proof, OfLargerSizes) {
  const Algorithm& algorithm = *GetParam();
  for (const int size : {100, 128, 193})
    for (const Count count : {Count{1}, Count{2 * size + 3}})
      expect_proved(algorithm, {.size = size, .count = count, .placement = Placement::in_place});
}

TEST_P(Proof, HoldsInRandomOrders) {
  const Algorithm& algorithm = *GetParam();
  for (int size = 1; size <= most_ranks_at_random; ++size) {
    for (const Count count : {Count{1}, Count{size}, Count{2 * size + 3}}) {
      for (const Placement placement : placements) {
        const Problems problems{algorithm, {.size = size, .count = count, .placement = placement}};
        const Parts parts = parts_of(algorithm, problems);
        for (const std::uint64_t seed : {1, 2, 3, 4, 5})
          ASSERT_EQ(fault_at_random(seed, parts, expectation_of(algorithm, problems)), "")
              << size << " ranks, seed " << seed;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, Proof, testing::ValuesIn(algorithms().begin(), algorithms().end()),
                         [](const auto& algorithm) {
                           return fmt::format("{}_{}", to_string(algorithm.param->collective), algorithm.param->name);
                         });

}  // namespace
}  // namespace tutti::checker
