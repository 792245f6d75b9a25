// Schedules that are not proved, as `tutti show --unproved` shows them: every mutant of some algorithms, in all forms.
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/options.hpp"
#include "apps/tutti/playback.hpp"
#include "apps/tutti/scene.hpp"
#include "lib/proof/checker/expectation.hpp"
#include "lib/proof/checker/mutants.hpp"

namespace tutti::tool {
namespace {

using testing::HasSubstr;
using testing::Not;

Scene scene_of(Collective collective, std::string_view algorithm) {
  constexpr int size = 5;
  const checker::Case what{.size = size, .count = Count{collective == Collective::barrier ? 0 : 2 * size + 3}};
  return {read_choice(collective, algorithm), what, Unproved::shown};
}

/// Proves it again after a change.
void prove(Scene& scene) {
  scene.verdict = checker::prove(scene.schedules, expectation_of(*scene.choice.algorithm, scene.problems));
}

Step& step_of(Scene& scene, const checker::Mutant& mutant) {
  return scene.schedules[static_cast<std::size_t>(mutant.rank.value())]
      .schedule.steps[static_cast<std::size_t>(mutant.step)];
}

int faulty_steps(const nlohmann::json& json) {
  return static_cast<int>(
      std::ranges::count_if(json["fault"]["places"], [](const auto& place) { return place.contains("step"); }));
}

int occurrences(const std::string& text, const std::string& what) {
  int found = 0;
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + 1))
    ++found;
  return found;
}

/// Places in a fault are the ranks and steps in its text.
void expect_places_named(const checker::Verdict& verdict) {
  EXPECT_FALSE(verdict.positions.empty()) << verdict.fault;
  for (const auto& [rank, step] : verdict.positions) {
    EXPECT_THAT(verdict.fault, HasSubstr("rank " + std::to_string(rank.value())));
    if (step != checker::Fault::Position::whole_rank) {
      EXPECT_THAT(verdict.fault, HasSubstr("step " + std::to_string(step)));
    }
  }
}

void expect_shown(const Scene& scene) {
  expect_places_named(scene.verdict);
  const auto json = nlohmann::json::parse(to_json(scene, -1));
  EXPECT_EQ(json["fault"]["text"], scene.verdict.fault);
  EXPECT_EQ(json["fault"]["places"].size(), scene.verdict.positions.size());
  EXPECT_FALSE(json.contains("cost"));
  EXPECT_EQ(occurrences(to_dot(scene), "penwidth=4"), faulty_steps(json));
  try {
    EXPECT_THAT(to_svg(scene), HasSubstr("not proved: "));
  } catch (const apps::InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("cannot be drawn in time")) << "of a schedule without form";
  }
}

struct Subject {
  Collective collective;
  std::string algorithm;
};
class MutantsOf : public testing::TestWithParam<Subject> {};

TEST_P(MutantsOf, AreShown) {
  Scene scene = scene_of(GetParam().collective, GetParam().algorithm);
  ASSERT_TRUE(scene.verdict.proved());
  EXPECT_THAT(to_svg(scene), Not(HasSubstr("faulty")));
  int shown = 0;
  for (const checker::Mutant& mutant : mutants_of(scene.schedules)) {
    const Step before = std::exchange(step_of(scene, mutant), mutant.mutated);
    prove(scene);
    if (!scene.verdict.proved()) {
      expect_shown(scene);
      ++shown;
    }
    step_of(scene, mutant) = before;
  }
  EXPECT_GT(shown, 2);
}
INSTANTIATE_TEST_SUITE_P(Algorithms, MutantsOf,
                         testing::Values(Subject{Collective::allreduce, "ring"},
                                         Subject{Collective::allreduce, "rabenseifner"},
                                         Subject{Collective::broadcast, "chain/3"},
                                         Subject{Collective::alltoall, "bruck"}, Subject{Collective::scan, "linear"}),
                         [](const auto& info) {
                           return std::string{to_string(info.param.collective)} + "_" + std::to_string(info.index);
                         });

/// Only steps are played that wait for nothing that never comes.
TEST(Playback, GoesAsFarAsTheRanksGet) {
  Scene scene = scene_of(Collective::broadcast, "chain");
  const auto messages = playback_of(scene).messages.size();
  ASSERT_EQ(messages, 4U);
  auto& steps = scene.schedules[2].schedule.steps;
  const auto send = std::ranges::find_if(steps, [](const Step& s) { return std::holds_alternative<Send>(s.action); });
  ASSERT_NE(send, steps.end());
  std::get<Send>(send->action).to = Rank{0};  // not to rank 3, which waits for it
  prove(scene);
  ASSERT_FALSE(scene.verdict.proved());
  const Playback playback = playback_of(scene);
  EXPECT_EQ(playback.messages.size(), 2U);  // to ranks 1 and 2
  EXPECT_THAT(playback.stuck, testing::ElementsAre(0, 0, 1, 2, 1));
  EXPECT_THAT(to_svg(scene), testing::AllOf(HasSubstr("1 step stuck"), HasSubstr("2 steps stuck")));
}

TEST(Playback, MarksTheMessageOfAFault) {
  Scene scene = scene_of(Collective::allreduce, "ring");
  for (const checker::Mutant& mutant : mutants_of(scene.schedules)) {
    if (mutant.mutation != checker::Mutation::region_shifted || !std::holds_alternative<Recv>(mutant.mutated.action))
      continue;
    step_of(scene, mutant) = mutant.mutated;
    break;
  }
  prove(scene);
  ASSERT_FALSE(scene.verdict.proved());
  const bool names_message =
      std::ranges::any_of(scene.verdict.positions, [&](const checker::Fault::Position& position) {
        if (position.step == checker::Fault::Position::whole_rank) return false;
        const Action& action =
            scene.schedule_of(position.rank.value()).schedule.steps[static_cast<std::size_t>(position.step)].action;
        return std::holds_alternative<Send>(action) || std::holds_alternative<Recv>(action);
      });
  const Playback playback = playback_of(scene);
  EXPECT_EQ(std::ranges::any_of(playback.messages, &Message::is_faulty), names_message);
}

}  // namespace
}  // namespace tutti::tool
