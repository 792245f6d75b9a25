#pragma once
// The collectives of MPI that are served.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tutti::interpose {

enum class Function : std::uint8_t {
  barrier,
  bcast,
  reduce,
  allreduce,
  reduce_scatter,
  reduce_scatter_block,
  allgather,
  allgatherv,
  gather,
  gatherv,
  scatter,
  scatterv,
  alltoall,
  alltoallv,
  alltoallw,
  scan,
  exscan,
};

/// The names by Function, as users write them in TUTTI_INTERPOSE.
inline constexpr std::array<std::string_view, 17> function_names{
    "barrier",   "bcast",      "reduce",    "allreduce", "reduce_scatter", "reduce_scatter_block",
    "allgather", "allgatherv", "gather",    "gatherv",   "scatter",        "scatterv",
    "alltoall",  "alltoallv",  "alltoallw", "scan",      "exscan"};
inline constexpr std::size_t function_count = function_names.size();

/// Whether no rank can be done with a call before all have come. Of the others, MPI may let a root, or the first of a
/// scan, go on alone.
constexpr bool waits_for_all(Function function) {
  switch (function) {
    case Function::barrier:
    case Function::allreduce:
    case Function::reduce_scatter:
    case Function::reduce_scatter_block:
    case Function::allgather:
    case Function::allgatherv:
    case Function::alltoall:
    case Function::alltoallv:
    case Function::alltoallw:
      return true;
    default:
      return false;
  }
}

/// Whether it combines operands.
constexpr bool is_reduction(Function function) {
  switch (function) {
    case Function::reduce:
    case Function::allreduce:
    case Function::reduce_scatter:
    case Function::reduce_scatter_block:
    case Function::scan:
    case Function::exscan:
      return true;
    default:
      return false;
  }
}

constexpr std::size_t index_of(Function function) { return static_cast<std::size_t>(function); }

}  // namespace tutti::interpose
