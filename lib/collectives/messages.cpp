#include "lib/collectives/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <vector>

namespace tutti::detail {
namespace {

Region region_of(Buffer buffer, const Message& message, const std::byte* base) {
  return {buffer, Count{message.bytes > Bytes{0} ? message.data - base : 0}, Count{message.bytes.value()}};
}

void require_peer(const CallSite& site, std::string_view argument, Rank peer, int size) {
  if (peer.value() < 0 || peer.value() >= size)
    refuse(site, argument, std::to_string(peer.value()), fmt::format("a rank, 0 to {}", size - 1));
}

bool share_memory(const std::byte* a, const std::byte* b, Bytes bytes) {
  const std::less<> before;
  return bytes > Bytes{0} && before(a, b + bytes.value()) && before(b, a + bytes.value());
}

}  // namespace

Message message_of(const CallSite& site, std::string_view argument, const void* data, Count count, Type type, Rank peer,
                   int size) {
  require_peer(site, argument, peer, size);
  require_type(site, "type", type);
  require_count(site, count, type);
  if (is_in_place(data)) refuse(site, "data", "MPI_IN_PLACE", "memory; messages between two ranks are never in place");
  require_buffer(site, "data", data, count);
  return {peer, static_cast<std::byte*>(const_cast<void*>(data)), count.value() * size_of(type)};
}

std::byte* base_of(MessageSpan messages) {
  std::byte* base = nullptr;
  for (const Message& message : messages)
    if (message.bytes > Bytes{0} && (base == nullptr || std::less<>{}(message.data, base))) base = message.data;
  return base;
}

void require_messages_to_itself(const CallSite& site, MessageSpan sends, MessageSpan recvs) {
  const auto own = [&](const Message& message) { return message.peer == site.rank; };
  const auto sent = std::ranges::count_if(sends, own), received = std::ranges::count_if(recvs, own);
  if (sent != received)
    refuse(site, "to", fmt::format("this rank itself in {} sends and {} receives of the batch", sent, received),
           "as many sends to itself as receives");
  auto next = recvs.begin();
  for (const Message& send : sends) {
    if (!own(send)) continue;
    next = std::find_if(next, recvs.end(), own);
    const Message& recv = *next++;
    if (send.bytes != recv.bytes)
      refuse(site, "count",
             fmt::format("{} bytes sent to itself and {} received", send.bytes.value(), recv.bytes.value()),
             "the same size");
    if (share_memory(send.data, recv.data, send.bytes))
      refuse(site, "data", "memory that a message to itself is both sent from and received into", "memory apart");
  }
}

Schedule schedule_of(Rank rank, MessageSpan sends, MessageSpan recvs, const SharedMemory& memory) {
  Schedule schedule;
  const std::byte *in = base_of(sends), *out = base_of(recvs);
  std::vector<Region> to_itself;
  std::vector<Step> far_sends, copies;
  // In shared memory sends first: a look at a message that is on its way delays it. Over MPI receives first: a message
  // that finds its receive posted is not stored in between. All messages of a pair have one number, as they keep their
  // order.
  for (const Message& send : sends) {
    const Region from = region_of(Buffer::input, send, in);
    if (send.peer == rank)
      to_itself.push_back(from);
    else
      (memory.reaches_rank(send.peer) ? schedule.steps : far_sends)
          .push_back({Send{send.peer, from.count > Count{0} ? Regions{from} : Regions{}}, {}});
  }
  std::size_t copied = 0;
  for (const Message& recv : recvs) {
    const Region into = region_of(Buffer::output, recv, out);
    if (recv.peer != rank)
      schedule.steps.push_back({Recv{recv.peer, into.count > Count{0} ? Regions{into} : Regions{}}, {}});
    else if (const Region from = to_itself[copied++]; from.count > Count{0})
      copies.push_back({Copy{from, into}, {}});
  }
  std::ranges::move(far_sends, std::back_inserter(schedule.steps));
  std::ranges::move(copies, std::back_inserter(schedule.steps));
  return schedule;
}

}  // namespace tutti::detail
