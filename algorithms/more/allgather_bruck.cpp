/// Bruck's allgather: distances 1, 2, 4, ...; blocks go straight to their places, so nothing is rotated at the end.
/// Shapes   in[n] -> out[p blocks of n], elements; no scratch
/// Cost     ceil(log2 p) messages: the fewest rounds that are possible if each rank sends one at a time (as rounds
///          count only messages that wait for each other, there are fewer for some p: 3, 5); n(p-1) elements
///          sent per rank, the least that are possible
/// Needs    any p >= 1, any n >= 0, blocks of any sizes and places
/// Source   Bruck, Ho, Kipnis, Upfal & Weathersby, IEEE TPDS 8(11), 1997
#include "algorithms/phases.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Blocks out = output_blocks(problem);
  const Circulant circle = Circulant::powers_of_two(problem.rank, problem.size);
  plan.copy(plan.input(), out[problem.rank.value()]);
  append_circulant_allgather(plan, circle, plan.input(), circle.arcs(out));
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  if (n == Count{0}) return {};
  const Circulant circle = Circulant::powers_of_two(problem.rank, problem.size);
  return {.messages = static_cast<int>(circle.rounds().size()),
          .rounds = circle.longest_chain(),
          .sent = (problem.size - 1) * n,
          .copied = n};
}

}  // namespace

extern const Algorithm allgather_bruck;
constinit const Algorithm allgather_bruck{
    .collective = Collective::allgather,
    .name = "bruck",
    .order = Order::any,
    .build = build,
    .cost = cost,
    .summary = "distances 1, 2, 4, ...: least volume and fewest rounds for any p",
    .source = "Bruck, Ho, Kipnis, Upfal & Weathersby, IEEE TPDS 8(11), 1997",
};

}  // namespace tutti
