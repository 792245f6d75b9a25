#pragma once
// The limits of the machine: the parts of a call, measured by themselves among the ranks of a node, and their sum.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "apps/bench/collective.hpp"
#include "apps/bench/measure.hpp"
#include "apps/bench/node_memory.hpp"
#include "apps/bench/record.hpp"
#include "lib/reduce/kernels.hpp"

namespace tutti::bench {

/// The data that a collective moves, as multiples of its size, where ranks share memory besides their own.
struct Traffic {
  double published;     ///< Copied to where others can read the data, by the rank that copies most.
  double arriving;      ///< Read soon after others have written it, by the rank that reads most.
  bool is_by_one_rank;  ///< Whether a rank does both, one after the other; else some publish while others read.
};
[[nodiscard]] Traffic traffic_of(const BenchCollective& collective, int ranks);

/// Fills in `limit_us` of `parts`:
///   exchange + published * copy + arriving * max(dirty read, reduce or copy);
/// the larger of the two products instead of their sum where no rank does both; the exchange alone if all that a rank
/// publishes fits into the cache line of its flag.
void add_up(Limits& parts, const Traffic& traffic, std::int64_t bytes);
/// Of a cache line, beside an eight-byte flag.
inline constexpr std::int64_t line_payload = 56;

/// The memory in which limits are measured, and the ways of measuring them.
class LimitBench {
 public:
  /// Collective over `comm`, whose ranks must be on one node. For calls of up to `most` bytes. Throws apps::InputError,
  /// on all ranks alike, if memory does not suffice.
  LimitBench(const Communicator& comm, Bytes most);

  /// The parts of a call that can be measured, in the order in which limits() takes their times. They refer to this.
  [[nodiscard]] std::vector<std::unique_ptr<Repeater>> ways(const BenchCollective& collective, const Call& call);
  /// From the times of the ways, on rank 0; those of Tutti's calls: `median_us`.
  [[nodiscard]] Limits limits(const BenchCollective& collective, const Call& call, std::span<const Timing> times,
                              double median_us) const;

 private:
  [[nodiscard]] std::span<std::byte> own_slot(std::size_t size) const { return {slot_of(rank_), size}; }
  [[nodiscard]] std::byte* slot_of(int rank) const { return memory_.of(rank) + Meeting::size_of_all.value(); }
  [[nodiscard]] std::byte* output_of(int rank) const { return slot_of(rank) + slot_size_; }
  [[nodiscard]] double seconds_of_dirty_reads(int calls, std::size_t size);
  void share_of_mapped_allreduce(const Call& call, ReduceKernel kernel);

  int rank_, ranks_;
  std::int64_t slot_size_;  ///< Also that of an output.
  NodeMemory memory_;
  Meeting two_, all_;
  Buffer input_, output_;  ///< Of this rank alone, as programs have them.
  std::uint64_t sum_ = 0;  ///< Of all that was read, so that it is.
};

/// Throws apps::InputError, on all ranks alike, unless the ranks are two at least and on one node.
void require_limits_exist(const Communicator& comm);

/// How long all ranks take to hear from each other where they outnumber the cores and wait by sched_yield, in
/// microseconds; on rank 0. Collective over `comm`, whose ranks must be on one node.
[[nodiscard]] double handover_us(const Communicator& comm, int rounds);

}  // namespace tutti::bench
