#include "apps/tutti/playback.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include "apps/options.hpp"
#include "lib/proof/checker/form.hpp"
#include "lib/proof/checker/graph.hpp"

namespace tutti::tool {
namespace {

/// The ranks of a message, and its number.
using Name = std::tuple<int, int, int>;
Name name_of(int rank, const Send& send) { return {rank, send.to.value(), send.message}; }
Name name_of(int rank, const Recv& recv) { return {recv.from.value(), rank, recv.message}; }

/// Runs all steps that can run, in any order: which they are does not depend on it.
class Standstill {
 public:
  explicit Standstill(const checker::RankSchedules& schedules) : schedules_(schedules) {
    for (int rank = 0; rank < static_cast<int>(schedules.size()); ++rank) {
      done_.emplace_back(schedule(rank).steps.size());
      for (int step = 0; const Step& each : schedule(rank).steps) {
        if (const auto* recv = std::get_if<Recv>(&each.action)) receives_[name_of(rank, *recv)] = {rank, step};
        ++step;
      }
    }
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (int rank = 0; rank < static_cast<int>(schedules.size()); ++rank)
        for (int step = 0; step < static_cast<int>(schedule(rank).steps.size()); ++step)
          goes_on = run(rank, step) || goes_on;
    }
  }
  [[nodiscard]] bool is_done(int rank, int step) const {
    return done_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(step)];
  }

 private:
  [[nodiscard]] const Schedule& schedule(int rank) const { return schedules_[static_cast<std::size_t>(rank)].schedule; }
  [[nodiscard]] const Step& at(int rank, int step) const {
    return schedule(rank).steps[static_cast<std::size_t>(step)];
  }
  [[nodiscard]] bool can_start(int rank, int step) const {
    return !is_done(rank, step) &&
           std::ranges::all_of(at(rank, step).after, [&](int before) { return is_done(rank, before); });
  }
  void complete(int rank, int step) { done_[static_cast<std::size_t>(rank)][static_cast<std::size_t>(step)] = true; }

  /// A receive is done with its send. Whether anything was done.
  bool run(int rank, int step) {
    const Action& action = at(rank, step).action;
    if (std::holds_alternative<Recv>(action) || !can_start(rank, step)) return false;
    if (const auto* send = std::get_if<Send>(&action)) {
      const auto found = receives_.find(name_of(rank, *send));
      if (found == receives_.end()) return false;
      const auto [peer, recv] = found->second;
      const auto& into = std::get<Recv>(at(peer, recv).action).into;
      if (!can_start(peer, recv) || checker::total(into) != checker::total(send->from)) return false;
      complete(peer, recv);
    }
    complete(rank, step);
    return true;
  }

  const checker::RankSchedules& schedules_;
  std::map<Name, std::pair<int, int>> receives_;
  std::vector<std::vector<bool>> done_;
};

/// Numbers the messages of each pair from 0 again, where some are left out: both of their ends are.
void number_messages(checker::RankSchedules& schedules) {
  std::map<std::pair<int, int>, std::map<int, int>> numbers;  // by their old ones
  const auto for_each_message = [&](auto visit) {
    for (int rank = 0; checker::RankSchedule & own : schedules) {
      for (Step& step : own.schedule.steps) {
        if (auto* send = std::get_if<Send>(&step.action)) visit(std::pair{rank, send->to.value()}, send->message);
        if (auto* recv = std::get_if<Recv>(&step.action)) visit(std::pair{recv->from.value(), rank}, recv->message);
      }
      ++rank;
    }
  };
  for_each_message([&](const auto& pair, int number) { numbers[pair][number] = 0; });
  for (auto& [pair, of_pair] : numbers)
    for (int next = 0; auto& [before, after] : of_pair)
      after = next++;
  for_each_message([&](const auto& pair, int& number) { number = numbers[pair][number]; });
}

}  // namespace

Playable playable_of(const Scene& scene) try {
  checker::require_form(scene.schedules);
  const Standstill standstill{scene.schedules};
  Playable played{scene.schedules, {}};
  for (int rank = 0; checker::RankSchedule & own : played.schedules) {
    std::vector<Step> steps;
    std::vector<int> before, after(own.schedule.steps.size());  // the numbers
    for (int number = 0; Step & step : own.schedule.steps) {
      if (standstill.is_done(rank, number)) {
        for (int& other : step.after)
          other = after[static_cast<std::size_t>(other)];
        after[static_cast<std::size_t>(number)] = static_cast<int>(steps.size());
        before.push_back(number);
        steps.push_back(std::move(step));
      }
      ++number;
    }
    own.schedule.steps = std::move(steps);
    played.steps.push_back(std::move(before));
    ++rank;
  }
  number_messages(played.schedules);
  static_cast<void>(checker::Graph{played.schedules});  // pairs may number their messages against the order of steps
  return played;
} catch (const checker::Fault& fault) {
  throw apps::InputError(fmt::format("{}: cannot be drawn in time; allowed: --format text, json, dot", fault.text));
}

}  // namespace tutti::tool
