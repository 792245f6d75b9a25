#pragma once
// Which socket a process runs on.

#include <filesystem>
#include <span>

namespace tutti::mpi {

inline constexpr int unknown_socket = -1;

/// The system's number of the socket of all processors that this process may run on; unknown_socket if they are of
/// several, or the system does not say.
[[nodiscard]] int own_socket(const std::filesystem::path& sys = "/sys");

/// A rank of a node, and its socket.
struct Local {
  int rank = 0, socket = unknown_socket;
};
/// The first of the ranks of a node that is on the socket of `rank`; the first of all if the socket of any is unknown.
[[nodiscard]] int first_on_socket(std::span<const Local> locals, int rank);

}  // namespace tutti::mpi
