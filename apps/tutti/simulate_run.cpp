#include "apps/tutti/simulate_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "apps/tutti/input.hpp"
#include "apps/tutti/scene.hpp"
#include "lib/core/schedule/passes.hpp"
#include "lib/core/selection/selection.hpp"
#include "lib/proof/simulator/exports.hpp"
#include "lib/proof/simulator/sequence.hpp"
#include "tutti/error.hpp"

namespace tutti::tool {
namespace {

using apps::InputError;

constexpr double in_microseconds = 1e-6;  // of picoseconds

/// A row takes longer than --limit.
struct TooLong {};

std::size_t at(int place) { return static_cast<std::size_t>(place); }

/// The messages of all ranks: no more than these.
double most_messages_of(const Choice& choice, const Problem& problem) {
  const Cost cost = cost_of(*choice.algorithm, problem);
  const double pieces =
      choice.segment > 0 ? 1 + static_cast<double>(cost.sent.value()) / static_cast<double>(choice.segment) : 1;
  return pieces * cost.messages * problem.size;
}

/// The links of each kind.
std::vector<LinkUse> uses_of(const simulator::Machine& machine, const simulator::Outcome& outcome) {
  const std::vector<simulator::Link>& links = machine.links();
  std::vector<LinkUse> uses;
  for (const std::string& kind : machine.kinds())
    uses.push_back({kind, {}});
  std::vector<int> busiest(uses.size(), -1);
  const bool has_time = outcome.time > 0;
  for (int link = 0; link < static_cast<int>(links.size()); ++link) {
    const simulator::Link& its = links[at(link)];
    if (its.from == its.to && its.from >= 0) continue;
    LinkUse& use = uses[at(its.kind)];
    const double bytes = outcome.carried[at(link)];
    use.links.push_back(link);
    use.shares.push_back(has_time ? bytes / its.rate / static_cast<double>(outcome.time) : 0);
    use.mean += use.shares.back();
    if (busiest[at(its.kind)] >= 0 && use.shares.back() <= use.share) continue;
    busiest[at(its.kind)] = link, use.bytes = bytes, use.share = use.shares.back();
  }
  for (std::size_t kind = 0; kind < uses.size(); ++kind) {
    if (busiest[kind] < 0) continue;
    uses[kind].busiest = machine.name_of(busiest[kind]);
    uses[kind].mean /= static_cast<double>(uses[kind].shares.size());
  }
  return uses;
}

ShownStep shown(const JoinedSchedules& joined, const simulator::PathStep& step, std::int64_t element) {
  const JoinedSchedules::Node& node = joined.nodes[at(step.step)];
  constexpr std::string_view names[] = {"send", "recv", "reduce", "copy"};
  ShownStep shown{node.rank, -1, step.is_start ? "start" : std::string{names[static_cast<std::size_t>(node.kind)]}};
  std::int64_t elements = step.is_start ? 0 : node.elements;
  if (node.partner >= 0 && !step.is_start) {
    const JoinedSchedules::Node& partner = joined.nodes[at(node.partner)];
    shown.peer = partner.rank;
    if (node.kind == JoinedSchedules::Kind::recv) elements = partner.elements;
  }
  shown.bytes = elements * element;
  shown.begin = static_cast<double>(step.begin) * in_microseconds;
  shown.end = static_cast<double>(step.end) * in_microseconds;
  for (const simulator::Time part : step.parts)
    shown.parts.push_back(static_cast<double>(part) * in_microseconds);
  return shown;
}

/// All steps but receives, whose sends say the same; from when they were ready. First the late starts.
std::vector<ShownStep> all_steps(const JoinedSchedules& joined, const simulator::Outcome& outcome,
                                 const simulator::Conditions& conditions) {
  std::vector<ShownStep> steps;
  for (std::size_t rank = 0; rank < conditions.late.size(); ++rank)
    if (const simulator::Time late = conditions.late[rank]; late > 0)
      steps.push_back({static_cast<int>(rank), -1, "start", 0, 0, static_cast<double>(late) * in_microseconds});
  for (int step = 0; step < joined.steps(); ++step) {
    const JoinedSchedules::Node& node = joined.nodes[at(step)];
    if (node.kind == JoinedSchedules::Kind::recv) continue;
    const int cause = outcome.cause[at(step)];
    const simulator::Time late = conditions.late.empty() ? 0 : conditions.late[at(node.rank)];
    const int last = node.kind == JoinedSchedules::Kind::send ? node.partner : step;
    steps.push_back(shown(joined, {step, cause < 0 ? late : outcome.end[at(cause)], outcome.end[at(last)], {}},
                          conditions.element));
  }
  return steps;
}

}  // namespace

/// The calls of a sequence, with their problems; or a file's schedules.
struct Experiment::Planned {
  struct Call {
    Choice choice;
    Problem problem;
  };
  std::vector<Call> calls{};
  std::unique_ptr<FiledScene> filed{};
  std::string name{}, why_not{};
};

Experiment::Experiment(const SimulationSettings& settings, const SimulatedMachine& machine)
    : settings_(settings), machine_(machine) {}

Problem Experiment::problem_of(Collective collective, std::int64_t bytes) const {
  Problem problem{Rank{0}, settings_.ranks, count_of(collective, settings_.ranks, bytes, settings_.element)};
  problem.collective = collective;
  problem.root = has_root(collective) ? Rank{settings_.root} : Rank{0};
  problem.nodes = machine_.nodes;
  problem.sockets = machine_.sockets;
  if (collective == Collective::barrier)
    problem.count = Count{0};
  else if (problem.count == Count{0})
    throw InputError(fmt::format("--bytes {}: {} ranks have less than an element of {} bytes each", bytes,
                                 settings_.ranks, settings_.element));
  return problem;
}

Choice Experiment::chosen(Collective collective, std::int64_t bytes) {
  Question question = blocking_call(collective, settings_.ranks, machine_.nodes, bytes);
  if (!site_) site_ = site_of(settings_.rules, question);
  question.files = &site_->files;
  return select(question, {}, site_->table()).choice;
}

Experiment::Planned Experiment::planned(const Candidate& candidate, std::int64_t bytes) {
  Planned planned;
  planned.name = candidate.name;
  if (candidate.file != nullptr) {
    const Collective collective = candidate.file->collective;
    const Problem problem = problem_of(collective, bytes);
    planned.filed = std::make_unique<FiledScene>(*candidate.file, problem.count, false, Unproved::refused);
    planned.calls.push_back({{}, problem});
    return planned;
  }
  const auto add = [&](const SimulatedCall& call, const std::optional<Choice>& given) {
    const Collective collective = read_collective(call.collective);
    const std::int64_t size = call.bytes > 0 ? call.bytes : bytes;
    Choice choice = given                      ? *given
                    : call.algorithm == "auto" ? chosen(collective, size)
                                               : read_algorithm(collective, call.algorithm);
    if (planned.calls.empty() && !candidate.choice) planned.name += ": " + to_text(choice);
    choice = in_elements(choice, settings_.element);
    Problem problem = problem_of(collective, size);
    problem.parameter = choice.parameter;
    planned.calls.push_back({choice, problem});
  };
  for (int repeat = 0; repeat < settings_.calls; ++repeat) {
    add({settings_.collective, "auto"}, candidate.choice);
    for (const SimulatedCall& call : settings_.then)
      add(call, std::nullopt);
  }
  double messages = 0;
  for (const auto& [choice, problem] : planned.calls)
    messages += most_messages_of(choice, problem);
  if (messages > static_cast<double>(most_messages)) planned.why_not = fmt::format("up to {:.3g} messages", messages);
  return planned;
}

JoinedSchedules Experiment::joined_schedules(const Planned& planned, const std::function<void()>& look) const {
  JoinedSchedules joined;
  for (int rank = 0; rank < settings_.ranks; ++rank) {
    look();
    if (planned.filed) {
      joined.add(planned.filed->scene().schedule_of(rank).schedule);
      continue;
    }
    simulator::Sequence calls;
    for (auto [choice, problem] : planned.calls) {
      problem.rank = Rank{rank};
      calls.add(built(*choice.algorithm, problem, Count{choice.segment}));
      look();
    }
    joined.add(calls.schedule());
  }
  return joined;
}

void Experiment::run(const Planned& plan, bool with_steps, const std::function<void()>& look, SimulatedRow& row) const {
  const JoinedSchedules joined = joined_schedules(plan, look);
  const simulator::Outcome outcome = simulate(joined, machine_.machine, machine_.conditions, look);
  row.time = static_cast<double>(outcome.time) * in_microseconds;
  row.contention = outcome.contention();
  row.messages = std::ranges::count(joined.nodes, JoinedSchedules::Kind::send,
                                    [](const JoinedSchedules::Node& node) { return node.kind; });
  row.links = uses_of(machine_.machine, outcome);
  const auto path = simulator::critical_path(joined, machine_.machine, machine_.conditions, outcome);
  for (const simulator::PathStep& step : path)
    row.path.push_back(shown(joined, step, settings_.element));
  for (const simulator::Time part : simulator::sum_of(path))
    row.parts.push_back(static_cast<double>(part) * in_microseconds);
  if (with_steps) row.steps = all_steps(joined, outcome, machine_.conditions);
}

SimulatedRow Experiment::row(const Candidate& candidate, std::int64_t bytes, bool with_steps,
                             const std::function<void()>& look) try {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const Planned plan = planned(candidate, bytes);
  SimulatedRow row{bytes, plan.name, plan.why_not};
  simulator::Bound bound;
  for (const auto& [choice, problem] : plan.calls)
    if (simulator::Bound its = simulator::lower_bound(machine_.machine, problem, machine_.conditions);
        its.time >= bound.time)
      bound = std::move(its);
  row.bound = static_cast<double>(bound.time) * in_microseconds, row.bound_reason = bound.reason;
  if (!row.why_not.empty()) return row;
  try {
    run(
        plan, with_steps,
        [&] {
          look();
          const std::chrono::duration<double> used = Clock::now() - begin;
          if (settings_.limit > 0 && used.count() > settings_.limit) throw TooLong{};
        },
        row);
  } catch (const TooLong&) {
    row.why_not = fmt::format("longer than {:g} s (--limit)", settings_.limit);
  }
  return row;
} catch (const std::logic_error& error) {
  throw InputError(fmt::format("{}, {} bytes: {}", candidate.name, bytes, error.what()));
} catch (const ArgumentError& error) {  // of routes, which a topology's file may lack
  throw InputError(fmt::format("--topology {}: {}", settings_.topology, error.what()));
}

void Experiment::export_goal(const Candidate& candidate, std::int64_t bytes,
                             const std::function<void(std::string_view)>& write) {
  const Planned plan = planned(candidate, bytes);
  if (!plan.why_not.empty()) throw InputError(fmt::format("--export: {}; allowed: {}", plan.why_not, most_messages));
  simulator::write_goal(joined_schedules(plan, [] {}), machine_.rates, settings_.element, write);
}

}  // namespace tutti::tool
