#pragma once
// How UCX's tags of 64 bits tell messages apart. The numbers whose ranges differ between MPIs
// (lib/core/transport/mpi/tag_layout.hpp) fit for every MPI.

#include <ucp/api/ucp.h>

#include <cstdint>

#include "lib/core/plan/compiled_plan.hpp"

namespace tutti::ucx {

/// The receiver's number for the carrier, the sender's rank in it, the context, the turn of the operation, the number
/// of the message on its pair modulo the window, a part of the fingerprint of the call. A process has one worker for
/// all carriers and numbers them for itself.
inline constexpr int network_bits = 8, sender_bits = 20, context_bits = 14, turn_bits = 8, fingerprint_bits = 8,
                     message_bits = 6;
static_assert(network_bits + sender_bits + context_bits + turn_bits + fingerprint_bits + message_bits == 64);
static_assert(1 << message_bits >= Routing::most_window);

inline constexpr int networks = 1 << network_bits, senders = 1 << sender_bits;
/// No MPI's tags let as many operations be under way; messages that are part of no collective have the turn after.
inline constexpr std::uint64_t turns = (1 << turn_bits) - 1;

/// The tag, but for the turn and the fingerprint.
[[nodiscard]] constexpr ucp_tag_t tag_of(int network, int sender, int context, int message) {
  constexpr ucp_tag_t message_mask = (1 << message_bits) - 1;
  ucp_tag_t tag = static_cast<ucp_tag_t>(network) << sender_bits | static_cast<ucp_tag_t>(sender);
  tag = tag << context_bits | static_cast<ucp_tag_t>(context);
  return tag << (turn_bits + fingerprint_bits + message_bits) | (static_cast<ucp_tag_t>(message) & message_mask);
}
[[nodiscard]] constexpr ucp_tag_t turn_of(std::uint64_t sequence, std::uint32_t fingerprint) {
  constexpr std::uint64_t fingerprint_mask = (1U << fingerprint_bits) - 1;
  return (sequence % turns << fingerprint_bits | (fingerprint & fingerprint_mask)) << message_bits;
}
/// All bits but those of the fingerprint.
inline constexpr ucp_tag_t without_fingerprint = ~(((ucp_tag_t{1} << fingerprint_bits) - 1) << message_bits);
/// The turn in tags of messages that are part of no collective. Fingerprint: of the communicator and their class.
[[nodiscard]] constexpr ucp_tag_t pairwise_turn_of(std::uint32_t fingerprint) {
  constexpr std::uint64_t fingerprint_mask = (1U << fingerprint_bits) - 1;
  return (turns << fingerprint_bits | (fingerprint & fingerprint_mask)) << message_bits;
}

}  // namespace tutti::ucx
