#pragma once
// Common parts of all collective calls: options, and how a call is described and run.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "tutti/communicator.hpp"
#include "tutti/datatype.hpp"
#include "tutti/export.hpp"
#include "tutti/op.hpp"
#include "tutti/ranges.hpp"
#include "tutti/request.hpp"
#include "tutti/schedule.hpp"

struct CUstream_st;  // CUstream and cudaStream_t point to it

namespace tutti {

/// Options of one call; the algorithm, and whether there is a stream, are the same on all ranks.
struct Options {
  /// A name from the registry, with its parameter and a segment size in bytes if wanted: "ring", "knomial:4",
  /// "chain/64K". Empty: the algorithm that the communicator or TUTTI_ALGORITHM names, else the one that Tutti chooses.
  /// A given name, from any of the three places, is refused with ArgumentError, on all ranks, if one would have more
  /// than 262,144 segments in the call, as each takes memory for its steps. Where ranks know only the sizes of their
  /// own blocks (gatherv, scatterv, alltoallv), long messages have larger segments instead.
  std::string_view algorithm = {};
  /// A stream of the device that holds the buffers (nullptr: the legacy stream of the current context). The call is put
  /// into the stream and returns at once: it begins when the earlier work of the stream is over, and what is put into
  /// the stream later, an event for instance, waits for its result. Blocking calls and plans take it, nonblocking ones
  /// do not. Errors, limits, graphs: docs/gpu.md.
  std::optional<CUstream_st*> stream = {};
  /// Bits::fixed: a reduction combines operands in the fixed order, which depends on the number of ranks alone,
  /// whatever its size, buffers and algorithm (docs/reproducibility.md); the same on all ranks. Bits::same: in the
  /// order of the algorithm. Nothing: as the communicator says. ArgumentError, on all ranks, for Bits::differ, and if
  /// `algorithm` names one that keeps another order.
  std::optional<Bits> bits = {};
  /// A wider type in which allreduce, reduce, reduce_scatter, scan and exscan add: fp32 or fp64 for elements of fp8,
  /// fp16 and bf16, fp64 for those of fp32. Elements travel in their own type. All operands of an element are added in
  /// the order of ranks, and the sum is rounded once: the same bits with every algorithm and size, so that Bits::fixed
  /// asks for nothing more. For Op::sum, and for Op::avg, which divides before it rounds. The same on all
  /// ranks. ArgumentError, on all ranks, for other types and operations, and if `algorithm` names one by which partial
  /// sums travel (Algorithm::gathers). docs/reproducibility.md has the costs.
  std::optional<Type> accumulate = {};
  /// How that sum is rounded; only with `accumulate`.
  Rounding rounding = Rounding::nearest;
};

namespace detail {

/// A collective call, before its arguments are checked.
struct Call {
  std::string_view function{};  ///< As in error texts: "allgatherv".
  Collective collective = Collective::barrier;
  const void* in = nullptr;
  void* out = nullptr;
  Count count{};
  Type type = Type::uint8;
  Op op = Op::sum;
  Rank root{};
  BlockList in_blocks{}, out_blocks{};
  bool is_uneven = false;  ///< Blocks are listed, even if this rank lists none.
  std::uint8_t mpi = 0;    ///< 0, but for calls of MPI's functions, whose names reports use then.
  bool has_gaps = false;   ///< Elements have bytes that hold nothing, of MPI's types.
  std::uint32_t form = 0;  ///< Tells calls that agree in all else: of buffers that were packed, a hash of their counts.
};

/// Blocking, nonblocking, persistent.
TUTTI_API void run(const Call& call, const Communicator& comm, const Options& options);
[[nodiscard]] TUTTI_API Request start(const Call& call, const Communicator& comm, const Options& options);
[[nodiscard]] TUTTI_API Plan prepare(const Call& call, const Communicator& comm, const Options& options);

// Checks of the lengths of buffers. Each throws ArgumentError unless they fit, and returns the count of the call.

/// `out` must be as long as `in`.
TUTTI_API Count same_length(std::string_view function, std::size_t in, std::size_t out, const Communicator& comm);
/// On the root, `argument` must be as long as the other span, which is the count.
TUTTI_API Count root_length(std::string_view function, std::string_view argument, std::size_t given, std::size_t count,
                            Rank root, const Communicator& comm);
/// `argument` must be as long as `count` elements for each rank.
TUTTI_API Count block_length(std::string_view function, std::string_view argument, std::size_t given, std::size_t count,
                             const Communicator& comm);
/// block_length(), checked on the root only.
TUTTI_API Count root_block_length(std::string_view function, std::string_view argument, std::size_t given,
                                  std::size_t count, Rank root, const Communicator& comm);
/// `length` must be a multiple of the number of ranks; returns one rank's share.
TUTTI_API Count divided(std::string_view function, std::string_view argument, Count length, const Communicator& comm);
/// All blocks of the call must lie in buffers of `in` and `out` elements, where this rank uses them; returns the call.
TUTTI_API Call fitting(const Call& call, std::size_t in, std::size_t out, const Communicator& comm);

}  // namespace detail
}  // namespace tutti
