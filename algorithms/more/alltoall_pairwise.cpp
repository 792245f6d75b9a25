/// Pairwise alltoall: one exchange at a time; with the rank that differs by 1, 2, ..., p-1 bitwise if p is a power of
/// two, else to the rank as far ahead and from the one as far behind.
/// Shapes   in[p n] -> out[p n], elements, or blocks of listed sizes; no scratch, in place about p n
/// Cost     p-1 messages of n elements and p-1 rounds per rank, n copied
/// Needs    any p >= 1, any n >= 0
/// Source   Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005, sec. 4.3
#include "algorithms/phases_alltoall.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  constexpr int one_at_a_time = 1;
  append_exchanges(plan, problem, exchanges_by_pairs(problem), one_at_a_time);
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  const int others = problem.size - 1;
  if (others == 0) return {.copied = n};
  if (n == Count{0}) return {};
  return {.messages = others, .rounds = others, .sent = others * n, .copied = n};
}

}  // namespace

extern const Algorithm alltoall_pairwise;
constinit const Algorithm alltoall_pairwise{
    .collective = Collective::alltoall,
    .name = "pairwise",
    .order = Order::of_ranks,
    .build = build,
    .cost = cost,
    .summary = "one exchange at a time, in pairs if p is a power of two: least volume, for large blocks",
    .source = "Thakur, Rabenseifner & Gropp, IJHPCA 19(1), 2005",
};

}  // namespace tutti
