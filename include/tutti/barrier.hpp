#pragma once
// Barrier: ranks wait for each other.

#include <span>

#include "tutti/call.hpp"
#include "tutti/mistakes.hpp"

namespace tutti {

/// Returns on no rank before all ranks have called it.
///
/// Errors  ArgumentError before any message is posted: an unknown algorithm. StateError: the communicator is closed, or
///         MPI is finalized. Error: a message failed.
/// Cost    That of the algorithm: algorithms/README.md.
inline void barrier(const Communicator& comm, const Options& options = {}) {
  detail::run(detail::Call{.function = "barrier", .collective = Collective::barrier}, comm, options);
}
[[nodiscard]] inline Request barrier_async(const Communicator& comm, const Options& options = {}) {
  return detail::start(detail::Call{.function = "barrier", .collective = Collective::barrier}, comm, options);
}
[[nodiscard]] inline Plan plan_barrier(const Communicator& comm, const Options& options = {}) {
  return detail::prepare(detail::Call{.function = "barrier", .collective = Collective::barrier}, comm, options);
}

}  // namespace tutti
