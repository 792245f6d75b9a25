// The search for races, against a plain comparison of all pairs of steps.
#include <gtest/gtest.h>

#include <random>

#include "lib/proof/checker/fault.hpp"
#include "lib/proof/checker/races.hpp"

namespace tutti::checker {
namespace {

/// One rank with random copies between elements of scratch, and random edges.
RankSchedule random_schedule(std::mt19937& random) {
  constexpr int steps = 12, elements = 6, longest = 2, density = 12;
  RankSchedule own{Count{0}, Count{0}, {}, {{}, Count{elements + longest}}};
  const auto any = [&](int below) { return static_cast<int>(random() % static_cast<unsigned>(below)); };
  const int edges = any(density);
  while (own.schedule.steps.size() < steps) {
    const int count = 1 + any(longest);
    const auto anywhere = [&] { return Region{Buffer::scratch, Count{any(elements)}, Count{count}}; };
    const Copy copy{anywhere(), anywhere()};
    std::vector<int> after;
    for (int step = 0; step < static_cast<int>(own.schedule.steps.size()); ++step)
      if (any(density) < edges) after.push_back(step);
    own.schedule.steps.push_back({copy, after});
  }
  return own;
}

/// All pairs of steps, with every order found by relaxing: slow and plain.
bool has_race(const Schedule& schedule) {
  const std::size_t steps = schedule.steps.size();
  std::vector ordered(steps, std::vector<bool>(steps));
  for (std::size_t later = 0; later < steps; ++later)
    for (const int before : schedule.steps[later].after) {
      const auto direct = static_cast<std::size_t>(before);
      ordered[direct][later] = true;
      for (std::size_t earlier = 0; earlier < direct; ++earlier)
        if (ordered[earlier][direct]) ordered[earlier][later] = true;
    }
  for (std::size_t later = 0; later < steps; ++later)
    for (std::size_t earlier = 0; earlier < later; ++earlier) {
      const auto& a = std::get<Copy>(schedule.steps[earlier].action);
      const auto& b = std::get<Copy>(schedule.steps[later].action);
      const bool conflict = overlap(a.into, b.into) || overlap(a.into, b.from) || overlap(a.from, b.into);
      if (conflict && !ordered[earlier][later]) return true;
    }
  return false;
}

bool is_refuted(const RankSchedule& own) {
  try {
    require_no_races(Rank{0}, own);
    return false;
  } catch (const Fault&) {
    return true;
  }
}

/// Behind so many steps that do nothing that orders are no longer looked up, but found by walking.
RankSchedule behind_many(const RankSchedule& own) {
  constexpr int many = 5000;
  constexpr Region nothing{Buffer::scratch, Count{0}, Count{0}};
  RankSchedule longer = own;
  longer.schedule.steps.assign(many, {Copy{nothing, nothing}, {}});
  for (Step step : own.schedule.steps) {
    for (int& before : step.after)
      before += many;
    longer.schedule.steps.push_back(std::move(step));
  }
  return longer;
}

TEST(Races, AreTheSameInLongSchedules) {
  std::mt19937 random{11};
  for (int trial = 0; trial < 200; ++trial) {
    const RankSchedule own = random_schedule(random);
    ASSERT_EQ(is_refuted(behind_many(own)), has_race(own.schedule)) << "trial " << trial;
  }
}

TEST(Races, AreThoseThatComparingAllPairsFinds) {
  std::mt19937 random{7};
  int racy = 0, clean = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    const RankSchedule own = random_schedule(random);
    const bool found = is_refuted(own);
    ASSERT_EQ(found, has_race(own.schedule)) << "trial " << trial;
    ++(found ? racy : clean);
  }
  EXPECT_GT(racy, 100);
  EXPECT_GT(clean, 100);
}

}  // namespace
}  // namespace tutti::checker
