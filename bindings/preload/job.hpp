#pragma once
// A call of the program, as Tutti runs it.

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <vector>

#include "bindings/preload/operations.hpp"
#include "bindings/preload/side.hpp"
#include "tutti/call.hpp"

namespace tutti::interpose {

class Target;

/// Why a call goes to MPI; `served`: it does not. Each depends only on what all ranks of a correct program know alike.
enum class Why : std::uint8_t {
  served,
  table,      ///< MPI is faster there, by the table or because TUTTI_INTERPOSE says so.
  target,     ///< The communicator is not served.
  arguments,  ///< MPI has to say what is wrong with them.
  operation,  ///< An operation or a type that Tutti does not know, as user's operations on derived types.
  progress,   ///< A nonblocking call, whose progress nobody would make sure of.
  measured,   ///< It would be served, but is to show how long MPI takes.
  last = measured,
};

/// One call as it is served. It does not move while the call is under way.
struct Job {
  detail::Call call{};
  /// The buffers; those of a reduction are `call.in` and `call.out`, which no side moves.
  Side in{}, out{};
  std::vector<Count> counts{};  ///< The counts of the blocks of a reduce_scatter.
  bool has_sides = false;
  bool reads_output = false;  ///< In place, or data that are read on the root: what is there is packed first.
  bool writes_output = true;
  CombinedBy combined_by = CombinedBy::tutti;
  /// The error of this rank alone, as it gives the same buffer twice, or sends itself another number of bytes than it
  /// receives from itself: it takes part in the call, and fails then.
  std::exception_ptr own_error{};
  int own_block =
      -1;  ///< The block of the output that gets what this rank sends itself then, as far as that goes; -1: none.
  std::unique_ptr<std::byte[]> unwanted{};  ///< Takes what is received then, where that must not go to the output.
  std::int64_t bytes = 0;  ///< By which the table decides: of data in the larger buffer, 0 where blocks are listed.

  /// The bytes of data that reports count: where blocks are listed, all that this rank sends, or all that it receives.
  [[nodiscard]] std::int64_t own_bytes() const;

  /// Just before the call, and when it is over: throws its own error then, a MismatchError or MpiError.
  void load();
  void store();
};

// Each describes one of MPI's collectives on a communicator. Ranks that are not the root may pass anything for what
// only the root uses.

[[nodiscard]] Why barrier(Target& target, Job& job);
[[nodiscard]] Why broadcast(Target& target, Job& job, const Side::Even& data, int root);

/// Allreduce, scan, exscan, reduce_scatter_block.
struct ReductionCall {
  const char* function;
  Collective collective;
  const void* in;
  void* out;
  std::int64_t count;
  MPI_Datatype type;
  MPI_Op op;
};
[[nodiscard]] Why reduction(Target& target, Job& job, const ReductionCall& given);
[[nodiscard]] Why reduce(Target& target, Job& job, const ReductionCall& given, int root);
/// `given.count` does not count.
[[nodiscard]] Why reduce_scatter(Target& target, Job& job, const ReductionCall& given, Numbers counts);

[[nodiscard]] Why allgather(Target& target, Job& job, const Side::Even& in, const Side::Even& out);
[[nodiscard]] Why allgatherv(Target& target, Job& job, const Side::Even& in, const Side::Listed& out);
[[nodiscard]] Why gather(Target& target, Job& job, const Side::Even& in, const Side::Even& out, int root);
[[nodiscard]] Why gatherv(Target& target, Job& job, const Side::Even& in, const Side::Listed& out, int root);
[[nodiscard]] Why scatter(Target& target, Job& job, const Side::Even& in, const Side::Even& out, int root);
[[nodiscard]] Why scatterv(Target& target, Job& job, const Side::Listed& in, const Side::Even& out, int root);
[[nodiscard]] Why alltoall(Target& target, Job& job, const Side::Even& in, const Side::Even& out);
[[nodiscard]] Why alltoallv(Target& target, Job& job, const Side::Listed& in, const Side::Listed& out);
[[nodiscard]] Why alltoallw(Target& target, Job& job, const Side::Typed& in, const Side::Typed& out);

}  // namespace tutti::interpose
