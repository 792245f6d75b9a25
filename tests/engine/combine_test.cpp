// Plans of exact sums: each result is combined in one step from all of its operands, or the plan is refused.
#include <gmock/gmock.h>

#include <algorithm>
#include <numeric>

#include "lib/core/plan/compile.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

constexpr Problem of_three{.rank = Rank{0}, .size = 3, .count = Count{4}};

CompiledPlan exact(const Schedule& schedule, const Problem& problem = of_three) {
  return compile(schedule, problem, Type::fp32, Op::exact_sum, {});
}
std::vector<CompiledStep> combining(const CompiledPlan& plan) {
  std::vector<CompiledStep> found;
  std::ranges::copy_if(plan.steps, std::back_inserter(found), [](const CompiledStep& step) {
    return step.verb == Verb::combine || step.verb == Verb::reduce;
  });
  return found;
}

TEST(CombineAtOnce, JoinsAChainAndLeavesItsOperandsWhereTheyAre) {
  ScheduleBuilder builder{of_three};
  const Region a = builder.scratch(Count{4}), b = builder.scratch(Count{4});
  builder.recv(a, Rank{1});
  builder.recv(b, Rank{2});
  builder.reduce(builder.input(), a, a);
  builder.reduce(a, b, builder.output());
  const CompiledPlan plan = exact(builder.build());
  const std::vector<CompiledStep> steps = combining(plan);
  ASSERT_EQ(steps.size(), 1U);
  ASSERT_EQ(steps[0].verb, Verb::combine);
  EXPECT_THAT(plan.operands[static_cast<std::size_t>(steps[0].operands)],
              testing::ElementsAre(Place{Buffer::input, 0}, Place{Buffer::scratch, 0}, Place{Buffer::scratch, 16}));
  EXPECT_EQ(plan.waits[static_cast<std::size_t>(std::ranges::find(plan.steps, Verb::combine, &CompiledStep::verb) -
                                                plan.steps.begin())],
            2)
      << "for its receives";
}

/// A prefix that is itself a result is combined by itself, and its operands again in the next one.
TEST(CombineAtOnce, KeepsResultsThatOthersRead) {
  ScheduleBuilder builder{of_three};
  const Region a = builder.scratch(Count{4}), b = builder.scratch(Count{4});
  builder.recv(a, Rank{1});
  builder.recv(b, Rank{2});
  const Region sum = builder.scratch(Count{4});
  builder.reduce(builder.input(), a, sum);
  builder.send(sum, Rank{1});
  builder.reduce(sum, b, builder.output());
  const CompiledPlan plan = exact(builder.build());
  const std::vector<CompiledStep> steps = combining(plan);
  ASSERT_EQ(steps.size(), 2U);
  EXPECT_EQ(steps[0].verb, Verb::reduce);
  EXPECT_EQ(steps[1].verb, Verb::combine);
  EXPECT_EQ(plan.operands[static_cast<std::size_t>(steps[1].operands)].size(), 3U);
}

/// A later write over an operand waits for the step that now reads it last.
TEST(CombineAtOnce, HoldsBackWhatWouldOverwriteAnOperand) {
  ScheduleBuilder builder{of_three};
  const Region a = builder.scratch(Count{4}), b = builder.scratch(Count{4});
  builder.recv(a, Rank{1});
  builder.recv(b, Rank{2});
  const Region sum = builder.scratch(Count{4});
  builder.reduce(builder.input(), a, sum);
  builder.reduce(sum, b, builder.output());
  builder.recv(a, Rank{1});  // which waited only for the first reduction
  const CompiledPlan plan = exact(builder.build());
  const auto combine = std::ranges::find(plan.steps, Verb::combine, &CompiledStep::verb);
  ASSERT_NE(combine, plan.steps.end());
  const auto dependents =
      std::span{plan.dependents}.subspan(static_cast<std::size_t>(combine->first_dependent),
                                         static_cast<std::size_t>(combine->last_dependent - combine->first_dependent));
  ASSERT_EQ(dependents.size(), 1U);
  EXPECT_EQ(plan.steps[static_cast<std::size_t>(dependents[0])].message, 1);
}

TEST(CombineAtOnce, RefusesAnOperandThatIsOverwrittenTooEarly) {
  ScheduleBuilder builder{of_three};
  const Region a = builder.scratch(Count{4}), b = builder.scratch(Count{4}), sum = builder.scratch(Count{4});
  builder.recv(a, Rank{1});
  builder.recv(b, Rank{2});
  builder.reduce(builder.input(), a, sum);
  builder.copy(builder.input(), a);
  builder.reduce(sum, b, builder.output());
  EXPECT_THROW(static_cast<void>(exact(builder.build())), std::logic_error);
}

TEST(CombineAtOnce, LeavesTwoOperandsAlone) {
  const Problem of_two{.rank = Rank{0}, .size = 2, .count = Count{4}};
  ScheduleBuilder builder{of_two};
  const Region a = builder.scratch(Count{4});
  builder.recv(a, Rank{1});
  builder.reduce(builder.input(), a, builder.output());
  EXPECT_EQ(combining(exact(builder.build(), of_two))[0].verb, Verb::reduce);
}

}  // namespace
}  // namespace tutti
