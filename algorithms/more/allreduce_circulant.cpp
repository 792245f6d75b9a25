/// Circulant allreduce: reduce-scatter on a circulant graph with halving skips, then allgather backwards.
/// Shapes   in[n] -> out[n], elements; scratch about n/4 (n/2 in place)
/// Cost     2 ceil(log2 p) messages: the fewest rounds of a reduce-scatter and an allgather if each rank sends one
///          at a time (as rounds count only messages that wait for each other, there are fewer for some p: 3, 5);
///          where p divides n, 2n(p-1)/p elements sent and n(p-1)/p reduced per rank, the least that are possible
/// Needs    commutative operation; any p >= 1, any n >= 0
/// Source   Traeff, arXiv 2410.14234, 2024
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
  const Circulant circle = Circulant::halving(problem.rank, problem.size);
  const Blocks out{plan.output(), problem.size};
  const Arcs from = circle.arcs({plan.input(), problem.size}), into = circle.arcs(out);
  const Region own = out[problem.rank.value()];
  const bool direct = problem.aliasing == Aliasing::separate();
  append_circulant_reduce_scatter(plan, circle, from, into, own, direct);
  append_circulant_allgather(plan, circle, own, into);
  return plan.build();
}

Cost cost(const Problem& problem) {
  const int p = problem.size;
  const Count n = problem.count, block = Blocks{{Buffer::output, Count{0}, n}, p}.largest(), most = (p - 1) * block;
  if (p == 1) return {.copied = n};
  if (n == Count{0}) return {};
  const Circulant circle = Circulant::halving(problem.rank, p);
  return {.messages = 2 * static_cast<int>(circle.rounds().size()),
          .rounds = 2 * circle.longest_chain(),
          .sent = 2 * most,
          .reduced = most,
          .scratch = circle.repeated() * block};
}

}  // namespace

extern const Algorithm allreduce_circulant;
constinit const Algorithm allreduce_circulant{
    .collective = Collective::allreduce,
    .name = "circulant",
    .order = Order::any,
    .build = build,
    .cost = cost,
    .summary = "reduce-scatter and allgather on a circulant graph: least volume and 2 ceil(log2 p) rounds for any p",
    .source = "Traeff, arXiv 2410.14234, 2024",
};

}  // namespace tutti
