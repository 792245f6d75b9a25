#pragma once
// A collective as one rank sees it: explicit point-to-point steps on regions of three buffers.
// No pointers, no data types, no MPI: a schedule can be cached, printed, compared and proved.

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "tutti/export.hpp"
#include "tutti/types.hpp"

namespace tutti {

enum class Buffer : std::uint8_t { input, output, scratch };

/// `count` elements of a buffer from `offset` on.
struct Region {
  Buffer buffer = Buffer::input;
  Count offset, count;
  bool operator==(const Region&) const = default;
  /// These elements of another buffer of the same shape.
  [[nodiscard]] Region in(Buffer other) const { return {other, offset, count}; }
  /// The first `n` elements.
  [[nodiscard]] Region first(Count n) const { return {buffer, offset, n}; }
};

/// The regions that one message carries, in order. Empty: a signal, a message without data that only orders.
using Regions = std::vector<Region>;

/// `message`: the number of this message among those from this rank to `to`, from 0.
struct Send {
  Rank to;
  Regions from;
  int message = 0;
};
/// into = lhs (+) rhs. All three have the same count; `into` may be `lhs` or `rhs` exactly.
struct Reduce {
  Region lhs, rhs, into;
};
/// `message`: the number of this message among those from `from` to this rank, from 0.
/// `then`: a reduction that is part of the receive (fused). The message's elements are one operand of it, named by the
/// one region of `into`, whose contents are lost: so a transport may reduce where the message lies instead of storing
/// it first.
struct Recv {
  Rank from;
  Regions into;
  int message = 0;
  std::optional<Reduce> then{};
};
/// A copy of no elements only orders: a step that waits for it waits for all steps that the copy waits for.
struct Copy {
  Region from, into;
};

using Action = std::variant<Send, Recv, Reduce, Copy>;

/// `after`: the steps of the same rank that must have completed before this one starts, ascending.
struct Step {
  Action action;
  std::vector<int> after;
};

/// The steps of one rank and the elements of scratch that they use.
struct Schedule {
  std::vector<Step> steps;
  Count scratch;
};

/// The place of the input: in memory of its own, or sharing memory with the output, at whose element `offset` it starts
/// (0: plain in place). One of the two contains the other: if the output lies inside the input, the offset is 0 or
/// negative.
class Aliasing {
 public:
  constexpr Aliasing() = default;
  static constexpr Aliasing separate() { return {}; }
  static constexpr Aliasing in_place() { return inside_output(Count{0}); }
  static constexpr Aliasing inside_output(Count offset) {
    Aliasing aliasing;
    aliasing.offset_ = offset;
    return aliasing;
  }
  /// The output starts at element `offset` of the input.
  static constexpr Aliasing around_output(Count offset) { return inside_output(Count{0} - offset); }
  /// The element of the output at which the input starts; nothing if they are separate.
  [[nodiscard]] constexpr std::optional<Count> offset() const { return offset_; }
  /// The region as a part of the output, if it lies in an aliased input; its offset may be negative.
  [[nodiscard]] constexpr Region located(const Region& region) const {
    if (region.buffer != Buffer::input || !offset_) return region;
    return {Buffer::output, *offset_ + region.offset, region.count};
  }
  bool operator==(const Aliasing&) const = default;

 private:
  std::optional<Count> offset_;
};

enum class Collective : std::uint8_t {
  barrier,
  broadcast,
  reduce,
  allreduce,
  reduce_scatter,
  allgather,
  gather,
  scatter,
  alltoall,
  scan,
  exscan,
};
inline constexpr int collective_count = 11;
/// ArgumentError if `collective` is none of these.
[[nodiscard]] TUTTI_API std::string_view to_string(Collective collective);

/// The bits of a reduction's results: which expression of the operands computes them.
enum class Bits : std::uint8_t {
  same,  ///< All ranks compute a result by the same expression.
  /// The expression of every element follows from the number of ranks alone (docs/reproducibility.md): the folded tree
  /// of ranks; in scan and exscan, the ranks one after the other.
  fixed,
  differ,  ///< Ranks may compute one result by different expressions.
};
inline constexpr std::array<std::string_view, 3> bits_names{"same", "fixed", "differ"};  ///< By Bits.

/// Blocks of differing sizes in one buffer: `counts[i]` elements at `offsets[i]`, or one after the other if there are
/// no offsets. A view: it does not own the numbers.
struct BlockList {
  std::span<const Count> counts, offsets;
  [[nodiscard]] bool empty() const { return counts.empty(); }
  /// Compares the numbers, not where they lie.
  friend bool operator==(const BlockList& a, const BlockList& b) {
    return std::ranges::equal(a.counts, b.counts) && std::ranges::equal(a.offsets, b.offsets);
  }
};

/// The problem that an algorithm solves, as one rank sees it.
///
/// `count` is the size in the collective's definition:
/// - broadcast, reduce, allreduce, scan, exscan: all elements;
/// - reduce_scatter, allgather, gather, scatter, alltoall: the elements of each rank's block.
///
/// Blocks of differing sizes are listed instead, as in the MPI calls whose names end in v:
/// - reduce_scatter: `in`, one block per rank, the same on all ranks, without offsets;
/// - allgather: `out`, one per rank; counts are the same on all ranks, offsets need not be;
/// - gather: `in`, one block, this rank's; on the root also `out`, one per rank;
/// - scatter: `out`, one block, this rank's; on the root also `in`, one per rank;
/// - alltoall: `in` and `out`, one per rank. The block of `in` for rank j has the count of rank j's block of `out` for
///   this rank.
///
/// No message may depend on values that ranks need not know alike: `aliasing`, offsets, and counts that only some ranks
/// know.
struct Problem {
  Rank rank{};
  int size = 1;
  Count count{};
  Aliasing aliasing{};
  Collective collective = Collective::allreduce;
  Rank root{};        ///< Only for broadcast, reduce, gather, scatter.
  int parameter = 0;  ///< Only for algorithms that have one.
  BlockList in{}, out{};
  std::span<const Count> learned{};  ///< The sizes learned in the algorithm's exchange (Algorithm::exchange).
  /// The node of each rank, by rank, numbered in the order of their lowest ranks; the same on all ranks. Empty: all
  /// ranks are on one node, or the nodes are not known. Only algorithms of several levels use it.
  std::span<const int> nodes{};
  /// The part of its node that each rank is in, as a socket, numbered like `nodes`. Empty: every node is one part, or
  /// the parts are not known.
  std::span<const int> sockets{};
  /// Whether blocks are listed; the same on all ranks.
  [[nodiscard]] bool uneven() const { return !in.empty() || !out.empty(); }
};

/// The elements of a rank's buffers, from the first to the last used one.
struct Shape {
  Count input, output;
};
/// ArgumentError if the problem's collective is no collective.
[[nodiscard]] TUTTI_API Shape shape_of(const Problem& problem);

/// The sizes that a rank knows of listed blocks: the counts of `in`, then those of `out`.
[[nodiscard]] TUTTI_API std::vector<Count> known_sizes(const Problem& problem);

}  // namespace tutti
