#include "mutants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "fault.hpp"
#include "lib/core/schedule/text.hpp"
#include "random_run.hpp"

namespace tutti::checker {
namespace {

std::vector<Region*> regions_of(Action& action) {
  std::vector<Region*> regions;
  const auto list = [&](Region& region) { regions.push_back(&region); };
  for_each_read(action, list);
  for_each_write(action, list);
  return regions;
}

/// The mutants of one step.
class Mutants {
 public:
  Mutants(std::vector<Mutant>& mutants, const RankSchedule& own, Rank rank, int step)
      : mutants_(mutants), own_(own), rank_(rank), step_(step) {}

  void delete_edges() {
    for (std::size_t edge = 0; edge < original().after.size(); ++edge) {
      Step mutated = original();
      mutated.after.erase(mutated.after.begin() + static_cast<std::ptrdiff_t>(edge));
      add(Mutation::edge_deleted, mutated, fmt::format("no longer waits for step {}", original().after[edge]));
    }
  }

  void shift_regions() {
    Step mutated = original();
    for (Region* region : regions_of(mutated.action)) {
      const Region before = *region;
      for (const Count distance : {Count{1}, Count{-1}}) {
        region->offset = before.offset + distance;
        if (region->offset >= Count{0} && region->offset + region->count <= size_of(own_, region->buffer))
          add(Mutation::region_shifted, mutated, fmt::format("{} becomes {}", to_text(before), to_text(*region)));
      }
      *region = before;
    }
  }

  void swap_operands() {
    Step mutated = original();
    auto* reduce = std::get_if<Reduce>(&mutated.action);
    if (reduce == nullptr) return;
    std::swap(reduce->lhs, reduce->rhs);
    add(Mutation::operands_swapped, mutated, "operands swapped");
  }

 private:
  [[nodiscard]] const Step& original() const { return own_.schedule.steps[static_cast<std::size_t>(step_)]; }

  void add(Mutation mutation, Step mutated, const std::string& change) {
    mutants_.push_back({mutation, rank_, step_, std::move(mutated),
                        fmt::format("{}: {}", where(rank_, step_, original().action), change)});
  }

  std::vector<Mutant>& mutants_;
  const RankSchedule& own_;
  Rank rank_;
  int step_;
};

/// Whether `later` follows `earlier` in a schedule: a plain search back along the edges.
bool follows(const Schedule& schedule, int later, int earlier) {
  std::vector<bool> seen(schedule.steps.size());
  std::vector<int> rest{later};
  while (!rest.empty()) {
    const int step = rest.back();
    rest.pop_back();
    if (step == earlier) return true;
    if (seen[static_cast<std::size_t>(step)]) continue;
    seen[static_cast<std::size_t>(step)] = true;
    const std::vector<int>& after = schedule.steps[static_cast<std::size_t>(step)].after;
    rest.insert(rest.end(), after.begin(), after.end());
  }
  return false;
}

std::vector<Value> outputs_of(const RankSchedules& schedules, Values& values) {
  constexpr std::uint64_t seed = 1;
  Memory memory{schedules, values};
  run_at_random(seed, Graph{schedules}, memory, values);
  std::vector<Value> outputs;
  for (int rank = 0; rank < static_cast<int>(schedules.size()); ++rank)
    for (const Value value : memory.output(Rank{rank}))
      outputs.push_back(value);
  return outputs;
}

/// Whether outputs differ at most in the order of operands, and those that were the same expression still are.
bool differ_in_order_only(const RankSchedules& original, const RankSchedules& mutated) {
  Values values{original};
  const std::vector<Value> before = outputs_of(original, values), after = outputs_of(mutated, values);
  std::map<Value, Value> now;
  for (std::size_t i = 0; i < before.size(); ++i)
    if (values.commuted(before[i]) != values.commuted(after[i]) ||
        now.try_emplace(before[i], after[i]).first->second != after[i])
      return false;
  return before.size() == after.size();
}

bool implied(const Mutant& mutant, const RankSchedules& original, const RankSchedules& mutated) {
  const auto rank = static_cast<std::size_t>(mutant.rank.value());
  const std::vector<int>& after = original[rank].schedule.steps[static_cast<std::size_t>(mutant.step)].after;
  return std::ranges::all_of(after, [&](int before) { return follows(mutated[rank].schedule, mutant.step, before); });
}

bool conflict(const RankSchedule& own, const Action& earlier, const Action& later) {
  const auto any = [](const Action& action, const auto& each_of, const auto& holds) {
    bool found = false;
    each_of(action, [&](const Region& region) { found = found || holds(region); });
    return found;
  };
  const auto reads = [](const Action& action, const auto& visit) { for_each_read(action, visit); };
  const auto writes = [](const Action& action, const auto& visit) { for_each_write(action, visit); };
  const auto touches = [&](const Action& action, const auto& each_of, const Region& region) {
    return any(action, each_of,
               [&](const Region& other) { return overlap(located(own, region), located(own, other)); });
  };
  return any(earlier, writes,
             [&](const Region& region) { return touches(later, reads, region) || touches(later, writes, region); }) ||
         any(earlier, reads, [&](const Region& region) { return touches(later, writes, region); });
}

/// Whether steps of a rank that touch the same elements follow one another as they are written.
bool keeps_order_of_conflicts(const RankSchedule& own) {
  const std::vector<Step>& steps = own.schedule.steps;
  for (std::size_t later = 0; later < steps.size(); ++later)
    for (std::size_t earlier = 0; earlier < later; ++earlier)
      if (conflict(own, steps[earlier].action, steps[later].action) &&
          !follows(own.schedule, static_cast<int>(later), static_cast<int>(earlier)))
        return false;
  return true;
}

/// The ranks that must have started before all steps of `rank` are completed.
std::set<Rank> heard_of(const Graph& graph, Rank rank) {
  std::set<Rank> heard;
  std::set<int> seen;
  std::vector<int> rest;
  for (int step = 0; step < graph.steps(); ++step)
    if (graph.rank(step) == rank) rest.push_back(step);
  while (!rest.empty()) {
    const int step = rest.back();
    rest.pop_back();
    heard.insert(graph.rank(step));
    if (!seen.insert(step).second) continue;
    for (const int before : graph.step(step).after)
      rest.push_back(step - graph.local(step) + before);
    if (std::holds_alternative<Recv>(graph.step(step).action)) rest.push_back(graph.partner(step));
  }
  return heard;
}

bool meets(const RankSchedules& schedules) {
  const Graph graph{schedules};
  for (int rank = 0; rank < static_cast<int>(schedules.size()); ++rank)
    if (heard_of(graph, Rank{rank}).size() < schedules.size()) return false;
  return true;
}

}  // namespace

std::string_view to_string(Mutation mutation) {
  switch (mutation) {
    case Mutation::edge_deleted:
      return "edge deleted";
    case Mutation::region_shifted:
      return "region shifted";
    case Mutation::operands_swapped:
      return "operands swapped";
  }
  return "?";
}

std::vector<Mutant> mutants_of(const RankSchedules& schedules) {
  std::vector<Mutant> mutants;
  for (int rank = 0; const RankSchedule& own : schedules) {
    for (int step = 0; step < static_cast<int>(own.schedule.steps.size()); ++step) {
      Mutants of_step{mutants, own, Rank{rank}, step};
      of_step.delete_edges();
      of_step.shift_regions();
      of_step.swap_operands();
    }
    ++rank;
  }
  return mutants;
}

std::optional<std::string> equivalence(const Mutant& mutant, const RankSchedules& original,
                                       const RankSchedules& mutated, const Expectation& expectation) {
  const RankSchedule& own = mutated[static_cast<std::size_t>(mutant.rank.value())];
  if (mutant.mutation == Mutation::edge_deleted) {
    if (implied(mutant, original, mutated)) return "the rank's other edges imply the deleted one";
    if (expectation.synchronizes && meets(mutated)) return "every rank still hears of every other before it leaves";
    if (!expectation.synchronizes && keeps_order_of_conflicts(own)) return "the deleted edge only paces";
  }
  if (mutant.mutation == Mutation::operands_swapped && expectation.order == Order::any &&
      differ_in_order_only(original, mutated))
    return "the operation commutes, and else every output is the same expression";
  return std::nullopt;
}

}  // namespace tutti::checker
