#pragma once
// What users may set through the environment; rank 0's values count for all ranks of a communicator.

#include <mpi.h>

#include <cstdint>

#include "tutti/algorithm.hpp"

namespace tutti {

struct Settings {
  /// TUTTI_ALGORITHM: "ring", or "allreduce=ring". nullptr: chosen per call.
  const Algorithm* algorithm = nullptr;
  /// TUTTI_MESSAGE_LIMIT: messages of more bytes are split. 1 .. 2^31-1.
  std::int64_t message_limit = std::int64_t{1} << 30;
  /// TUTTI_PLAN_CACHE: plans that a communicator keeps. 1 .. 65536.
  std::int64_t plan_cache = 64;
};

/// Collective over `comm`. Throws ArgumentError on all ranks if rank 0's environment has a value that is not allowed.
[[nodiscard]] Settings agree_on_settings(MPI_Comm comm);

}  // namespace tutti
