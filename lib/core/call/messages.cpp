#include "lib/core/call/messages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "lib/core/communicator/communicator_state.hpp"
#include "lib/core/memory/memory_kind.hpp"
#include "lib/core/plan/shm_compile.hpp"
#include "lib/core/run/operation.hpp"
#include "lib/device/staging/stage.hpp"

namespace tutti::detail {
namespace {

Region region_of(Buffer buffer, const Message& message, const std::byte* base) {
  return {buffer, Count{message.bytes > Bytes{0} ? message.data - base : 0}, Count{message.bytes.value()}};
}

void require_peer(const CallSite& site, std::string_view argument, Rank peer, int size) {
  if (peer.value() < 0 || peer.value() >= size)
    refuse(site, argument, std::to_string(peer.value()), fmt::format("a rank, 0 to {}", size - 1));
}

bool share_memory(const std::byte* a, Bytes of_a, const std::byte* b, Bytes of_b) {
  const std::less<> before;
  return of_a > Bytes{0} && of_b > Bytes{0} && before(a, b + of_b.value()) && before(b, a + of_a.value());
}

}  // namespace

Message message_of(const CallSite& site, std::string_view argument, const void* data, Count count, Type type, Rank peer,
                   int size) {
  require_peer(site, argument, peer, size);
  require_type(site, "type", type);
  require_count(site, count, type);
  if (is_in_place(data)) refuse(site, "data", "MPI_IN_PLACE", "memory; messages between two ranks are never in place");
  const BufferMemory memory = require_buffer(site, "data", data, {Count{0}, count}, type);
  return {peer, static_cast<std::byte*>(const_cast<void*>(data)), count.value() * size_of(type), memory};
}

void require_same_memory(const CallSite& site, MessageSpan messages) {
  if (!may_have_devices()) return;
  for (const Message& message : messages)
    if (message.bytes > Bytes{0} && allocation_of(message.data).id != message.memory.allocation)
      refuse(site, "data",
             fmt::format("{}, other memory than it was when the message was added", fmt::ptr(message.data)),
             "memory that stays until the batch is gone");
}

bool use_devices(MessageSpan messages) {
  return std::ranges::any_of(messages, [](const Message& message) { return message.memory.device >= 0; });
}

shm::SharedPlan staged(shm::SharedPlan plan, MessageSpan sends, MessageSpan recvs, const device::Ways& ways) {
  std::map<std::pair<Buffer, std::int64_t>, int> devices;
  int first = -1;
  const auto note = [&](Buffer buffer, MessageSpan messages) {
    const std::byte* const base = base_of(messages);
    for (const Message& message : messages) {
      if (message.bytes == Bytes{0}) continue;
      devices[{buffer, message.data - base}] = message.memory.device;
      first = std::max(first, message.memory.device);
    }
  };
  note(Buffer::input, sends);
  note(Buffer::output, recvs);
  plan.staging.device = first;
  plan.staging.moved_by_other = -1;
  plan.staging.is_direct = device::use_ways(plan, ways);
  const auto device_at = [&](Buffer buffer, std::int64_t at) { return devices.at({buffer, at}); };
  return device::staged_for_device(std::move(plan), device_at, ways);
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
    if (share_memory(send.data, send.bytes, recv.data, recv.bytes))
      refuse(site, "data", "memory that a message to itself is both sent from and received into", "memory apart");
  }
}

namespace {

std::string described(std::string_view verb, MessageSpan messages, const Message& message) {
  return fmt::format("{} {} ({} rank {}, {} bytes)", verb, &message - messages.data(), verb == "send" ? "to" : "from",
                     message.peer.value(), message.bytes.value());
}

const std::byte* end_of_data(const Message* message) { return message->data + message->bytes.value(); }

/// The receives that have bytes, by address; none overlaps another.
std::vector<const Message*> sorted_apart(const CallSite& site, MessageSpan recvs) {
  std::vector<const Message*> sorted;
  for (const Message& recv : recvs)
    if (recv.bytes > Bytes{0}) sorted.push_back(&recv);
  const std::less<> before;
  std::ranges::sort(sorted, before, &Message::data);
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    if (!before(sorted[i]->data, end_of_data(sorted[i - 1]))) continue;
    const auto [first, second] = std::minmax(sorted[i - 1], sorted[i], before);
    refuse(site, "data",
           fmt::format("memory that {} and {} share", described("receive", recvs, *first),
                       described("receive", recvs, *second)),
           "receives into memory apart from each other");
  }
  return sorted;
}

}  // namespace

void require_apart(const CallSite& site, MessageSpan sends, MessageSpan recvs) {
  const auto require = [&](const Message& send, const Message& recv) {
    if (share_memory(send.data, send.bytes, recv.data, recv.bytes))
      refuse(
          site, "data",
          fmt::format("memory that {} and {} share", described("send", sends, send), described("receive", recvs, recv)),
          "receives into memory apart from what is sent");
  };
  if (recvs.size() == 1) {
    for (const Message& send : sends)
      require(send, recvs.front());
    return;
  }
  const std::vector<const Message*> sorted = sorted_apart(site, recvs);
  for (const Message& send : sends) {
    const auto next = std::ranges::upper_bound(sorted, send.data, std::less<>{}, end_of_data);
    if (next != sorted.end()) require(send, **next);
  }
}

Schedule schedule_of(Rank rank, MessageSpan sends, MessageSpan recvs, std::span<const std::uint8_t> shared) {
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
      (!shared.empty() && shared[static_cast<std::size_t>(send.peer.value())] != 0 ? schedule.steps : far_sends)
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

namespace {

/// The facts that a plan of messages depends on: peer, place, size and device of each. Allocates nothing for one
/// message.
class Listed {
 public:
  explicit Listed(MessageSpan messages) {
    if (messages.size() > 1) many_.resize(each * messages.size());
    list_ = messages.size() > 1 ? std::span{many_} : std::span{one_}.first(each * messages.size());
    const std::byte* const base = base_of(messages);
    auto entry = list_.begin();
    for (const auto& [peer, data, bytes, memory] : messages) {
      *entry++ = Count{peer.value()};
      *entry++ = Count{bytes > Bytes{0} ? data - base : 0};
      *entry++ = Count{bytes.value()};
      *entry++ = Count{memory.device};
    }
  }
  Listed(const Listed&) = delete;
  Listed& operator=(const Listed&) = delete;
  ~Listed() = default;
  [[nodiscard]] std::span<const Count> list() const { return list_; }

 private:
  static constexpr std::size_t each = 4;
  std::array<Count, each> one_{};
  std::vector<Count> many_;
  std::span<Count> list_;
};

/// Differs from that of an earlier communicator of the same context, some of whose messages nobody may have received.
std::uint32_t fingerprint_of_class(const CommunicatorState& state, int message_class) {
  return state.settings().nonce * CompiledPlan::class_count + static_cast<std::uint32_t>(message_class);
}

}  // namespace

Operation& ready(CommunicatorState& state, MessageSpan sends, MessageSpan recvs, int message_class) {
  const Listed in{sends}, out{recvs};
  PlanKey key{.problem = {state.rank(), state.members().size()}, .type = Type::uint8};
  key.problem.parameter = message_class;
  key.problem.in.counts = in.list();
  key.problem.out.counts = out.list();
  const auto compiled = [&] {
    const Routing unlimited{.window = std::numeric_limits<int>::max(),
                            .takes_turns = false,
                            .message_class = message_class,
                            .far = state.paths().far_transport()};
    const shm::SharedMemory memory = state.paths().shared_memory();
    shm::SharedPlan plan =
        shm::compile(schedule_of(state.rank(), sends, recvs, memory.reaches), {state.rank(), state.members().size()},
                     Type::uint8, Op::sum, unlimited, memory);
    plan.fingerprint = fingerprint_of_class(state, message_class);
    if (use_devices(sends) || use_devices(recvs))
      return staged(std::move(plan), sends, recvs, state.paths().devices().ways);
    return plan;
  };
  return state.plans().plan_of_messages(key, compiled).operations.acquire(state, base_of(sends), base_of(recvs));
}

}  // namespace tutti::detail
