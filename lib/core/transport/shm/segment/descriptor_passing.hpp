#pragma once
// Hands an open file from one process to others of the same user on the same node: over a Unix socket whose name is
// random and in no file system, and gone with the socket. Nothing here waits for another process. All throw Error.

#include <array>
#include <cstddef>
#include <optional>

#include "lib/core/transport/shm/segment/shared_file.hpp"

namespace tutti::shm {

/// Bytes that nobody else guesses.
using Nonce = std::array<std::byte, 16>;
[[nodiscard]] Nonce random_nonce();

/// A socket under the name that `nonce` makes, with room for `connections` that were not yet accepted.
[[nodiscard]] Descriptor listen_under(const Nonce& nonce, int connections);
/// Connects to it; complete on return, before the other side accepts.
[[nodiscard]] Descriptor connect_to(const Nonce& nonce);
/// Accepts `connections`, which must have been made before, and sends `file` to each. Others' processes get nothing.
void send_to_connected(const Descriptor& listener, int connections, int file);
/// Accepts the connections that wait, if any do, and sends `file` to each.
void send_to_waiting(const Descriptor& listener, int file);
/// Receives the file, which must have been sent before.
[[nodiscard]] Descriptor receive_file(const Descriptor& connection);
/// Receives the file; nothing if it has not come yet.
[[nodiscard]] std::optional<Descriptor> try_receive_file(const Descriptor& connection);

}  // namespace tutti::shm
