/// 123-doubling exclusive scan: messages go 1, 2, 3, 6, 12, ... ranks ahead. Only the second is a sum that includes the
/// sender's own elements; from the third on, a rank sends its own result so far.
/// Shapes   in[n] -> out[n], elements, none on rank 0; scratch 2n
/// Cost     q = ceil(log2(p-1) + log2(4/3)) messages at most; as many rounds, or one less; n elements sent per message
///          and q n reduced at most
/// Needs    any associative operation (rank order is kept); any p >= 1, any n >= 0
/// Source   Traeff, arXiv:2507.04785
#include <algorithm>

#include "phases_scan.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
void append_exscan_123(ScheduleBuilder& plan, Rank me, int size, const Region& input, const Region& before) {
  const int rank = me.value();
  const Region sum = plan.scratch(size > 2 ? input.count : Count{0}), theirs = plan.scratch(sum.count);
  for (int distance = 1; distance < size; distance = next_distance_123(distance)) {
    const bool sends = rank + distance < size;
    if (distance == 1) {
      if (sends) plan.send(input, Rank{rank + 1});
      if (rank > 0) plan.recv(before, Rank{rank - 1});
    } else if (distance == 2) {
      if (sends && rank > 0) plan.reduce(before, input, sum);
      if (sends) plan.send(rank > 0 ? sum : input, Rank{rank + 2});
    } else if (sends && rank > 0) {
      plan.send(before, Rank{rank + distance});
    }
    if (distance == 1 || rank < distance + (distance > 2 ? 1 : 0)) continue;  // nothing more to receive
    plan.recv(theirs, Rank{rank - distance});
    plan.reduce(theirs, before, before);
  }
}

namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const bool receives = problem.rank > Rank{0};
  const Region before = receives ? exclusive_result(plan, problem) : plan.output();
  append_exscan_123(plan, problem.rank, problem.size, plan.input(), before);
  if (receives) plan.copy(before, plan.output());
  return plan.build();
}

/// Rank p-1 receives, and so reduces, most, unless the last rank that sends a sum two ranks ahead reduces more.
int reductions(int size) {
  const int last = (size > 2 ? 1 : 0) + triples_below(size - 1);
  return size > 3 ? std::max(last, 1 + (size > 4 ? 1 : 0) + triples_below(size - 3)) : last;
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  const int size = problem.size;
  if (size == 1 || n == Count{0}) return {};
  const int messages = std::max(std::min(2, size - 1), size > 3 ? 2 + triples_below(size - 1) : 0);
  return {.messages = messages,
          .rounds = exscan_123_rounds(size),
          .sent = messages * n,
          .reduced = reductions(size) * n,
          .scratch = size > 2 ? 2 * n : Count{0}};
}

}  // namespace

extern const Algorithm exscan_doubling_123;
constinit const Algorithm exscan_doubling_123{
    .collective = Collective::exscan,
    .name = "doubling_123",
    .order = Order::of_ranks,
    .build = build,
    .cost = cost,
    .summary = "distances 1, 2, 3, 6, 12, ...: about as many rounds as doubling with half its reductions",
    .source = "Traeff, arXiv:2507.04785",
};

}  // namespace tutti
