/// Rabenseifner's reduce: reduce-scatter by recursive halving, then a gather to the root along the same pairs.
/// Shapes   in[n] -> out[n] on the root, elements; scratch 3n/2, on the root n/2 (n if it stands for a pair)
/// Cost     c = 2^floor(log2 p): log2 c + 1 messages, 2 log2 c rounds (1 more if the root is of a pair);
///          n(c-1)/c + n/2 elements sent, n(c-1)/c reduced per rank, unless p = c also n by ranks that stand for a pair
/// Needs    any associative operation (rank order is kept); any p >= 1, any n >= 0, any root
/// Source   Rabenseifner, ICCS 2004, LNCS 3036
#include "halving_tree_pattern.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

/// Reduces by recursive halving, in `work`, the rounds' whole. Of a pair, the rank that stays starts with its sum.
void append_halving(ScheduleBuilder& plan, const Folding& fold, const std::vector<Halving>& rounds,
                    const Region& work) {
  const bool in_output = work.buffer == Buffer::output;
  const Region room = plan.scratch(fold.paired() && in_output ? work.count : rounds.front().kept.count);
  Buffer mine = Buffer::input;
  if (fold.paired()) {
    const Region theirs = in_output ? room : work;  // the output may be the input
    plan.recv(theirs, fold.partner());
    plan.reduce(theirs, plan.input(), work);
    mine = work.buffer;
  }
  for (const auto& [peer, kept, given] : rounds) {
    const Region theirs = room.first(kept.count);
    plan.send(given.in(mine), peer);
    plan.recv(theirs, peer);
    plan.reduce_in_order(peer, theirs, kept.in(mine), kept);
    mine = work.buffer;
  }
}

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Rank root = problem.root;
  const bool at_root = problem.rank == root;
  const Folding fold{problem.rank, problem.size}, of_root{root, problem.size};
  if (problem.size == 1) plan.copy(plan.input(), plan.output());
  if (fold.sits_out()) plan.send(plan.input(), fold.partner());
  if (problem.size == 1 || (fold.sits_out() && !at_root)) return plan.build();
  const Folding place{fold.sits_out() ? fold.partner() : problem.rank, problem.size};
  const Region work = at_root ? plan.output() : plan.scratch(problem.count);
  const std::vector<Halving> rounds = recursive_halving(place, work);
  const Region block = rounds.back().kept;
  if (!fold.sits_out()) append_halving(plan, fold, rounds, work);
  if (fold.sits_out()) plan.recv(block, fold.partner());
  if (of_root.sits_out() && problem.rank == of_root.partner()) {
    plan.send(block, root);
    return plan.build();
  }
  const auto [received, sent] = gather_after(rounds, place, root, problem.size);
  for (const Halving& round : received)
    plan.recv(round.given, round.peer);
  if (sent) plan.send(sent->kept, sent->peer);
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  if (problem.size == 1) return {.copied = n};
  if (n == Count{0}) return {};
  const Folding fold{problem.root, problem.size};
  const Count block = Blocks{{Buffer::input, Count{0}, n}, fold.core()}.largest(), half = fold.core() / 2 * block;
  return {.messages = fold.rounds() + 1,
          .rounds = 2 * fold.rounds() + (fold.paired() ? 1 : 0),
          .sent = (fold.core() - 1) * block + half,
          .reduced = (fold.core() - 1) * block + (fold.even() ? 0 : 1) * n,
          .scratch = n + half};
}

}  // namespace

extern const Algorithm reduce_reduce_scatter_gather;
constinit const Algorithm reduce_reduce_scatter_gather{
    .collective = Collective::reduce,
    .name = "reduce_scatter_gather",
    .order = Order::of_ranks,
    .build = build,
    .cost = cost,
    .summary = "recursive halving, then a gather to the root: little volume and 2 log2 p rounds, for large counts",
    .source = "Rabenseifner, ICCS 2004, LNCS 3036",
    .bits = Bits::fixed,
};

}  // namespace tutti
