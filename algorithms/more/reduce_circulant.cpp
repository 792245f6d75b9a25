/// Circulant reduce: the circulant broadcast backwards.
/// Shapes   in[n] -> out[n] on the root, elements, in b blocks; scratch n on the root, 2n on other ranks that reduce
/// Cost     b - 1 + ceil(log2 p) rounds in which a rank sends and receives at most a block of n/b; the root reduces one
///          in each of them; the data of a block go over at most ceil(log2 p) + 1 ranks
/// Needs    commutative operation; any p >= 1, any n >= 0, any root, any b >= 1
/// Source   Traeff, arXiv 2407.18004, 2024
#include "algorithms/circulant_broadcast_pattern.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/patterns.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const auto rounds = circulant_broadcast(problem.rank, problem.size, problem.root, problem.parameter);
  const bool at_root = problem.rank == problem.root;
  const bool reduces = std::ranges::any_of(rounds, [](const auto& round) { return round.sent.has_value(); });
  const Count needed = reduces ? problem.count : Count{0};
  const Blocks mine{plan.input(), problem.parameter}, theirs{plan.scratch(needed), problem.parameter};
  const Blocks sums{at_root ? plan.output() : plan.scratch(needed), problem.parameter};
  std::vector<Region> done;  // of each block, the part that has been combined so far
  done.reserve(static_cast<std::size_t>(problem.parameter));
  for (int block = 0; block < problem.parameter; ++block)
    done.push_back(mine[block]);
  for (auto round = rounds.rbegin(); round != rounds.rend(); ++round) {
    if (const auto& up = round->received) plan.send(done[static_cast<std::size_t>(up->block)], up->peer);
    if (const auto& down = round->sent) {
      Region& sum = done[static_cast<std::size_t>(down->block)];
      plan.recv(theirs[down->block], down->peer);
      plan.reduce(sum, theirs[down->block], sums[down->block]);
      sum = sums[down->block];
    }
  }
  if (problem.size == 1) plan.copy(plan.input(), plan.output());
  return plan.build();
}

Cost cost(const Problem& problem) {
  const Count n = problem.count, block = Blocks{{Buffer::output, Count{0}, n}, problem.parameter}.largest();
  if (problem.size == 1) return {.copied = n};
  if (n == Count{0}) return {};
  const int depth = circulant_broadcast_depth(problem.size, problem.parameter);
  return {.messages = problem.parameter,
          .rounds = depth,
          .sent = n,
          .reduced = (problem.parameter - 1 + BroadcastCirculant{problem.size}.rounds()) * block,
          .scratch = (depth > 1 ? 2 : 1) * n};
}

}  // namespace

extern const Algorithm reduce_circulant;
constinit const Algorithm reduce_circulant{
    .collective = Collective::reduce,
    .name = "circulant",
    .order = Order::any,
    .parameter = {.name = "blocks", .fallback = 8, .least = 1, .most = 4096},
    .build = build,
    .cost = cost,
    .summary = "blocks on a circulant graph: as few rounds as there can be, for any number of ranks and blocks",
    .source = "Traeff, arXiv 2407.18004, 2024",
};

}  // namespace tutti
