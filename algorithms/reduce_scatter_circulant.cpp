/// Circulant reduce_scatter: a rank works on the blocks of p ranks in a circle, and in each round hands on the farther
/// half, rounded down.
/// Shapes   in[p blocks of n] -> out[n], elements; scratch floor(p/2) + floor(ceil(p/2)/2) blocks (1 if p = 2)
/// Cost     ceil(log2 p) messages: the fewest rounds that are possible if each rank sends one at a time (as rounds
///          count only messages that wait for each other, there are fewer for some p: 3, 5); n(p-1) elements
///          sent and reduced per rank, the least that are possible
/// Needs    commutative operation; any p >= 1, any n >= 0, blocks of any sizes
/// Source   Traeff, arXiv 2410.14234, 2024
#include <algorithm>
#include <vector>

#include "phases.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {

void append_circulant_reduce_scatter(ScheduleBuilder& plan, const Circulant& circle, const Arcs& from, const Arcs& into,
                                     const Region& result, bool direct) {
  const Region spare = plan.scratch(from.elements(0, direct ? circle.repeated() : circle.partials()));
  int reduced = 0;  // partial sums of so many blocks are in `into`; of the others there is only this rank's part
  const auto partial = [&](int first, int last) {
    return from.joined(into.arc(first, std::min(last, reduced)), from.arc(std::max(first, reduced), last));
  };
  for (const auto& [skip, held] : circle.rounds()) {
    const int count = held - skip, spared = direct ? std::min(reduced, count) : count;
    const Regions theirs = from.joined({spare.first(from.elements(0, spared))}, into.arc(spared, count));
    plan.send(partial(skip, held), circle.ahead(skip));
    plan.recv(theirs, circle.behind(skip));
    plan.reduce(theirs, partial(0, count), skip == 1 ? Regions{result} : into.arc(0, count));
    reduced = std::max(reduced, count);
  }
}

void append_circulant_reduce_scatter(ScheduleBuilder& plan, const Circulant& circle, const Blocks& from,
                                     const Region& result) {
  const Arcs in = circle.arcs(from);
  const Region sums = plan.scratch(in.elements(0, circle.partials()));
  const bool equal = from.span(0, from.parts()).count == from.parts() * from.largest();
  std::vector<Count> counts, offsets;
  Count end = sums.offset;
  for (const int block : equal ? std::vector<int>{} : circle.order_of_partials()) {
    offsets.push_back(end);
    counts.push_back(in.elements(block, block + 1));
    end += counts.back();
  }
  const Blocks partials = equal ? Blocks{sums, circle.partials()} : Blocks{Buffer::scratch, {counts, offsets}};
  append_circulant_reduce_scatter(plan, circle, in, circle.arcs_of_partials(partials), result, true);
}

namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  if (problem.size == 1) {
    plan.copy(plan.input(), plan.output());
    return plan.build();
  }
  const Region result = landing(plan, problem);
  append_circulant_reduce_scatter(plan, Circulant::halving(problem.rank, problem.size), input_blocks(problem), result);
  plan.copy(result, plan.output());
  return plan.build();
}

Cost cost(const Problem& problem) {
  const int p = problem.size;
  const Count n = problem.count;
  if (p == 1) return {.copied = n};
  if (n == Count{0}) return {};
  const Circulant circle = Circulant::halving(problem.rank, p);
  return {.messages = static_cast<int>(circle.rounds().size()),
          .rounds = circle.longest_chain(),
          .sent = (p - 1) * n,
          .reduced = (p - 1) * n,
          .scratch = (circle.partials() + circle.repeated()) * n};
}

}  // namespace

extern const Algorithm reduce_scatter_circulant;
constinit const Algorithm reduce_scatter_circulant{
    .collective = Collective::reduce_scatter,
    .name = "circulant",
    .order = Order::any,
    .build = build,
    .cost = cost,
    .summary =
        "in each round the farther half of the blocks held is handed on: least volume and fewest rounds for any p",
    .source = "Traeff, arXiv 2410.14234, 2024",
};

}  // namespace tutti
