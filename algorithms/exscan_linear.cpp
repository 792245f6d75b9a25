/// Linear exclusive scan: each rank adds its own elements to the message of the rank before and passes the sum on.
/// Shapes   in[n] -> out[n], elements, none on rank 0; scratch n
/// Cost     1 message, p-1 rounds, n elements sent and reduced per rank
/// Needs    any associative operation (rank order is kept); any p >= 1, any n >= 0
/// Source   folklore; as a pipeline: Sanders & Traeff, Euro PVM/MPI 2006
#include "phases_scan.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/patterns.hpp"

namespace tutti {

void append_linear_exscan(ScheduleBuilder& plan, Rank me, int size, const Region& input, const Region& before) {
  const Ring ring{me, size};
  const bool first = me == Rank{0}, last = ring.next() == Rank{0};
  if (first && !last) plan.send(input, ring.next());
  if (first) return;
  plan.recv(before, ring.previous());
  if (last) return;
  const Region sum = plan.scratch(input.count);
  plan.reduce(before, input, sum);
  plan.send(sum, ring.next());
}

namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const bool last = Ring{problem.rank, problem.size}.next() == Rank{0};
  const bool receives = problem.rank > Rank{0};
  const Region before = receives && !last ? exclusive_result(plan, problem) : plan.output();
  append_linear_exscan(plan, problem.rank, problem.size, plan.input(), before);
  if (receives) plan.copy(before, plan.output());
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  if (problem.size == 1 || n == Count{0}) return {};
  const Count passed_on = problem.size > 2 ? n : Count{0};
  return {.messages = 1, .rounds = problem.size - 1, .sent = n, .reduced = passed_on, .scratch = passed_on};
}

}  // namespace

extern const Algorithm exscan_linear;
constinit const Algorithm exscan_linear{
    .collective = Collective::exscan,
    .name = "linear",
    .order = Order::of_ranks,
    .build = build,
    .cost = cost,
    .summary = "a chain: least volume and p-1 rounds; for large counts, in segments",
    .source = "Sanders & Traeff, Euro PVM/MPI 2006",
    .bits = Bits::fixed,
};

}  // namespace tutti
