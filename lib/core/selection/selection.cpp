#include "lib/core/selection/selection.hpp"

#include <algorithm>
#include <bit>

namespace tutti {
namespace {

bool is_power_of_two(const Question& q) { return std::has_single_bit(static_cast<unsigned>(q.ranks)); }

/// Up to here, few rounds count more than little volume. Measured (docs/experiments/allreduce-algorithms.md): two
/// ranks exchange everything once anyway; for more, log2 p times the volume tells the earlier the more ranks share the
/// memory.
bool is_small_allreduce(const Question& q) {
  if (q.ranks <= 2) return q.bytes <= (q.shares_memory ? 16 : 256) * kibibyte;
  return q.bytes <= std::max(4 * kibibyte, 128 * kibibyte / q.ranks);
}
constexpr Bytes gibibyte{1 << 30};
/// Results go back in the same pass as they are made, and stay in the caches until they are read. Not for ever more
/// segments: their steps take memory.
bool is_long_between_two(const Question& q) {
  return q.shares_memory && q.ranks == 2 && q.bytes > 256 * kibibyte && q.bytes <= gibibyte;
}

// Through shared memory a message costs its sender and its receiver a few cache lines, long sends of the same data
// share one copy, and long messages of several ranks are reduced in one pass. With more than two ranks few enough that
// each can serve all others (measured, docs/experiments/other-algorithms.md):
constexpr int few = 16;
bool few_share_memory(const Question& q) { return q.shares_memory && q.ranks > 2 && q.ranks <= few; }
/// Larger data would take as much memory for the messages on their way, and ever more segments.
bool few_share_up_to_a_gibibyte(const Question& q) { return few_share_memory(q) && q.bytes <= gibibyte; }
bool is_tiny_among_few(const Question& q) {
  return few_share_memory(q) && q.ranks <= 8 && q.bytes <= (q.ranks == 3 ? 16 : 4) * kibibyte;
}
bool is_large_among_few(const Question& q) {
  return few_share_up_to_a_gibibyte(q) && q.bytes > (q.ranks == 3 ? 16 : 8) * kibibyte;
}

/// Parts that are still in the caches when their results are sent back (measured,
/// docs/experiments/allreduce-algorithms.md): more ranks have more to do for each.
bool wants_short_parts(const Question& q) {
  return is_large_among_few(q) && (q.ranks <= 4 || (q.ranks <= 8 && q.bytes <= 4096 * kibibyte));
}

/// Every rank has to get a processor once a call at least, and that takes longest (measured,
/// docs/experiments/allreduce-algorithms.md): one rank then reduces for all sooner than all do it for themselves, each
/// with cold caches. For few ranks or bytes both are the same; many bytes want all processors at work.
bool wants_few_turns(const Question& q) {
  return q.shares_processors && q.ranks > 4 && q.ranks <= 64 &&
         (q.ranks > 8 || q.bytes > Bytes{q.ranks > 6 ? 64 : 256}) && q.bytes <= (q.ranks > 8 ? 256 : 8) * kibibyte;
}

bool is_long_among_few(const Question& q) {
  return few_share_up_to_a_gibibyte(q) && q.bytes > (q.ranks <= 4 ? 128 : 64) * kibibyte;
}
bool is_rather_small_among_few(const Question& q) { return few_share_memory(q) && q.bytes <= 64 * kibibyte; }
/// One rank that reduces for all keeps one processor busy: which is all there is, where ranks share them.
bool is_reduced_by_one_of_few(const Question& q) { return few_share_up_to_a_gibibyte(q) && q.shares_processors; }

/// Blocks so large that the ring's 2(p-1) rounds cost less than folding onto a power of two, which moves n twice more.
bool has_large_blocks(const Question& q) { return q.bytes >= 32 * (q.ranks * kibibyte); }

bool has_two_ranks(const Question& q) { return q.ranks == 2; }
bool two_share_memory(const Question& q) { return q.ranks == 2 && q.shares_memory; }
bool is_small(const Question& q) { return q.bytes <= 2 * kibibyte; }
bool is_medium(const Question& q) { return q.bytes <= 128 * kibibyte; }
bool has_small_even_blocks(const Question& q) { return !q.is_uneven && q.bytes <= q.ranks * kibibyte / 4; }
/// Ranks are so few that a chain's rounds cost less than the additional volume of doubling, which costs little through
/// shared memory.
bool has_few_ranks(const Question& q) { return q.ranks <= (q.shares_memory ? 2 : 8); }
/// Ranks are so many that one alone takes longer to serve them than a tree takes rounds.
bool has_many_ranks_and_small_blocks(const Question& q) { return q.ranks > 16 && has_small_even_blocks(q); }

/// For each collective the first rule that fits counts; the last one always does, and keeps the order of ranks.
constexpr Rule rules[] = {
    {Collective::barrier, "dissemination:16", few_share_memory, "as few ranks that share memory want one round"},
    {Collective::barrier, "dissemination", always, "as it needs the fewest rounds"},
    {Collective::broadcast, "knomial:16", is_rather_small_among_few, "as few ranks that share memory want one round"},
    {Collective::broadcast, "knomial:16/64K", few_share_memory,
     "as few ranks that share memory read the same copy, a segment while the next is written"},
    {Collective::broadcast, "knomial", is_medium, "as few bytes want few rounds"},
    {Collective::broadcast, "knomial", has_two_ranks, "as two ranks pass nothing on"},
    {Collective::broadcast, "knomial/128K", always, "as the tree passes segments on while others arrive"},
    {Collective::reduce, "knomial:16", is_rather_small_among_few, "as few ranks that share memory want one round"},
    {Collective::reduce, "knomial:16/64K", is_reduced_by_one_of_few,
     "as ranks that share processors gain nothing by sharing the work"},
    {Collective::reduce, "knomial", is_small, "as few bytes want few rounds"},
    {Collective::reduce, "knomial", two_share_memory, "as two ranks pass nothing on"},
    {Collective::reduce, "two_tree", always, "as each rank then sends and reduces everything about once"},
    {Collective::reduce, "knomial", is_medium, "as it keeps the order of ranks, in few rounds"},
    {Collective::reduce, "reduce_scatter_gather", always, "as it keeps the order of ranks, with little volume"},
    {Collective::allreduce, "reduce_broadcast:64/64K", wants_few_turns,
     "as ranks that share processors want few turns at them"},
    {Collective::allreduce, "one_shot", is_tiny_among_few, "as few ranks that share memory want one round"},
    {Collective::allreduce, "two_shot/256K", wants_short_parts,
     "as few ranks that share memory want two rounds of the least volume, in parts that stay in the caches"},
    {Collective::allreduce, "two_shot/1M", is_large_among_few,
     "as few ranks that share memory want two rounds of the least volume, reduced in one pass"},
    {Collective::allreduce, "recursive_doubling", is_small_allreduce, "as few bytes want few rounds"},
    {Collective::allreduce, "two_shot/256K", is_long_between_two,
     "as two ranks that share memory send results on while they are in the caches"},
    {Collective::allreduce, "rabenseifner", is_power_of_two, "as many bytes want the least volume"},
    {Collective::allreduce, "ring", has_large_blocks, "as large blocks want the least volume on any number of ranks"},
    {Collective::allreduce, "rabenseifner", always, "as it has little volume and few rounds"},
    {Collective::reduce_scatter, "one_shot", few_share_up_to_a_gibibyte,
     "as few ranks that share memory want one round"},
    {Collective::reduce_scatter, "circulant", always,
     "as it has the least volume and fewest rounds on any number of ranks"},
    {Collective::reduce_scatter, "recursive_halving", always, "as it has little volume and keeps the order of ranks"},
    {Collective::allgather, "one_shot", few_share_up_to_a_gibibyte, "as few ranks that share memory want one round"},
    {Collective::allgather, "circulant", is_medium, "as it has the fewest rounds on any number of ranks"},
    {Collective::allgather, "ring", always, "as many bytes want blocks that lie in one piece"},
    {Collective::gather, "binomial", has_many_ranks_and_small_blocks, "as a root cannot take many small messages fast"},
    {Collective::gather, "linear", always, "as every block then crosses once, and sizes need no exchange"},
    {Collective::scatter, "binomial", has_many_ranks_and_small_blocks,
     "as a root cannot send many small messages fast"},
    {Collective::scatter, "linear", always, "as every block then crosses once, and sizes need no exchange"},
    {Collective::alltoall, "bruck", has_many_ranks_and_small_blocks, "as small blocks want few messages"},
    {Collective::alltoall, "linear", always, "as every block then crosses once, and sizes need no exchange"},
    {Collective::scan, "linear", has_few_ranks, "as a chain of few ranks has little volume"},
    {Collective::scan, "linear/64K", is_long_among_few, "as segments follow each other down a chain of few ranks"},
    {Collective::scan, "recursive_doubling", always, "as it has few rounds"},
    {Collective::exscan, "linear", has_few_ranks, "as a chain of few ranks has little volume"},
    {Collective::exscan, "linear/64K", is_long_among_few, "as segments follow each other down a chain of few ranks"},
    {Collective::exscan, "doubling_123", always, "as it has few rounds and few reductions"},
};

}  // namespace

Selection select(const Question& question, const UserChoices& users) {
  const Choice& wanted = users.choices[static_cast<std::size_t>(question.collective)];
  if (wanted.algorithm != nullptr && serves(wanted, question))
    return {wanted, users.chosen_by[static_cast<std::size_t>(question.collective)], true};
  if (const auto selection = select_for_devices(question)) return *selection;
  if (const auto selection = select_on_nodes(question)) return *selection;
  static const RuleTable& table = *new RuleTable{rules};  // never destroyed: calls may come after main
  return table.first_for(question).value();               // the last rule of each collective fits everything
}

std::vector<SelectionFrom> select_by_size(Question question, const UserChoices& users) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  const auto at = [&](std::int64_t bytes) {
    question.bytes = Bytes{bytes};
    return select(question, users);
  };
  std::vector<SelectionFrom> found{{Bytes{0}, at(0)}};
  const auto is_last = [&](const Selection& other) {
    const Selection& last = found.back().selection;
    return other.choice == last.choice && other.why == last.why;
  };
  for (std::int64_t from = 0, to = 1; to <= most && question.collective != Collective::barrier;) {
    if (is_last(at(to))) {
      from = to;
      to *= 2;
      continue;
    }
    std::int64_t before = from, after = to;  // the choice changes between them
    while (after - before > 1) {
      const std::int64_t middle = before + (after - before) / 2;
      (is_last(at(middle)) ? before : after) = middle;
    }
    found.push_back({Bytes{after}, at(after)});
    from = after;
  }
  return found;
}

}  // namespace tutti
