#pragma once
// A text that one rank has, on all ranks.

#include <mpi.h>

#include <cstdint>
#include <string>

#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"

namespace tutti::detail {

/// Collective over `comm`: the text that rank `from` gives. Cost: two broadcasts, of its length and its bytes.
[[nodiscard]] inline std::string shared_text(MPI_Comm comm, int from, std::string text) {
  auto length = static_cast<std::int64_t>(text.size());
  mpi::check(mpi::api.Bcast(&length, 1, MPI_INT64_T, from, comm), "MPI_Bcast");
  text.resize(static_cast<std::size_t>(length));
  mpi::check(mpi::api.Bcast(text.data(), mpi::narrow(length), MPI_CHAR, from, comm), "MPI_Bcast");
  return text;
}

}  // namespace tutti::detail
