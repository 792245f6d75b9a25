#pragma once
// Which socket a process runs on.

#include <filesystem>

namespace tutti::mpi {

inline constexpr int unknown_socket = -1;

/// The system's number of the socket of all processors that this process may run on; unknown_socket if they are of
/// several, or the system does not say.
[[nodiscard]] int own_socket(const std::filesystem::path& sys = "/sys");

}  // namespace tutti::mpi
