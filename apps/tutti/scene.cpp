#include "apps/tutti/scene.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "apps/options.hpp"
#include "lib/core/schedule/passes.hpp"
#include "lib/proof/checker/expectation.hpp"
#include "tutti/error.hpp"

namespace tutti::tool {
namespace {

checker::RankSchedules schedules_of(const checker::Problems& problems, const checker::Case& what,
                                    const std::function<Schedule(const Problem& problem)>& build) {
  checker::RankSchedules schedules;
  for (int rank = 0; rank < problems.size(); ++rank) {
    const Problem& problem = problems.of(Rank{rank});
    const auto [input, output] = shape_of(problem);
    Schedule schedule = build(problem);
    schedules.push_back(
        {input, output, problem.aliasing, what.is_fused ? fused(std::move(schedule)) : std::move(schedule)});
  }
  return schedules;
}

}  // namespace

Scene::Scene(const Choice& choice, const checker::Case& what, Unproved unproved)
    : choice(choice),
      what(what),
      problems(*choice.algorithm, what),
      schedules(checker::schedules_of(*choice.algorithm, problems, what)),
      verdict(checker::prove(schedules, checker::expectation_of(*choice.algorithm, problems))) {
  if (!verdict.proved() && unproved == Unproved::refused)
    throw std::runtime_error(fmt::format("{}: not proved: {} (--unproved shows the schedule)", title(), verdict.fault));
  cost = busiest(verdict.costs);
}

Scene::Scene(const Choice& choice, const checker::Case& what,
             const std::function<Schedule(const Problem& problem)>& build)
    : choice(choice),
      what(what),
      problems(*choice.algorithm, what),
      schedules(tool::schedules_of(problems, what, build)),
      verdict(checker::prove(schedules, checker::expectation_of(*choice.algorithm, problems))) {
  cost = busiest(verdict.costs);
}

namespace {

std::string name_of(const ScheduleFile& file) { return file.algorithm.empty() ? file.path : file.algorithm; }

checker::Case case_of(const ScheduleFile& file, Count count, bool is_fused) {
  checker::Case what{.size = file.ranks, .count = count, .root = file.root};
  what.placement = file.is_in_place ? checker::Placement::in_place : checker::Placement::separate;
  what.is_fused = is_fused;
  what.nodes = spread_of(file);
  return what;
}

}  // namespace

FiledScene::FiledScene(const ScheduleFile& file, Count count, bool is_fused, Unproved unproved)
    : algorithm_(file, name_of(file)) {
  // First a chunk an element: what is proved then can be scaled, and fused.
  const Count chunks = file.collective == Collective::barrier ? Count{0} : Count{file.chunks};
  const Choice choice{&algorithm_.algorithm()};
  const auto show = [&](Count its, bool is_joined) {
    scene_.emplace(choice, case_of(file, its, is_joined), Unproved::shown);
    scene_->least_bytes = file.least_bytes;
    scene_->most_bytes = file.most_bytes;
  };
  show(chunks, false);
  const bool is_proved = scene_->verdict.proved();
  if (!is_proved && unproved == Unproved::refused)
    throw apps::InputError(
        fmt::format("{}: not proved: {} (--unproved shows the schedule)", file.path, scene_->verdict.fault));
  if (file.collective == Collective::barrier) count = chunks;
  if (!is_proved || (count == chunks && !is_fused)) return;
  algorithm_.find_chunks();
  if (const std::string why = algorithm_.why_unfit(count); !why.empty())
    throw apps::InputError(fmt::format("{}: {}", file.path, why));
  show(count, is_fused);
}

bool Scene::names(int rank) const {
  return std::ranges::count(verdict.positions, Rank{rank}, &checker::Fault::Position::rank) > 0;
}

bool Scene::is_faulty(int rank, int step) const {
  return std::ranges::count(verdict.positions, checker::Fault::Position{Rank{rank}, step}) > 0;
}

std::string Scene::title() const {
  checker::Case shown = what;  // the choice says the rest
  shown.parameter = 0;
  shown.segment = Count{0};
  std::string problem = to_text(shown);
  if (const auto separate = problem.find(", separate"); separate != std::string::npos)
    problem.erase(separate, std::string_view{", separate"}.size());
  const std::string_view parameter = choice.algorithm->parameter.name;
  if (!parameter.empty()) problem += fmt::format(", {} {}", parameter, choice.parameter);
  return fmt::format("{} {}, {}", to_string(choice.algorithm->collective), to_text(choice), problem);
}

std::string Scene::cost_text() const {
  if (!verdict.proved()) return fmt::format("not proved: {}", verdict.fault);
  const auto plural = [](int count, std::string_view thing) {
    return fmt::format("{} {}{}", count, thing, count == 1 ? "" : "s");
  };
  return fmt::format("busiest rank: {} in {}, {} elements sent, {} reduced, {} copied, {} of scratch",
                     plural(cost.messages, "message"), plural(cost.rounds, "round"), cost.sent.value(),
                     cost.reduced.value(), cost.copied.value(), cost.scratch.value());
}

void require_drawable(const Scene& scene) {
  constexpr std::size_t most_steps_drawn = 20'000;
  std::size_t steps = 0;
  for (const checker::RankSchedule& own : scene.schedules)
    steps += own.schedule.steps.size();
  if (steps > most_steps_drawn)
    throw apps::InputError(fmt::format("{} steps are too many to draw, {} are not", steps, most_steps_drawn));
}

}  // namespace tutti::tool
