/// Bine alltoall: a butterfly whose peers are at distances 1, -1, 3, -5, 11, ..., which are shorter together than
/// powers of two; in each round a rank hands on half of the blocks that it has.
/// Shapes   in[p n] -> out[p n], elements, or blocks of listed sizes; scratch about (log2 p / 2 - 1) p n
/// Cost     p = q 2^k, q odd < 8, k > 0: k+q-1 messages, k rounds, 1 more if q > 1, and p k/2 + p - 2^k blocks of n
///          sent per rank; else ranks are folded onto a power of two, the odd one of a pair carries the blocks of
///          both, and there are 1 or 2 rounds more; n copied
/// Needs    any p >= 1, any n >= 0; sizes that are not equal travel first
/// Source   De Sensi et al., "Bine trees", SC 2025, arXiv 2508.17311
#include <map>

#include "algorithms/bine_routes_pattern.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const int me = problem.rank.value();
  const Blocks in = input_blocks(problem), out = output_blocks(problem);
  std::map<RoutedBlock, Region> at;
  for (int to = 0; to < problem.size; ++to) {
    Region& start = at[{me, to}] = in[to];
    if (to == me || !problem.aliasing.offset()) continue;
    const Region kept = plan.scratch(start.count);  // arriving blocks would overwrite it
    plan.copy(start, kept);
    start = kept;
  }
  plan.copy(in[me], out[me]);
  auto learned = problem.learned.begin();
  for (const auto& [peer, sent, received] : bine_routes(problem.rank, problem.size)) {
    Regions leaving, arriving;
    for (const RoutedBlock& block : sent)
      Blocks::append(leaving, at[block]);
    for (const RoutedBlock& block : received) {
      at[block] = block.to == me ? out[block.from] : plan.scratch(problem.uneven() ? *learned++ : problem.count);
      Blocks::append(arriving, at[block]);
    }
    plan.send(leaving, peer);
    plan.recv(arriving, peer);
  }
  return plan.build();
}

/// Sends sizes along the routes: every rank learns those of the blocks that it carries for others.
Exchange exchange(const Problem& problem) {
  const std::vector<RoutedRound> rounds = bine_routes(problem.rank, problem.size);
  const Count own{problem.size}, one{1};
  Count learned;
  for (const RoutedRound& round : rounds)
    for (const RoutedBlock& block : round.received)
      if (Rank{block.to} != problem.rank) learned += one;
  ScheduleBuilder plan{{problem.rank, problem.size}, own, learned};
  std::map<RoutedBlock, Region> at;
  for (int to = 0; to < problem.size; ++to)
    at[{problem.rank.value(), to}] = {Buffer::input, Count{to}, one};
  for (Count next; const auto& [peer, sent, received] : rounds) {
    Regions leaving, arriving;
    for (const RoutedBlock& block : sent)
      if (Rank{block.to} != peer) Blocks::append(leaving, at[block]);
    for (const RoutedBlock& block : received) {
      if (Rank{block.to} == problem.rank) continue;
      Blocks::append(arriving, at[block] = {Buffer::output, next, one});
      next += one;
    }
    plan.send(leaving, peer);
    plan.recv(arriving, peer);
  }
  return {plan.build(), own, learned};
}

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  if (problem.size == 1) return {.copied = n};
  if (n == Count{0}) return {};
  const RoutesFigures figures{problem.size};
  return {.messages = figures.messages,
          .rounds = figures.rounds,
          .sent = figures.sent * n,
          .copied = n,
          .scratch = figures.carried * n};
}

}  // namespace

extern const Algorithm alltoall_bine;
constinit const Algorithm alltoall_bine{
    .collective = Collective::alltoall,
    .name = "bine",
    .order = Order::of_ranks,
    .build = build,
    .cost = cost,
    .exchange = exchange,
    .summary = "a butterfly of distances 1, -1, 3, -5, ..., half of the blocks in each round: few rounds, near peers",
    .source = "De Sensi et al., SC 2025, arXiv 2508.17311",
};

}  // namespace tutti
