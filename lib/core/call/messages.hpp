#pragma once
// Messages between pairs of ranks that are part of no collective: their checks and their schedule.

#include <cstddef>
#include <span>
#include <string_view>

#include "lib/core/call/arguments.hpp"
#include "lib/core/plan/shared_plan.hpp"
#include "lib/device/staging/ways.hpp"
#include "tutti/datatype.hpp"
#include "tutti/types.hpp"

namespace tutti::detail {

class CommunicatorState;
class Operation;

struct Message {
  Rank peer{};
  std::byte* data = nullptr;
  Bytes bytes{};
  BufferMemory memory{};
};

using MessageSpan = std::span<const Message>;

/// The message, once its arguments are checked; `argument` is the caller's name for the peer. Throws ArgumentError.
[[nodiscard]] Message message_of(const CallSite& site, std::string_view argument, const void* data, Count count,
                                 Type type, Rank peer, int size);
/// Throws ArgumentError if the memory of a message is not that which it was when the message was checked.
void require_same_memory(const CallSite& site, MessageSpan messages);
/// Whether any message is in memory of a device.
[[nodiscard]] bool use_devices(MessageSpan messages);
/// The plan of these messages, staged for those whose data are on a device, and that none of the ways carries.
[[nodiscard]] shm::SharedPlan staged(shm::SharedPlan plan, MessageSpan sends, MessageSpan recvs,
                                     const device::Ways& ways);
/// The lowest address of the messages, from which a schedule's regions count.
[[nodiscard]] std::byte* base_of(MessageSpan messages);
// Plans do not depend on where memory lies: these are looked at in every call, but for those that repeat another.

/// Each message that a rank sends to itself needs a receive of that size, into other memory. Throws ArgumentError.
void require_messages_to_itself(const CallSite& site, MessageSpan sends, MessageSpan recvs);
/// No receive shares memory with another or with a send: they run in any order. Looks at addresses, not at peers.
/// Throws ArgumentError, which names the two. Cost: O(m log m) for m messages; allocates for two receives and more.
void require_apart(const CallSite& site, MessageSpan sends, MessageSpan recvs);
/// In which nothing waits for anything.
[[nodiscard]] Schedule schedule_of(Rank rank, MessageSpan sends, MessageSpan recvs,
                                   std::span<const std::uint8_t> shared);

/// An operation that is ready to start, of messages that were checked, of a class (CompiledPlan::message_class).
[[nodiscard]] Operation& ready(CommunicatorState& state, MessageSpan sends, MessageSpan recvs, int message_class = 0);

}  // namespace tutti::detail
