#include "expectation.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <memory>

#include "fault.hpp"
#include "tutti/patterns.hpp"

namespace tutti::checker {
namespace {

/// Holds if `value` combines the wanted inputs, each once.
bool combines(Value value, const Combination& wanted, Order order, const Values& values) {
  const auto ranks = static_cast<std::size_t>(wanted.ranks);
  std::vector<Leaf> leaves = values.leaves(value, ranks + 1);
  if (order == Order::any) std::ranges::sort(leaves);
  if (leaves.size() != ranks) return false;
  int next = wanted.first.value();
  return std::ranges::all_of(leaves, [&](const Leaf& leaf) { return leaf == Leaf{Rank{next++}, wanted.element}; });
}

/// The fixed expression of a combination. Not made of the patterns of algorithms, so that a fault there shows.
Value fixed_value(const Combination& wanted, bool is_prefix, Values& values) {
  std::vector<Value> row;
  for (int i = 0; i < wanted.ranks; ++i)
    row.push_back(values.leaf({Rank{wanted.first.value() + i}, wanted.element}));
  const auto combine = [&](std::size_t place) {  // with its neighbour
    row[place] = values.reduced(row[place], row[place + 1]);
    row.erase(row.begin() + static_cast<std::ptrdiff_t>(place) + 1);
  };
  while (is_prefix && row.size() > 1)
    combine(0);
  // The first ones pair up until their number is a power of two, then all do.
  for (std::size_t place = 0; !std::has_single_bit(row.size()); ++place)
    combine(place);
  while (row.size() > 1)
    for (std::size_t place = 0; place < row.size(); ++place)
      combine(place);
  return row[0];
}

std::string text(const Combination& wanted, Order order) {
  const int first = wanted.first.value();
  if (wanted.ranks == 1) return fmt::format("element {} of rank {}", wanted.element.value(), first);
  return fmt::format("element {} of ranks {} to {}, each once{}", wanted.element.value(), first,
                     first + wanted.ranks - 1, order == Order::of_ranks ? ", in the order of ranks" : "");
}

/// The combination that each output element of one rank has to hold.
using Output = std::vector<Combination>;

/// Elements [0, count) of the output combine the same elements of `ranks` ranks' inputs from `first` on.
Output whole(Count count, Rank first, int ranks, Count from = Count{0}) {
  Output output;
  for (Count i{0}; i < count; i += Count{1})
    output.push_back({first, ranks, from + i});
  return output;
}

/// Writes into a block of the output which elements of rank `from` it holds: those of a block of that rank's input.
void place(Output& output, const Region& block, Rank from, Count at) {
  for (Count i{0}; i < block.count; i += Count{1})
    output[static_cast<std::size_t>((block.offset + i).value())] = {from, 1, at + i};
}

Output output_of(const Problems& problems, Rank rank) {
  const Problem& problem = problems.of(rank);
  const Shape shape = shape_of(problem);
  const Rank first{0};
  const int own = rank.value();
  Output blocks(static_cast<std::size_t>(shape.output.value()));
  switch (problem.collective) {
    case Collective::barrier:
      return {};
    case Collective::broadcast:
      return whole(shape.output, problem.root, 1);
    case Collective::reduce:
    case Collective::allreduce:
      return whole(shape.output, first, problem.size);
    case Collective::scan:
      return whole(shape.output, first, own + 1);
    case Collective::exscan:
      return whole(shape.output, first, own);
    case Collective::reduce_scatter:
      return whole(shape.output, first, problem.size, input_blocks(problem)[own].offset);
    case Collective::scatter:
      return whole(shape.output, problem.root, 1, input_blocks(problems.of(problem.root))[own].offset);
    case Collective::gather:
      if (rank != problem.root) return {};
      [[fallthrough]];
    case Collective::allgather:
      for (int peer = 0; peer < problem.size; ++peer)
        place(blocks, output_blocks(problem)[peer], Rank{peer}, Count{0});
      return blocks;
    case Collective::alltoall:
      for (int peer = 0; peer < problem.size; ++peer)
        place(blocks, output_blocks(problem)[peer], Rank{peer}, input_blocks(problems.of(Rank{peer}))[own].offset);
      return blocks;
  }
  return {};
}

}  // namespace

Expectation expectation_of(const Algorithm& algorithm, const Problems& problems) {
  auto outputs = std::make_shared<std::vector<Output>>();
  for (int rank = 0; rank < problems.size(); ++rank)
    outputs->push_back(output_of(problems, Rank{rank}));
  const bool synchronizes = algorithm.collective == Collective::barrier;
  const auto of = [outputs](Rank rank, Count element) {
    return (*outputs)[static_cast<std::size_t>(rank.value())][static_cast<std::size_t>(element.value())];
  };
  return {order_on(problems.of(Rank{0}).nodes, algorithm),
          of,
          synchronizes,
          algorithm.bits,
          algorithm.gathers,
          algorithm.collective == Collective::scan || algorithm.collective == Collective::exscan};
}

void require_results(const RankSchedules& schedules, const Expectation& expectation, Memory& memory, Values& values) {
  if (expectation.of == nullptr) return;
  std::map<Combination, std::pair<Value, Rank>> agreed;
  for (Rank rank; rank.value() < static_cast<int>(schedules.size()); rank = Rank{rank.value() + 1}) {
    Count element{0};
    for (const Value value : memory.output(rank)) {
      const auto fault = [&](const std::string& why) {
        return Fault{
            fmt::format("rank {}: output[{}] is {}, {}", rank.value(), element.value(), values.text(value), why),
            {{rank}}};
      };
      const Combination wanted = expectation.of(rank, element);
      if (wanted.ranks == 0) {
        if (value != memory.before(rank, element)) throw fault("but had to be left alone");
      } else if (wanted.ranks == 1) {
        if (value != values.leaf({wanted.first, wanted.element})) throw fault("not " + text(wanted, expectation.order));
      } else {
        const auto [first, fresh] = agreed.try_emplace(wanted, value, rank);
        const bool known = !fresh && first->second.first == value;
        if (!known && !combines(value, wanted, expectation.order, values))
          throw fault("not " + text(wanted, expectation.order));
        if (!known && expectation.bits == Bits::fixed) {
          const Value fixed = fixed_value(wanted, expectation.is_prefix, values);
          if (value != fixed) throw fault("not in the fixed order: " + values.text(fixed));
        }
        if (!known && !fresh && expectation.bits != Bits::differ) {
          const auto& [other, on] = first->second;
          Fault differs = fault(fmt::format("but {} on rank {}", values.text(other), on.value()));
          differs.positions.push_back({on});
          throw Fault{differs};
        }
      }
      element += Count{1};
    }
  }
}

}  // namespace tutti::checker
