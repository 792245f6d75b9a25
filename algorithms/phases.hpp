#pragma once
// Phases that several algorithms are composed of. Each appends its steps to a plan.
//
// A reduce-scatter reads every block of `from`, this rank's contribution, and leaves the sum of this rank's block in
// `result`, which it writes last of all: it may be a part of `from`. An allgather sends this rank's block from `own`
// where it goes alone, else from its place in `blocks`, where it has to be as well.

#include <vector>

#include "circulant_pattern.hpp"
#include "multiplying_pattern.hpp"
#include "tutti/patterns.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {

/// The place where a reduce_scatter leaves this rank's block: the output, or fresh scratch if the buffers are aliased
/// and the output covers only a part of that block of the input. The caller copies the block to the output at last.
Region landing(ScheduleBuilder& plan, const Problem& problem);

/// The data that go round a ring: part `part` of `parts` of every block.
struct Lane {
  Ring ring;
  Blocks from, into;
  int part = 0, parts = 1;
  [[nodiscard]] Region share(const Region& block) const { return Blocks{block, parts}[part]; }
};

/// Several rings at once, a block of each per round. Partial sums are kept in `into`, which has the blocks of `from`
/// and may be the same; block ring.behind(0) ends as the sum. Each lane: p-1 messages, n(p-1)/p elements sent.
void append_ring_reduce_scatter(ScheduleBuilder& plan, const std::vector<Lane>& lanes);
/// Gathers the blocks of `into`, of which each rank starts with ring.behind(0). As many messages and elements.
void append_ring_allgather(ScheduleBuilder& plan, const std::vector<Lane>& lanes, const Region& own);

/// Partial sums are kept in `into`. `direct`: its elements are not needed yet, so that messages may be received there.
void append_circulant_reduce_scatter(ScheduleBuilder& plan, const Circulant& circle, const Arcs& from, const Arcs& into,
                                     const Region& result, bool direct);
/// Partial sums are kept in scratch, of circle.partials() + circle.repeated() blocks.
void append_circulant_reduce_scatter(ScheduleBuilder& plan, const Circulant& circle, const Blocks& from,
                                     const Region& result);
void append_circulant_allgather(ScheduleBuilder& plan, const Circulant& circle, const Region& own, const Arcs& blocks);

/// Combines one operand per rank, in the order given, into `into`. All but `mine` are scratch, and are written over.
/// `mine` and `into` are the same, or share nothing.
void append_reduction(ScheduleBuilder& plan, const std::vector<Region>& operands, const Region& mine,
                      const Region& into);

/// Combines `input` of all ranks, in the order of ranks, into `into`, which may be the same. Returns the place of the
/// result: `input` if a rank is alone.
Region append_recursive_multiplying(ScheduleBuilder& plan, const Multiplying& fold, const Region& input,
                                    const Region& into);

/// Signals after which every rank has heard of every other, in ceil(log_radix size) rounds.
void append_dissemination(ScheduleBuilder& plan, Rank me, int size, int radix);

/// Each rank sends every block to its owner, which combines them in the order of ranks. Scratch p-1 blocks.
void append_one_shot_reduce_scatter(ScheduleBuilder& plan, const Ring& ring, const Blocks& from, const Region& result);
/// Each rank sends its block to all others.
void append_one_shot_allgather(ScheduleBuilder& plan, const Ring& ring, const Region& own, const Blocks& blocks);

}  // namespace tutti
