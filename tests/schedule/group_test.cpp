// Schedules of a group of ranks, in which peers are places in the group.
#include <gtest/gtest.h>

#include <stdexcept>

#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

TEST(Builder, PlaysInAGroup) {
  ScheduleBuilder plan{Problem{Rank{4}, 6, Count{2}}};
  const Group group{{Rank{1}, Rank{4}, Rank{5}}, 1};
  const Region theirs = plan.scratch(Count{2});
  plan.within(group, [&](Rank me, int size) {
    EXPECT_EQ(me, Rank{1});
    EXPECT_EQ(size, 3);
    plan.send(plan.input(), Rank{2});
    plan.recv(theirs, Rank{0});
    plan.reduce_in_order(Rank{0}, theirs, plan.input(), plan.output());
    EXPECT_THROW(plan.send(plan.input(), Rank{1}), std::logic_error);
    EXPECT_THROW(plan.send(plan.input(), Rank{3}), std::logic_error);
  });
  plan.send(plan.input(), Rank{3});
  const Schedule schedule = plan.build();
  EXPECT_EQ(std::get<Send>(schedule.steps[0].action).to, Rank{5});
  EXPECT_EQ(std::get<Recv>(schedule.steps[1].action).from, Rank{1});
  EXPECT_EQ(std::get<Reduce>(schedule.steps[2].action).lhs, theirs);
  EXPECT_EQ(std::get<Send>(schedule.steps[3].action).to, Rank{3});
}

}  // namespace
}  // namespace tutti
