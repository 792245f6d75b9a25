/// TuNA: Bruck's routes without his rotations. Blocks start from the input and end in the output; only those that have
/// to travel on lie in scratch in between.
/// Shapes   in[p n] -> out[p n], elements, or blocks of listed sizes; scratch (blocks of two hops or more, and again
///          those of three or more) n
/// Cost     radix k: ceil(log_k p) rounds, up to (k-1) ceil(log_k p) messages, about (k-1)/k p log_k p blocks of n sent
///          per rank; n copied
/// Needs    any p >= 1, any n >= 0; sizes that are not equal travel first
/// Source   Fan et al., "Configurable non-uniform all-to-all algorithms", arXiv:2411.02581
#include "algorithms/phases_alltoall.hpp"

namespace tutti {
namespace {

std::size_t index(int place) { return static_cast<std::size_t>(place); }

/// Hop by hop, the place where a block is received: on its last hop the output, before that two of its own in turn.
Regions stops(ScheduleBuilder& plan, const Problem& problem, const DigitRoutes& routes) {
  const std::vector<Count> sizes = hop_sizes(problem, routes);
  std::vector<Count> largest[2] = {std::vector<Count>(index(problem.size)), std::vector<Count>(index(problem.size))};
  for (std::size_t hop = 0; const auto& round : routes.rounds()) {
    for (const auto& [distance, number, last] : round.hops) {
      Count& most = largest[number % 2][index(distance)];
      if (!last) most = std::max(most, sizes[hop]);
      ++hop;
    }
  }
  const Regions turns[2] = {scratch_by_distance(plan, largest[0]), scratch_by_distance(plan, largest[1])};
  const Blocks out = output_blocks(problem);
  Regions stops;
  for (const auto& round : routes.rounds()) {
    for (const auto& [distance, number, last] : round.hops) {
      if (last)
        stops.push_back(out[routes.origin(distance)]);
      else
        stops.push_back(turns[number % 2][index(distance)].first(sizes[stops.size()]));
    }
  }
  return stops;
}

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const DigitRoutes routes{problem.rank, problem.size, problem.parameter};
  const Blocks in = input_blocks(problem), out = output_blocks(problem);
  Regions at(index(problem.size));
  for (int distance = 1; distance < problem.size; ++distance) {
    Region& start = at[index(distance)] = in[routes.destination(distance)];
    if (!problem.aliasing.offset()) continue;
    const Region kept = plan.scratch(start.count);  // arriving blocks would overwrite it
    plan.copy(start, kept);
    start = kept;
  }
  plan.copy(in[problem.rank.value()], out[problem.rank.value()]);
  append_digit_rounds(plan, routes, at, stops(plan, problem, routes));
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  if (problem.size == 1) return {.copied = n};
  if (n == Count{0}) return {};
  const DigitFigures figures{problem.size, problem.parameter};
  return {.messages = figures.messages(),
          .rounds = figures.rounds(),
          .sent = figures.hops() * n,
          .copied = n,
          .scratch = (figures.twice_or_more() + figures.thrice_or_more()) * n};
}

}  // namespace

extern const Algorithm alltoall_tuna;
constinit const Algorithm alltoall_tuna{
    .collective = Collective::alltoall,
    .name = "tuna",
    .order = Order::of_ranks,
    .parameter = {.name = "radix", .fallback = 4, .least = 2},
    .build = build,
    .cost = cost,
    .exchange = exchange_hop_sizes,
    .summary = "Bruck's routes without copies: blocks end in place; for small blocks of differing sizes",
    .source = "Fan et al., arXiv:2411.02581",
};

}  // namespace tutti
