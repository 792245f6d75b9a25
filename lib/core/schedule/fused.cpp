#include <algorithm>
#include <utility>

#include "lib/core/schedule/passes.hpp"
#include "lib/core/schedule/regions.hpp"

namespace tutti {
namespace {

bool reads(const Action& action, const Region& region) {
  const auto touches = [&](const Region& other) { return overlap(region, other); };
  if (const auto* send = std::get_if<Send>(&action)) return std::ranges::any_of(send->from, touches);
  if (const auto* reduce = std::get_if<Reduce>(&action)) return touches(reduce->lhs) || touches(reduce->rhs);
  if (const auto* copy = std::get_if<Copy>(&action)) return touches(copy->from);
  return false;
}

class Fuser {
 public:
  explicit Fuser(Schedule& schedule)
      : steps_(schedule.steps), dependents_(steps_.size()), reduction_(steps_.size(), -1), seen_(steps_.size()) {
    for (std::size_t i = 0; i < steps_.size(); ++i)
      for (const int before : steps_[i].after)
        dependents_[index(before)].push_back(static_cast<int>(i));
  }

  void fuse() {
    for (int step = 0; step < static_cast<int>(steps_.size()); ++step)
      if (const int recv = partner_of(step); recv >= 0) {
        std::get<Recv>(steps_[index(recv)].action).then = std::get<Reduce>(steps_[index(step)].action);
        reduction_[index(step)] = recv;
      }
    drop_reductions();
  }

 private:
  static std::size_t index(int step) { return static_cast<std::size_t>(step); }

  /// The receive that the reduction `step` can be part of; -1: none.
  [[nodiscard]] int partner_of(int step) {
    const auto* reduce = std::get_if<Reduce>(&steps_[index(step)].action);
    if (reduce == nullptr || reduce->lhs == reduce->rhs) return -1;
    for (const int before : steps_[index(step)].after) {
      const auto* recv = std::get_if<Recv>(&steps_[index(before)].action);
      if (recv == nullptr || recv->then || recv->into.size() != 1) continue;
      const Region& landing = recv->into[0];
      const bool is_operand = landing.buffer == Buffer::scratch && (reduce->lhs == landing || reduce->rhs == landing);
      if (is_operand && alone_uses(step, before, landing) && waits_for_nothing_else(step, before)) return before;
    }
    return -1;
  }

  [[nodiscard]] bool alone_uses(int step, int recv, const Region& landing) const {
    return std::ranges::none_of(dependents_[index(recv)], [&](int other) {
      return other != step && reads(steps_[index(other)].action, landing);
    });
  }

  /// Whether all else that the reduction waits for has completed when the receive starts.
  [[nodiscard]] bool waits_for_nothing_else(int step, int recv) {
    return std::ranges::all_of(steps_[index(step)].after,
                               [&](int before) { return before == recv || precedes(before, recv); });
  }

  [[nodiscard]] bool precedes(int earlier, int later) {
    rest_.assign(1, later);
    ++search_;
    while (!rest_.empty()) {
      const std::vector<int>& after = steps_[index(rest_.back())].after;
      rest_.pop_back();
      if (std::ranges::binary_search(after, earlier)) return true;
      for (const int before : after) {
        if (before < earlier || seen_[index(before)] == search_) continue;
        seen_[index(before)] = search_;
        rest_.push_back(before);
      }
    }
    return false;
  }

  /// Drops the reductions: steps that waited for one now wait for the receive that it is part of.
  void drop_reductions() {
    std::vector<int> number(steps_.size());
    std::vector<Step> kept;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (reduction_[i] >= 0) {
        number[i] = number[index(reduction_[i])];
        continue;
      }
      number[i] = static_cast<int>(kept.size());
      kept.push_back(std::move(steps_[i]));
      std::vector<int>& after = kept.back().after;
      for (int& before : after)
        before = number[index(before)];
      std::ranges::sort(after);
      after.erase(std::unique(after.begin(), after.end()), after.end());
    }
    steps_ = std::move(kept);
  }

  std::vector<Step>& steps_;
  std::vector<std::vector<int>> dependents_;
  std::vector<int> reduction_;  ///< The receive that a reduction became part of.
  std::vector<int> rest_;       ///< The steps that the search has still to look at.
  std::vector<int> seen_;       ///< By step: the number of the last search that saw it.
  int search_ = 0;
};

}  // namespace

Schedule fused(Schedule schedule) {
  Fuser{schedule}.fuse();
  return schedule;
}

Schedule mapped(Schedule schedule, const Group& group) {
  for (Step& step : schedule.steps) {
    if (auto* send = std::get_if<Send>(&step.action)) send->to = group.at(send->to.value());
    if (auto* recv = std::get_if<Recv>(&step.action)) recv->from = group.at(recv->from.value());
  }
  return schedule;
}

}  // namespace tutti
