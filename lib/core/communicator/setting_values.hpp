#pragma once
// How the texts of settings become values. Needs no MPI. All functions throw ArgumentError that begins with `source`,
// "environment variable TUTTI_LOG", and says what was given and what is allowed.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// A whole number from `least` to `most`.
[[nodiscard]] std::int64_t read_number(std::string_view source, std::string_view given, std::int64_t least,
                                       std::int64_t most);
/// The place in `names` of the one given.
[[nodiscard]] std::size_t read_name(std::string_view source, std::string_view given,
                                    const std::vector<std::string>& names);
/// "0,0,1,1": as many numbers as `count`, from 0 on.
[[nodiscard]] std::vector<int> read_numbers(std::string_view source, std::string_view given, int count);

/// Which messages travel through shared memory: those inside a node, all of them, none.
enum class SharedMemoryUse : std::uint8_t { inside_nodes, always, never };

/// How messages travel: "auto", "shm", "mpi", the name of a network that is linked in, or "shm+" and that name.
struct TransportChoice {
  SharedMemoryUse shared_memory = SharedMemoryUse::inside_nodes;
  std::string network{};  ///< The network that carries the others; empty: MPI.
};
/// `networks`: the names of those that are linked in. Nothing given: "auto".
[[nodiscard]] TransportChoice read_transport(std::string_view source, std::string_view given,
                                             const std::vector<std::string>& networks);

}  // namespace tutti
