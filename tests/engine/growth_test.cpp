// Plans of messages in segments grow with the number of segments, and no faster: their steps, and their dependencies.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "lib/core/plan/compile.hpp"
#include "lib/core/plan/shared_plan.hpp"
#include "lib/core/plan/shm_compile.hpp"
#include "lib/proof/checker/problems.hpp"
#include "lib/proof/checker/suite.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

struct Size {
  std::size_t steps = 0, dependencies = 0;
};

/// The size of all ranks' plans, with so many segments of an element, of a block or of all data.
Size size_of_plans(const Algorithm& algorithm, int segments, bool shares_memory) {
  constexpr int ranks = 8;
  checker::Case what{.size = ranks, .count = Count{segments}};
  checker::mix_levels(what, algorithm);
  const checker::Problems problems{algorithm, what};
  const std::vector<std::uint8_t> reaches(ranks, 1);
  const shm::SharedMemory memory{.reaches = reaches, .cell_bytes = 256, .piece_bytes = 65536, .eager_messages = 3};
  Size size;
  for (const int rank : {0, ranks / 2, ranks - 1}) {
    const Choice choice{.algorithm = &algorithm, .parameter = algorithm.parameter.fallback, .segment = 1};
    const CompiledPlan plan = shm::compile(choice, problems.of(Rank{rank}), Type::int8, Op::sum, {},
                                           shares_memory ? memory : shm::SharedMemory{});
    size.steps += plan.steps.size();
    size.dependencies += plan.dependents.size();
  }
  return size;
}

class Growth : public testing::TestWithParam<const Algorithm*> {};

TEST_P(Growth, IsLinearInSegments) {
  const Algorithm& algorithm = *GetParam();
  constexpr std::size_t fewer = 128, more = 512;
  for (const bool shares_memory : {false, true}) {
    const Size before = size_of_plans(algorithm, fewer, shares_memory),
               after = size_of_plans(algorithm, more, shares_memory);
    constexpr std::size_t few = 1000;  // the part that does not depend on them
    EXPECT_LE(after.steps, more / fewer * before.steps + few);
    EXPECT_LE(after.dependencies, more / fewer * before.dependencies + few);
    EXPECT_LE(after.dependencies, 6 * after.steps + few);
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, Growth, testing::ValuesIn(algorithms().begin(), algorithms().end()),
                         [](const auto& info) {
                           return fmt::format("{}_{}", to_string(info.param->collective), info.param->name);
                         });

/// The dependencies of a whole exchange are there once, and not for each of its segments.
TEST(Growth, OfPacedExchanges) {
  const Algorithm& pairwise = *find_algorithm(Collective::alltoall, "pairwise");
  for (const int segments : {256, 512, 1024, 2048, 4096}) {
    const Size size = size_of_plans(pairwise, segments, false);
    fmt::print("pairwise, p = 8, {} segments of a block: {} steps of three ranks, {} dependencies\n", segments,
               size.steps, size.dependencies);
    EXPECT_LE(size.dependencies, 4 * size.steps);
  }
}

/// One rank whose messages complete in any order: counts the messages under way.
class AnyOrder {
 public:
  AnyOrder(const CompiledPlan& plan, unsigned seed) : plan_(plan), waits_(plan.waits), random_(seed) {
    for (std::size_t i = 0; i < plan.steps.size(); ++i)
      if (waits_[i] == 0) start(i);
  }
  /// The most messages of a direction from the first that is not complete to the last that has been started.
  int most_apart() {
    while (!started_.empty()) {
      std::swap(started_[random_() % started_.size()], started_.back());
      const std::size_t done = started_.back();
      started_.pop_back();
      complete(done);
    }
    return completed_ == plan_.steps.size() ? most_apart_ : -1;
  }

 private:
  struct Direction {
    std::set<int> under_way{};
    int last = -1;
  };
  Direction& direction(std::size_t i) { return directions_[plan_.steps[i].verb == Verb::send ? 0 : 1]; }
  void start(std::size_t i) {
    started_.push_back(i);
    auto& [under_way, last] = direction(i);
    under_way.insert(plan_.steps[i].message);
    last = std::max(last, plan_.steps[i].message);
    most_apart_ = std::max(most_apart_, last - *under_way.begin() + 1);
  }
  void complete(std::size_t i) {
    ++completed_;
    direction(i).under_way.erase(plan_.steps[i].message);
    for (int d = plan_.steps[i].first_dependent; d < plan_.steps[i].last_dependent; ++d) {
      const auto next = static_cast<std::size_t>(plan_.dependents[static_cast<std::size_t>(d)]);
      if (--waits_[next] == 0) start(next);
    }
  }
  const CompiledPlan& plan_;
  std::vector<int> waits_;
  std::mt19937 random_;
  std::vector<std::size_t> started_;
  std::array<Direction, 2> directions_;
  int most_apart_ = 0;
  std::size_t completed_ = 0;
};

/// Some messages take for ever: the others do not get ahead of these.
TEST(Window, BoundsWhatIsUnderWayAndKeepsItInOrder) {
  constexpr int messages = 1000;
  const Problem problem{.size = 2, .count = Count{messages}};
  ScheduleBuilder builder{problem};
  for (int message = 0; message < messages; ++message) {
    const Region element{Buffer::output, Count{message}, Count{1}};
    builder.send(element.in(Buffer::input), Rank{1});
    builder.recv(element, Rank{1});
  }
  const Schedule schedule = builder.build();
  for (const int window : {1, 2, 3, 4, 5, 64, 256}) {
    const CompiledPlan plan = compile(schedule, problem, Type::int8, Op::sum, {.window = window});
    EXPECT_LE(plan.dependents.size(), 8 * 2 * messages) << window;
    for (const unsigned seed : {1, 2, 3}) {
      const int most = AnyOrder{plan, seed}.most_apart();
      EXPECT_LE(most, window);
      EXPECT_GT(most, window / 2) << "it is used";
    }
  }
}

}  // namespace
}  // namespace tutti
