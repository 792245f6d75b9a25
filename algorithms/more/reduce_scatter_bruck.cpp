/// Bruck's reduce_scatter, the mirror image of his allgather: distances are powers of two, the largest first.
/// Shapes   in[p blocks of n] -> out[n], elements; scratch at most 3p/4 blocks (1 if p = 2)
/// Cost     ceil(log2 p) messages: the fewest rounds that are possible if each rank sends one at a time (as rounds
///          count only messages that wait for each other, there are fewer for some p: 3, 5); n(p-1) elements
///          sent and reduced per rank, the least that are possible
/// Needs    commutative operation; any p >= 1, any n >= 0, blocks of any sizes
/// Source   Bruck, Ho, Kipnis, Upfal & Weathersby, IEEE TPDS 8(11), 1997
#include "algorithms/phases.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  if (problem.size == 1) {
    plan.copy(plan.input(), plan.output());
    return plan.build();
  }
  const Region result = landing(plan, problem);
  append_circulant_reduce_scatter(plan, Circulant::powers_of_two(problem.rank, problem.size), input_blocks(problem),
                                  result);
  plan.copy(result, plan.output());
  return plan.build();
}

Cost cost(const Problem& problem) {
  const int p = problem.size;
  const Count n = problem.count;
  if (p == 1) return {.copied = n};
  if (n == Count{0}) return {};
  const Circulant circle = Circulant::powers_of_two(problem.rank, p);
  return {.messages = static_cast<int>(circle.rounds().size()),
          .rounds = circle.longest_chain(),
          .sent = (p - 1) * n,
          .reduced = (p - 1) * n,
          .scratch = (circle.partials() + circle.repeated()) * n};
}

}  // namespace

extern const Algorithm reduce_scatter_bruck;
constinit const Algorithm reduce_scatter_bruck{
    .collective = Collective::reduce_scatter,
    .name = "bruck",
    .order = Order::any,
    .build = build,
    .cost = cost,
    .summary = "distances p/2 ... 4, 2, 1, powers of two: least volume and fewest rounds for any p",
    .source = "Bruck, Ho, Kipnis, Upfal & Weathersby, IEEE TPDS 8(11), 1997",
};

}  // namespace tutti
