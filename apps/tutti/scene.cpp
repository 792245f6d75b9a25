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
  cost = checker::busiest(verdict.costs);
}

Scene::Scene(const Choice& choice, const checker::Case& what,
             const std::function<Schedule(const Problem& problem)>& build, bool has_same_bits)
    : choice(choice),
      what(what),
      problems(*choice.algorithm, what),
      schedules(tool::schedules_of(problems, what, build)) {
  checker::Expectation expectation = checker::expectation_of(*choice.algorithm, problems);
  expectation.has_same_bits = has_same_bits;
  verdict = checker::prove(schedules, expectation);
  cost = checker::busiest(verdict.costs);
}

FiledScene::FiledScene(ScheduleFile file, Count count, bool is_fused, Unproved unproved) : file_(std::move(file)) {
  entry_.collective = file_.collective;
  entry_.name = file_.algorithm.empty() ? file_.path : file_.algorithm;
  entry_.order = file_.is_commutative ? Order::any : Order::of_ranks;
  entry_.summary = file_.title;
  entry_.source = file_.source;
  // First a chunk an element: what is proved then can be scaled, and fused.
  const Count chunks = file_.collective == Collective::barrier ? Count{0} : Count{file_.chunks};
  prove(chunks, false);
  const bool is_proved = scene_->verdict.proved();
  if (!is_proved && unproved == Unproved::refused)
    throw apps::InputError(
        fmt::format("{}: not proved: {} (--unproved shows the schedule)", file_.path, scene_->verdict.fault));
  if (file_.collective == Collective::barrier) count = chunks;
  if (is_proved && (count != chunks || is_fused)) prove(count, is_fused);
}

void FiledScene::prove(Count count, bool is_fused) try {
  checker::Case what{.size = file_.ranks, .count = count};
  what.placement = file_.is_in_place ? checker::Placement::in_place : checker::Placement::separate;
  what.root = file_.root;
  what.is_fused = is_fused;
  for (int node = 0; const int ranks : file_.nodes)
    what.nodes.insert(what.nodes.end(), static_cast<std::size_t>(ranks), node++);
  const bool is_plain = file_.collective == Collective::barrier || count == Count{file_.chunks};
  const std::vector<Schedule> schedules = is_plain ? file_.schedules : scaled(file_, count);
  const auto build = [&](const Problem& problem) { return schedules[static_cast<std::size_t>(problem.rank.value())]; };
  scene_.emplace(Choice{&entry_}, what, build, file_.has_same_bits);
} catch (const ArgumentError& error) {
  throw apps::InputError(error.what());
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
  return fmt::format("busiest rank: {} messages in {} rounds, {} elements sent, {} reduced, {} copied, {} of scratch",
                     cost.messages, cost.rounds, cost.sent.value(), cost.reduced.value(), cost.copied.value(),
                     cost.scratch.value());
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
