#include "lib/core/transport/network.hpp"

#include <algorithm>
#include <vector>

namespace tutti::mpi {
namespace {

std::vector<const NetworkDriver*>& registered() {
  static auto& all = *new std::vector<const NetworkDriver*>;  // never destroyed: MPI_Finalize may come after main
  return all;
}

}  // namespace

NetworkRegistration::NetworkRegistration(const NetworkDriver& driver) { registered().push_back(&driver); }

std::span<const NetworkDriver* const> network_drivers() { return registered(); }

const NetworkDriver* find_network_driver(std::string_view name) {
  const auto found = std::ranges::find(registered(), name, &NetworkDriver::name);
  return found == registered().end() ? nullptr : *found;
}

}  // namespace tutti::mpi
