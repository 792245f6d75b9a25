#include "lib/runtime/pretended_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "lib/transport/mpi/api.hpp"
#include "lib/transport/mpi/check.hpp"
#include "tutti/error.hpp"

namespace tutti::mpi {
namespace {

constexpr int longest_list = 4096;
using List = std::array<char, longest_list>;

/// The value of the variable in rank 0's environment. The same on all ranks.
List agreed_list(MPI_Comm comm, const char* variable) {
  List list{};
  const char* value = std::getenv(variable);
  const std::string_view given{value == nullptr ? "" : value};
  given.copy(list.data(), list.size() - 1);  // a list cut off has too few numbers
  check(api.Bcast(list.data(), longest_list, MPI_CHAR, 0, comm), "MPI_Bcast");
  return list;
}

std::vector<int> numbers(const char* variable, std::string_view list, int ranks) {
  std::vector<int> found;
  const char *at = list.data(), *end = at + list.size();
  for (bool more = true; more;) {
    const auto [next, error] = std::from_chars(at, end, found.emplace_back());
    more = error == std::errc{} && next != end && *next == ',';
    const bool is_bad = error != std::errc{} || (next != end && !more) || found.back() < 0;
    if (is_bad || (!more && found.size() != static_cast<std::size_t>(ranks)))
      throw ArgumentError(fmt::format("environment variable {} is '{}'; allowed: {} numbers with commas between",
                                      variable, list, ranks));
    at = next + 1;
  }
  return found;
}

/// The number of this rank in the list of rank 0's environment; nothing if that has no list.
std::optional<int> own_number(MPI_Comm comm, const char* variable) {
  const List list = agreed_list(comm, variable);
  if (list[0] == '\0') return std::nullopt;
  int rank = 0, size = 0;
  check(api.Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  check(api.Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  return numbers(variable, list.data(), size)[static_cast<std::size_t>(rank)];
}

}  // namespace

void pretend_nodes(MPI_Comm comm, UniqueComm& node) {
  const std::optional<int> number = own_number(comm, "TUTTI_NODES");
  if (!number) return;
  int rank = 0;
  check(api.Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  UniqueComm part;
  check(api.Comm_split(node.get(), *number, rank, part.receive()), "MPI_Comm_split");
  node = std::move(part);
}

std::optional<int> pretended_socket(MPI_Comm comm) { return own_number(comm, "TUTTI_SOCKETS"); }

}  // namespace tutti::mpi
