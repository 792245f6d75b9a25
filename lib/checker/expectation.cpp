#include "expectation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "fault.hpp"

namespace tutti::checker {
namespace {

/// Holds if `value` combines what is wanted, each once.
bool combines(Value value, const Combination& wanted, Order order, const Values& values) {
  const auto ranks = static_cast<std::size_t>(wanted.ranks);
  std::vector<Leaf> leaves = values.leaves(value, ranks + 1);
  if (order == Order::any) std::ranges::sort(leaves);
  if (leaves.size() != ranks) return false;
  int next = wanted.first.value();
  return std::ranges::all_of(leaves, [&](const Leaf& leaf) { return leaf == Leaf{Rank{next++}, wanted.element}; });
}

std::string text(const Combination& wanted, Order order) {
  const int first = wanted.first.value();
  return fmt::format("element {} of ranks {} to {}, each once{}", wanted.element.value(), first,
                     first + wanted.ranks - 1, order == Order::of_ranks ? ", in the order of ranks" : "");
}

}  // namespace

Expectation expectation_of(const Algorithm& algorithm, int size) {
  switch (algorithm.collective) {
    case Collective::allreduce:
      return {algorithm.order, [size](Rank, Count element) { return Combination{Rank{0}, size, element}; }};
  }
  throw Fault{fmt::format("nothing says what {} has to do", to_string(algorithm.collective))};
}

void require_results(const Parts& parts, const Expectation& expectation, Memory& memory, const Values& values) {
  std::map<Combination, std::pair<Value, Rank>> agreed;
  for (Rank rank; rank.value() < static_cast<int>(parts.size()); rank = Rank{rank.value() + 1}) {
    Count element{0};
    for (const Value value : memory.output(rank)) {
      const auto fault = [&](const std::string& why) {
        return Fault{
            fmt::format("rank {}: output[{}] is {}, {}", rank.value(), element.value(), values.text(value), why)};
      };
      const Combination wanted = expectation.of(rank, element);
      if (wanted.ranks > 0) {
        const auto [first, fresh] = agreed.try_emplace(wanted, value, rank);
        const bool known = !fresh && first->second.first == value;
        if (!known && !combines(value, wanted, expectation.order, values))
          throw fault("not " + text(wanted, expectation.order));
        if (!known && !fresh)
          throw fault(fmt::format("but {} on rank {}", values.text(first->second.first), first->second.second.value()));
      }
      element += Count{1};
    }
  }
}

}  // namespace tutti::checker
