#include "lib/core/communicator/objection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"

namespace tutti::detail {

std::string first_objection(MPI_Comm comm, int rank, const std::string& why) {
  constexpr int none = std::numeric_limits<int>::max();
  int objecting = why.empty() ? none : rank;
  mpi::check(mpi::api.Allreduce(MPI_IN_PLACE, &objecting, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  if (objecting == none) return {};
  std::array<char, 512> text{};
  std::copy_n(why.begin(), std::min(why.size(), text.size() - 1), text.begin());
  mpi::check(mpi::api.Bcast(text.data(), mpi::narrow(text.size()), MPI_CHAR, objecting, comm), "MPI_Bcast");
  return fmt::format("rank {}: {}", objecting, text.data());
}

}  // namespace tutti::detail
