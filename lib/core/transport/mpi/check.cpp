#include "lib/core/transport/mpi/check.hpp"

#include <fmt/format.h>

#include <array>
#include <limits>

#include "lib/core/transport/mpi/api.hpp"

namespace tutti {
namespace {

std::string describe(int code, std::string_view call, SourcePlace where) {
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  mpi::api.Error_string(code, text.data(), &length);
  return fmt::format("{} failed: {} ({}:{})", call, std::string_view{text.data(), static_cast<std::size_t>(length)},
                     where.file, where.line);
}

}  // namespace

MpiError::MpiError(int code, std::string_view call, SourcePlace where)
    : Error(describe(code, call, where)), code_(code) {}

int mpi::narrow(std::int64_t amount, SourcePlace where) {
  if (amount < 0 || amount > std::numeric_limits<int>::max())
    throw Error(fmt::format("{} does not fit MPI's int ({}:{})", amount, where.file, where.line));
  return static_cast<int>(amount);
}

int mpi::rank_in(MPI_Comm comm) {
  int rank = 0;
  check(api.Comm_rank(comm, &rank), "MPI_Comm_rank");
  return rank;
}

int mpi::ranks_in(MPI_Comm comm) {
  int ranks = 0;
  check(api.Comm_size(comm, &ranks), "MPI_Comm_size");
  return ranks;
}

}  // namespace tutti
