#include "lib/core/run/plan_key.hpp"

#include <algorithm>
#include <bit>
#include <functional>

#include "tutti/algorithm.hpp"

namespace tutti::detail {
namespace {

int place_of(const Algorithm* algorithm) {
  if (algorithm->data != nullptr) return records::algorithm_of_file;
  const auto all = algorithms();
  const auto found = std::ranges::find(all, algorithm);
  return found == all.end() ? -1 : static_cast<int>(found - all.begin());
}

/// Lists of messages have four numbers for each: peer, place, bytes, device.
constexpr std::size_t numbers_a_message = 4;

records::Signature messages_of(const Problem& problem) {
  records::Signature call{.action = records::Action::messages, .root = -1};
  for (const auto list : {problem.in.counts, problem.out.counts}) {
    call.parameter += static_cast<int>(list.size() / numbers_a_message);
    if (call.root < 0 && !list.empty()) call.root = static_cast<int>(list[0].value());
    for (std::size_t i = 2; i < list.size(); i += numbers_a_message)
      call.count += list[i].value();
  }
  return call;
}

/// How an operation adds, as Signature::adding has it.
std::uint8_t adding_of(const Op& op) {
  if (!op.accumulate()) return 0;
  return static_cast<std::uint8_t>((*op.accumulate() == Type::fp64 ? 2 : 1) +
                                   (op.rounding() == Rounding::stochastic ? 2 : 0));
}

std::uint32_t fingerprint_of(const PlanKey& key) {
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
    mix(adding_of(key.op));
  }
  for (const char letter : key.choice.algorithm->name)
    mix(letter);
  mix(problem.parameter);
  mix(key.choice.segment);
  if (key.form != 0) mix(key.form);
  return static_cast<std::uint32_t>(hash);
}

}  // namespace

records::Signature signature_of(const PlanKey& key) {
  const Problem& problem = key.problem;
  if (key.choice.algorithm == nullptr) return messages_of(problem);
  return {.action = static_cast<records::Action>(problem.collective),
          .type = key.type,
          .op = key.op.kind(),
          .adding = adding_of(key.op),
          .is_uneven = problem.uneven(),
          .count = problem.count.value(),
          .root = problem.root.value(),
          .algorithm = place_of(key.choice.algorithm),
          .parameter = problem.parameter,
          .fingerprint = fingerprint_of(key)};
}

bool operator==(const PlanKey& a, const PlanKey& b) {
  const Problem &p = a.problem, &q = b.problem;
  return a.choice == b.choice && p.collective == q.collective && p.count == q.count && p.aliasing == q.aliasing &&
         p.root == q.root && p.parameter == q.parameter && a.type == b.type && a.op == b.op && a.form == b.form &&
         p.in == q.in && p.out == q.out && a.places == b.places;
}

std::size_t HashPlanKey::operator()(const PlanKey& key) const noexcept {
  const Problem& problem = key.problem;
  std::size_t hash = std::hash<const void*>{}(key.choice.algorithm);
  const auto mix = [&hash](auto value) { hash = (hash ^ static_cast<std::size_t>(value)) * 0x9e3779b97f4a7c15U; };
  mix(problem.count.value());
  mix(static_cast<std::size_t>(key.type) << 8U | static_cast<std::size_t>(key.op.kind()));
  mix(adding_of(key.op));
  mix(problem.aliasing.offset() ? problem.aliasing.offset()->value() + 1 : 0);
  mix(std::bit_cast<std::uint64_t>(key.op.scale()));
  mix(key.places.input << 8 | key.places.output);
  mix(key.form);
  mix(static_cast<std::int64_t>(problem.root.value()) << 32 | problem.parameter);
  for (const auto list : {problem.in.counts, problem.in.offsets, problem.out.counts, problem.out.offsets})
    for (const Count count : list)
      mix(count.value());
  return hash ^ (hash >> 32U);
}

}  // namespace tutti::detail
