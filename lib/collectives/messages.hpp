#pragma once
// Messages between pairs of ranks that are part of no collective: their checks and their schedule.

#include <cstddef>
#include <span>
#include <string_view>

#include "lib/collectives/arguments.hpp"
#include "lib/engine/compiled_plan.hpp"
#include "tutti/datatype.hpp"
#include "tutti/types.hpp"

namespace tutti::detail {

struct Message {
  Rank peer{};
  std::byte* data = nullptr;
  Bytes bytes{};
};

using MessageSpan = std::span<const Message>;

/// The message, once its arguments are checked; `argument` is what the caller calls the peer. Throws ArgumentError.
[[nodiscard]] Message message_of(const CallSite& site, std::string_view argument, const void* data, Count count,
                                 Type type, Rank peer, int size);
/// The lowest address of the messages, from which a schedule's regions count.
[[nodiscard]] std::byte* base_of(MessageSpan messages);
/// Each message that a rank sends to itself needs a receive of that size, into other memory. The plan does not depend
/// on where: this is looked at in every call. Throws ArgumentError.
void require_messages_to_itself(const CallSite& site, MessageSpan sends, MessageSpan recvs);
/// In which nothing waits for anything.
[[nodiscard]] Schedule schedule_of(Rank rank, MessageSpan sends, MessageSpan recvs, const SharedMemory& memory);

}  // namespace tutti::detail
