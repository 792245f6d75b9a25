#include "lib/core/communicator/socket.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <fstream>

namespace tutti::mpi {

int own_socket(const std::filesystem::path& sys) {
  cpu_set_t mine;
  CPU_ZERO(&mine);
  if (sched_getaffinity(0, sizeof mine, &mine) != 0) return unknown_socket;
  int socket = unknown_socket;
  for (int processor = 0; processor < CPU_SETSIZE; ++processor) {
    if (!CPU_ISSET(processor, &mine)) continue;
    std::ifstream file{sys / fmt::format("devices/system/cpu/cpu{}/topology/physical_package_id", processor)};
    int its = unknown_socket;
    if (!(file >> its) || its < 0 || (socket != unknown_socket && its != socket)) return unknown_socket;
    socket = its;
  }
  return socket;
}

int first_on_socket(std::span<const Local> locals, int rank) {
  if (std::ranges::find(locals, unknown_socket, &Local::socket) != locals.end()) return locals.front().rank;
  const int socket = std::ranges::find(locals, rank, &Local::rank)->socket;
  return std::ranges::find(locals, socket, &Local::socket)->rank;
}

}  // namespace tutti::mpi
