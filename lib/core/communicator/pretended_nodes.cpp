#include "lib/core/communicator/pretended_nodes.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <vector>

#include "lib/core/communicator/setting_values.hpp"
#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"

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

/// The number of this rank in the list of rank 0's environment; nothing if that has no list.
std::optional<int> own_number(MPI_Comm comm, const char* variable) {
  const List list = agreed_list(comm, variable);
  if (list[0] == '\0') return std::nullopt;
  const std::vector<int> numbers =
      read_numbers(fmt::format("environment variable {}", variable), list.data(), ranks_in(MPI_COMM_WORLD));
  return numbers[static_cast<std::size_t>(rank_in(MPI_COMM_WORLD))];
}

}  // namespace

void pretend_nodes(MPI_Comm comm, UniqueComm& node) {
  const std::optional<int> number = own_number(comm, "TUTTI_NODES");
  if (!number) return;
  UniqueComm part;
  check(api.Comm_split(node.get(), *number, rank_in(MPI_COMM_WORLD), part.receive()), "MPI_Comm_split");
  node = std::move(part);
}

std::optional<int> pretended_socket(MPI_Comm comm) { return own_number(comm, "TUTTI_SOCKETS"); }

}  // namespace tutti::mpi
