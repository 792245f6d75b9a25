#include "lib/engine/step_order.hpp"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <utility>

namespace tutti {

bool starts_in_order(const Dependencies& after) {
  const std::size_t n = after.size();
  constexpr std::size_t worth_proving = 512;  // longer plans gain nothing that shows
  if (n > worth_proving) return false;
  std::vector<std::vector<bool>> completed(n, std::vector<bool>(n));  // [i][j]: j has completed before i starts
  for (std::size_t i = 0; i < n; ++i)
    for (const int before : after[i]) {
      const auto j = static_cast<std::size_t>(before);
      if (j > i) return false;
      completed[i][j] = true;
      for (std::size_t k = 0; k < j; ++k)
        if (completed[j][k]) completed[i][k] = true;
    }
  for (std::size_t i = 0; i + 1 < n; ++i)
    for (const int before : after[i])
      if (!completed[i + 1][static_cast<std::size_t>(before)]) return false;
  return true;
}

void put_sends_first(std::vector<CompiledStep>& steps, Dependencies& after) {
  const std::size_t n = steps.size();
  std::vector<int> place(n, -1);
  for (std::size_t i = 0; i < n; ++i)
    assert(std::ranges::all_of(after[i], [i](int before) { return before < static_cast<int>(i); }));
  const auto is_ready = [&](std::size_t i) {
    return std::ranges::all_of(after[i], [&](int before) { return place[static_cast<std::size_t>(before)] >= 0; });
  };
  const auto next = [&](std::size_t from, bool sends) {
    while (from < n && (steps[from].verb == Verb::send) != sends)
      ++from;
    return from;
  };
  std::vector<CompiledStep> ordered;
  Dependencies ordered_after;
  // Of the first send left and the first other step left, the one that was before the other waits for neither.
  for (std::size_t send = next(0, true), other = next(0, false); ordered.size() < n;) {
    const bool sends = send < n && is_ready(send);
    std::size_t& chosen = sends ? send : other;
    place[chosen] = static_cast<int>(ordered.size());
    ordered.push_back(steps[chosen]);
    std::vector<int>& its = ordered_after.emplace_back();
    for (const int before : after[chosen])
      its.push_back(place[static_cast<std::size_t>(before)]);
    chosen = next(chosen + 1, sends);
  }
  steps = std::move(ordered);
  after = std::move(ordered_after);
}

}  // namespace tutti
