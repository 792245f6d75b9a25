/// Linear scan: each rank adds its own elements to the message of the rank before and passes the sum on.
/// Shapes   in[n] -> out[n], elements; scratch n
/// Cost     1 message, p-1 rounds, n elements sent and reduced per rank; rank 0 copies n
/// Needs    any associative operation (rank order is kept); any p >= 1, any n >= 0
/// Source   folklore; as a pipeline: Sanders & Traeff, Euro PVM/MPI 2006
#include "tutti/algorithm.hpp"
#include "tutti/patterns.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Ring ring{problem.rank, problem.size};
  const bool first = problem.rank == Rank{0}, last = ring.next() == Rank{0};
  if (first) {
    if (!last) plan.send(plan.input(), ring.next());  // which need not wait for the copy
    plan.copy(plan.input(), plan.output());
  } else {
    const Region before = plan.scratch(problem.count);
    plan.recv(before, ring.previous());
    plan.reduce(before, plan.input(), plan.output());
    if (!last) plan.send(plan.output(), ring.next());
  }
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  if (problem.size == 1) return {.copied = n};
  if (n == Count{0}) return {};
  return {.messages = 1, .rounds = problem.size - 1, .sent = n, .reduced = n, .copied = n, .scratch = n};
}

}  // namespace

extern const Algorithm scan_linear;
constinit const Algorithm scan_linear{
    .collective = Collective::scan,
    .name = "linear",
    .order = Order::of_ranks,
    .build = build,
    .cost = cost,
    .summary = "a chain: least volume and p-1 rounds; for large counts, in segments",
    .source = "Sanders & Traeff, Euro PVM/MPI 2006",
    .bits = Bits::fixed,
};

}  // namespace tutti
