/// Linear exclusive scan: each rank adds its own to what the one before sends and passes it on.
/// Shapes   in[n] -> out[n], elements, none on rank 0; scratch n
/// Cost     1 message, p-1 rounds, n elements sent and reduced per rank
/// Needs    any associative operation (rank order is kept); any p >= 1, any n >= 0
/// Source   folklore; as a pipeline: Sanders & Traeff, Euro PVM/MPI 2006
#include "phases_scan.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/patterns.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Ring ring{problem.rank, problem.size};
  const bool first = problem.rank == Rank{0}, last = ring.next() == Rank{0};
  if (first && !last) plan.send(plan.input(), ring.next());
  if (first) return plan.build();
  const Region before = last ? plan.output() : exclusive_result(plan, problem);
  plan.recv(before, ring.previous());
  if (!last) {
    const Region sum = plan.scratch(problem.count);
    plan.reduce(before, plan.input(), sum);
    plan.send(sum, ring.next());
  }
  plan.copy(before, plan.output());
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
};

}  // namespace tutti
