#include "lib/device/staging/growing_plan.hpp"

#include <algorithm>
#include <utility>

namespace tutti::device {

std::vector<Access> accesses_of(const CompiledPlan& plan, const CompiledStep& step) {
  if (step.bytes == 0) return {};
  const auto bytes_at = [&](std::int64_t at) { return Interval{at, at + step.bytes}; };
  const Access lhs{step.lhs, bytes_at(step.lhs_at)}, rhs{step.rhs, bytes_at(step.rhs_at)};
  const Access into{step.into, bytes_at(step.into_at), true};
  switch (step.verb) {
    case Verb::send:
      return {lhs};
    case Verb::recv:
      return {into};
    case Verb::copy:
      return {lhs, into};
    case Verb::reduce:
      return {lhs, rhs, into};
    case Verb::combine: {
      std::vector<Access> all;
      for (const auto& [buffer, at] : plan.operands[static_cast<std::size_t>(step.operands)])
        all.push_back({buffer, bytes_at(at)});
      all.push_back(into);
      return all;
    }
    case Verb::recv_reduce:
    case Verb::recv_then_reduce:
      break;
  }
  Access read = lhs, landing = rhs;
  if (step.lands_left) std::swap(read, landing);
  landing.writes = true;
  return {read, landing, into};
}

int GrowingPlan::add_fetch(int device, Buffer from, std::int64_t from_at, std::int64_t staging_at, std::int64_t bytes,
                           std::vector<int> after) {
  plan_.staging.moved += bytes;
  return add({.verb = Verb::recv,
              .transport = Transport::device,
              .lhs = from,
              .into = staging_buffer,
              .peer = device,
              .lhs_at = from_at,
              .into_at = staging_at,
              .bytes = bytes},
             std::move(after));
}

int GrowingPlan::add_store(int device, std::int64_t staging_at, Buffer into, std::int64_t into_at, std::int64_t bytes,
                           std::vector<int> after) {
  plan_.staging.moved += bytes;
  return add({.verb = Verb::send,
              .transport = Transport::device,
              .lhs = staging_buffer,
              .into = into,
              .peer = device,
              .lhs_at = staging_at,
              .into_at = into_at,
              .bytes = bytes},
             std::move(after));
}

shm::SharedPlan GrowingPlan::finished() && {
  for (std::vector<int>& before : after_) {
    std::ranges::sort(before);
    before.erase(std::unique(before.begin(), before.end()), before.end());
  }
  set_dependencies(plan_, after_);
  plan_.transports[static_cast<std::size_t>(Transport::device)] = std::ranges::any_of(
      plan_.steps, [](const CompiledStep& step) { return step.is_message() && step.transport == Transport::device; });
  plan_.in_order = false;
  plan_.takes_fast_path = false;
  return std::move(plan_);
}

}  // namespace tutti::device
