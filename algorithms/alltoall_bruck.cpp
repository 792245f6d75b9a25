/// Bruck's alltoall: blocks are rotated so that each lies at its distance, travel by the digits of the distance, and
/// are rotated back. Blocks that travel on never share a place with those that arrive, so none is copied on the way.
/// Shapes   in[p n] -> out[p n], elements, or blocks of listed sizes; scratch 2(p-1) n
/// Cost     radix k: ceil(log_k p) rounds, up to (k-1) ceil(log_k p) messages, about (k-1)/k p log_k p blocks of n sent
///          per rank; (2p-1) n copied
/// Needs    any p >= 1, any n >= 0; sizes that are not equal travel first
/// Source   Bruck, Ho, Kipnis, Upfal & Weathersby, IEEE TPDS 8(11), 1997
#include "phases_alltoall.hpp"

namespace tutti {
namespace {

std::size_t index(int place) { return static_cast<std::size_t>(place); }

/// The two places for the blocks of each distance, used in turn, each large enough for every block that it holds.
std::vector<Regions> places(ScheduleBuilder& plan, const DigitRoutes& routes, const Blocks& in,
                            const std::vector<Count>& sizes) {
  const std::size_t distances = index(in.parts());
  std::vector<Count> largest[2] = {std::vector<Count>(distances), std::vector<Count>(distances)};
  for (int distance = 1; distance < in.parts(); ++distance)
    largest[0][index(distance)] = in[routes.destination(distance)].count;
  for (std::size_t hop = 0; const auto& round : routes.rounds()) {
    for (const auto& [distance, number, last] : round.hops) {
      Count& most = largest[(number + 1) % 2][index(distance)];
      most = std::max(most, sizes[hop++]);
    }
  }
  return {scratch_by_distance(plan, largest[0]), scratch_by_distance(plan, largest[1])};
}

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const DigitRoutes routes{problem.rank, problem.size, problem.parameter};
  const Blocks in = input_blocks(problem), out = output_blocks(problem);
  const std::vector<Count> sizes = hop_sizes(problem, routes);
  const std::vector<Regions> turns = places(plan, routes, in, sizes);
  Regions at = turns[0], stops;
  for (int distance = 1; distance < problem.size; ++distance) {
    const Region block = in[routes.destination(distance)];
    at[index(distance)].count = block.count;
    plan.copy(block, at[index(distance)]);
  }
  for (const auto& round : routes.rounds())
    for (const auto& [distance, number, last] : round.hops)
      stops.push_back(turns[index((number + 1) % 2)][index(distance)].first(sizes[stops.size()]));
  append_digit_rounds(plan, routes, at, stops);
  plan.copy(in[problem.rank.value()], out[problem.rank.value()]);
  for (int distance = 1; distance < problem.size; ++distance)
    plan.copy(at[index(distance)], out[routes.origin(distance)]);
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  const int p = problem.size;
  if (p == 1) return {.copied = n};
  if (n == Count{0}) return {};
  const DigitFigures figures{p, problem.parameter};
  return {.messages = figures.messages(),
          .rounds = figures.rounds(),
          .sent = figures.hops() * n,
          .copied = n + 2 * ((p - 1) * n),
          .scratch = 2 * ((p - 1) * n)};
}

}  // namespace

extern const Algorithm alltoall_bruck;
constinit const Algorithm alltoall_bruck{
    .collective = Collective::alltoall,
    .name = "bruck",
    .order = Order::of_ranks,
    .parameter = {.name = "radix", .fallback = 2, .least = 2},
    .build = build,
    .cost = cost,
    .exchange = exchange_hop_sizes,
    .summary = "blocks travel by the digits of their distance, many in a message: fewest rounds, for small blocks",
    .source = "Bruck, Ho, Kipnis, Upfal & Weathersby, IEEE TPDS 8(11), 1997",
};

}  // namespace tutti
