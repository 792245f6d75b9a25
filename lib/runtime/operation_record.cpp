#include "lib/runtime/operation_record.hpp"

#include <algorithm>
#include <bit>
#include <numeric>

#include "lib/runtime/communicator_state.hpp"
#include "lib/runtime/plan_cache.hpp"
#include "tutti/algorithm.hpp"

namespace tutti::detail {
namespace {

int place_of(const Algorithm* algorithm) {
  const auto all = algorithms();
  const auto found = std::ranges::find(all, algorithm);
  return found == all.end() ? -1 : static_cast<int>(found - all.begin());
}

/// Lists of messages have four numbers for each: peer, place, bytes, device.
constexpr std::size_t numbers_a_message = 4;

records::Call messages_of(const Problem& problem) {
  records::Call call{.action = records::Action::messages, .root = -1};
  for (const auto list : {problem.in.counts, problem.out.counts}) {
    call.parameter += static_cast<int>(list.size() / numbers_a_message);
    if (call.root < 0 && !list.empty()) call.root = static_cast<int>(list[0].value());
    for (std::size_t i = 2; i < list.size(); i += numbers_a_message)
      call.count += list[i].value();
  }
  return call;
}

records::Call collective_of(const PlanKey& key) {
  const Problem& problem = key.problem;
  return {.action = static_cast<records::Action>(problem.collective),
          .type = key.type,
          .op = key.op.kind(),
          .is_uneven = problem.uneven(),
          .count = problem.count.value(),
          .root = problem.root.value(),
          .algorithm = place_of(key.choice.algorithm),
          .parameter = problem.parameter,
          .fingerprint = fingerprint_of(key)};
}

records::Call call_of(const CommunicatorState& communicator, const PlanKey& key) {
  records::Call call = key.choice.algorithm == nullptr ? messages_of(key.problem) : collective_of(key);
  call.rank = communicator.rank().value();
  call.ranks = communicator.members().size();
  call.communicator = communicator.id();
  call.any_manner = communicator.settings().forms_match;
  return call;
}

}  // namespace

OperationRecord::OperationRecord(const CommunicatorState& communicator, const PlanKey& key)
    : call_(records::pack(call_of(communicator, key))) {}

std::uint32_t fingerprint_of(const PlanKey& key) {
  if (key.choice.algorithm == nullptr) return 0;
  const Problem& problem = key.problem;
  std::uint64_t hash = 0;
  const auto mix = [&hash](auto value) {
    hash = (hash ^ static_cast<std::uint64_t>(value)) * 0x9e3779b97f4a7c15U;
    hash ^= hash >> 32U;
  };
  mix(static_cast<std::uint64_t>(problem.collective) << 16U | static_cast<std::uint64_t>(key.type) << 8U |
      (problem.uneven() ? 1U : 0U));
  if (!problem.uneven()) mix(problem.count.value());
  mix(problem.root.value());
  if (reduces(problem.collective)) {
    mix(key.op.kind());
    mix(std::bit_cast<std::uint64_t>(key.op.scale()));
  }
  for (const char letter : key.choice.algorithm->name)
    mix(letter);
  mix(problem.parameter);
  mix(key.choice.segment);
  return static_cast<std::uint32_t>(hash);
}

}  // namespace tutti::detail
