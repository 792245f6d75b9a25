/// Van de Geijn's broadcast: a block per rank is scattered down a binomial tree, then gathered around the ring up to
/// the root, which has them all.
/// Shapes   in[n] on the root -> out[n], elements; no scratch
/// Cost     p-1 rounds, and up to log2 p more of some roots; the root sends 2n(p-1)/p elements, in p-1 + log2 p
///          messages
/// Needs    any p >= 1, any n >= 0, any root
/// Source   Barnett, Shuler, van de Geijn, Gupta, Payne & Watts, Scalable High-Performance Computing Conference, 1994
#include "algorithms/tree_pattern.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

constexpr int radix = 2;

/// Each rank receives the blocks of all ranks below it.
void append_scatter(ScheduleBuilder& plan, const SplitTree& tree, const Blocks& from, const Blocks& into) {
  if (!tree.is_root()) plan.recv(into.list(tree.first(), tree.last()), tree.parent());
  for (const std::vector<SplitTree::Child>& level : tree.levels())
    for (const SplitTree::Child& child : level)
      plan.send(from.list(child.first, child.last), child.rank);
}

/// Each block goes from its rank, and from the root, to all ranks up to the next that has it.
void append_ring(ScheduleBuilder& plan, const Problem& problem, const Blocks& from, const Blocks& into) {
  const Ring ring{problem.rank, problem.size};
  for (int round = 1; round < ring.size(); ++round) {
    if (ring.next() != problem.root) plan.send(from[ring.behind(round - 1)], ring.next());
    if (problem.rank != problem.root) plan.recv(into[ring.behind(round)], ring.previous());
  }
}

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const SplitTree tree{problem.rank, problem.size, problem.root, radix};
  const Blocks into{plan.output(), problem.size};
  const Blocks from{tree.is_root() ? plan.input() : plan.output(), problem.size};
  append_scatter(plan, tree, from, into);
  append_ring(plan, problem, from, into);
  if (tree.is_root()) plan.copy(plan.input(), plan.output());
  return plan.build();
}

/// The root's block goes round all p-1 other ranks. One that starts `ahead` of the root has so many fewer to pass, but
/// comes down the tree first.
int rounds_of(const Problem& problem, int levels) {
  const Ring ring{problem.root, problem.size};
  int late = 0;
  for (int ahead = 1; ahead < std::min(levels, ring.size()); ++ahead) {
    const Rank rank{ring.behind(-ahead)};
    late = std::max(late, knomial_depth(rank, problem.size, problem.root, radix) - ahead);
  }
  return ring.size() - 1 + late;
}

Cost cost(const Problem& problem) {
  const Count n = problem.count, block = Blocks{{Buffer::output, Count{0}, n}, problem.size}.largest();
  if (n == Count{0}) return {};
  const int others = problem.size - 1;
  const Count volume = others * block;
  const KnomialShape tree = knomial_shape(problem.size, problem.root, radix);
  return {.messages = tree.root_children + others,
          .rounds = rounds_of(problem, tree.depth),
          .sent = 2 * volume,
          .copied = n};
}

}  // namespace

extern const Algorithm broadcast_scatter_allgather;
constinit const Algorithm broadcast_scatter_allgather{
    .collective = Collective::broadcast,
    .name = "scatter_allgather",
    .order = Order::any,
    .build = build,
    .cost = cost,
    .summary = "blocks down a binomial tree, then around the ring: little volume, for large counts",
    .source =
        "Barnett, Shuler, van de Geijn, Gupta, Payne & Watts, Scalable High-Performance Computing Conference, 1994",
};

}  // namespace tutti
