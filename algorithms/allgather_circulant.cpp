/// Circulant allgather: distances are p halved over and over, rounded up, the smallest first.
/// Shapes   in[n] -> out[p blocks of n], elements; no scratch
/// Cost     ceil(log2 p) messages: the fewest rounds that are possible if each rank sends one at a time (as rounds
///          count only messages that wait for each other, there are fewer for some p: 3, 5); n(p-1) elements
///          sent per rank, the least that are possible
/// Needs    any p >= 1, any n >= 0, blocks of any sizes and places
/// Source   Traeff, arXiv 2410.14234, 2024
#include "phases.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {

void append_circulant_allgather(ScheduleBuilder& plan, const Circulant& circle, const Region& own, const Arcs& blocks) {
  for (auto round = circle.rounds().rbegin(); round != circle.rounds().rend(); ++round) {
    const auto [skip, held] = *round;
    plan.send(skip == 1 ? Regions{own} : blocks.arc(0, held - skip), circle.behind(skip));
    plan.recv(blocks.arc(skip, held), circle.ahead(skip));
  }
}

namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Blocks out = output_blocks(problem);
  const Circulant circle = Circulant::halving(problem.rank, problem.size);
  plan.copy(plan.input(), out[problem.rank.value()]);
  append_circulant_allgather(plan, circle, plan.input(), circle.arcs(out));
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  if (n == Count{0}) return {};
  const Circulant circle = Circulant::halving(problem.rank, problem.size);
  return {.messages = static_cast<int>(circle.rounds().size()),
          .rounds = circle.longest_chain(),
          .sent = (problem.size - 1) * n,
          .copied = n};
}

}  // namespace

extern const Algorithm allgather_circulant;
constinit const Algorithm allgather_circulant{
    .collective = Collective::allgather,
    .name = "circulant",
    .order = Order::any,
    .build = build,
    .cost = cost,
    .summary = "distances double to half of p, messages of near-equal growth: least volume and fewest rounds for any p",
    .source = "Traeff, arXiv 2410.14234, 2024",
};

}  // namespace tutti
