#include <algorithm>
#include <cassert>
#include <cstddef>
#include <utility>

#include "lib/core/plan/compile.hpp"

namespace tutti {
namespace {

/// Puts the steps of these numbers one after the other: all there are, each behind those that it waits for.
void reorder(std::vector<CompiledStep>& steps, Dependencies& after, const std::vector<std::size_t>& order) {
  std::vector<int> place(order.size());
  for (std::size_t i = 0; i < order.size(); ++i)
    place[order[i]] = static_cast<int>(i);
  std::vector<CompiledStep> ordered;
  Dependencies ordered_after;
  for (const std::size_t step : order) {
    ordered.push_back(steps[step]);
    std::vector<int>& its = ordered_after.emplace_back();
    for (const int before : after[step])
      its.push_back(place[static_cast<std::size_t>(before)]);
  }
  steps = std::move(ordered);
  after = std::move(ordered_after);
}

}  // namespace

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
  std::vector<bool> is_placed(n);
  for (std::size_t i = 0; i < n; ++i)
    assert(std::ranges::all_of(after[i], [i](int before) { return before < static_cast<int>(i); }));
  const auto is_ready = [&](std::size_t i) {
    return std::ranges::all_of(after[i], [&](int before) { return is_placed[static_cast<std::size_t>(before)]; });
  };
  const auto next = [&](std::size_t from, bool sends) {
    while (from < n && (steps[from].verb == Verb::send) != sends)
      ++from;
    return from;
  };
  std::vector<std::size_t> order;
  // One of two steps waits for neither: the first send left or the first other step left, whichever was before.
  for (std::size_t send = next(0, true), other = next(0, false); order.size() < n;) {
    const bool sends = send < n && is_ready(send);
    std::size_t& chosen = sends ? send : other;
    is_placed[chosen] = true;
    order.push_back(chosen);
    chosen = next(chosen + 1, sends);
  }
  reorder(steps, after, order);
}

void put_receives_before_copies(std::vector<CompiledStep>& steps, Dependencies& after) {
  std::vector<std::size_t> order, copies;  // those copies that may yet be preceded
  const auto append_copies = [&] {
    order.insert(order.end(), copies.begin(), copies.end());
    copies.clear();
  };
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const bool waits = steps[i].verb != Verb::recv || !after[i].empty();
    if (steps[i].verb == Verb::copy) {
      copies.push_back(i);
      continue;
    }
    if (waits) append_copies();
    order.push_back(i);
  }
  append_copies();
  reorder(steps, after, order);
}

}  // namespace tutti
