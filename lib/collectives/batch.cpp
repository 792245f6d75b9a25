#include "tutti/batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <limits>
#include <optional>
#include <span>

#include "lib/collectives/arguments.hpp"
#include "lib/runtime/communicator_state.hpp"
#include "lib/runtime/operation.hpp"

namespace tutti {
namespace {

using detail::CommunicatorState;
using detail::Operation;

struct Message {
  Rank peer;
  std::byte* data;
  Bytes bytes;
};

using MessageSpan = std::span<const Message>;

/// The lowest address of the messages, from which a schedule's regions count.
std::byte* base_of(MessageSpan messages) {
  std::byte* base = nullptr;
  for (const Message& message : messages)
    if (message.bytes > Bytes{0} && (base == nullptr || std::less<>{}(message.data, base))) base = message.data;
  return base;
}

/// What a plan of messages depends on: peer, place and size of each. Allocates nothing for one message.
class Listed {
 public:
  explicit Listed(MessageSpan messages) {
    if (messages.size() > 1) many_.resize(each * messages.size());
    list_ = messages.size() > 1 ? std::span{many_} : std::span{one_}.first(each * messages.size());
    const std::byte* const base = base_of(messages);
    auto entry = list_.begin();
    for (const auto& [peer, data, bytes] : messages) {
      *entry++ = Count{peer.value()};
      *entry++ = Count{bytes > Bytes{0} ? data - base : 0};
      *entry++ = Count{bytes.value()};
    }
  }
  Listed(const Listed&) = delete;
  Listed& operator=(const Listed&) = delete;
  ~Listed() = default;
  [[nodiscard]] std::span<const Count> list() const { return list_; }

 private:
  static constexpr std::size_t each = 3;
  std::array<Count, each> one_{};
  std::vector<Count> many_;
  std::span<Count> list_;
};

Region region_of(Buffer buffer, const Message& message, const std::byte* base) {
  return {buffer, Count{message.bytes > Bytes{0} ? message.data - base : 0}, Count{message.bytes.value()}};
}

void require_peer(const CallSite& site, std::string_view argument, Rank peer, int size) {
  if (peer.value() < 0 || peer.value() >= size)
    refuse(site, argument, std::to_string(peer.value()), fmt::format("a rank, 0 to {}", size - 1));
}

bool share_memory(const std::byte* a, const std::byte* b, Count bytes) {
  const std::less<> before;
  return bytes > Count{0} && before(a, b + bytes.value()) && before(b, a + bytes.value());
}

/// A schedule in which nothing waits for anything.
Schedule schedule_of(const CallSite& site, MessageSpan sends, MessageSpan recvs, const SharedMemory& memory) {
  Schedule schedule;
  const std::byte *in = base_of(sends), *out = base_of(recvs);
  std::vector<Region> to_itself, from_itself;
  std::vector<Step> far_sends;
  // In shared memory sends first: a look at a message that is on its way delays it. Over MPI receives first: a message
  // that finds its receive posted is not stored in between. All messages of a pair have one number, as they keep their
  // order.
  for (const Message& send : sends) {
    const Region from = region_of(Buffer::input, send, in);
    if (send.peer == site.rank)
      to_itself.push_back(from);
    else
      (memory.reaches_rank(send.peer) ? schedule.steps : far_sends)
          .push_back({Send{send.peer, from.count > Count{0} ? Regions{from} : Regions{}}, {}});
  }
  for (const Message& recv : recvs) {
    const Region into = region_of(Buffer::output, recv, out);
    if (recv.peer == site.rank)
      from_itself.push_back(into);
    else
      schedule.steps.push_back({Recv{recv.peer, into.count > Count{0} ? Regions{into} : Regions{}}, {}});
  }
  std::ranges::move(far_sends, std::back_inserter(schedule.steps));
  if (to_itself.size() != from_itself.size())
    refuse(
        site, "to",
        fmt::format("this rank itself in {} sends and {} receives of the batch", to_itself.size(), from_itself.size()),
        "as many sends to itself as receives");
  for (std::size_t i = 0; i < to_itself.size(); ++i) {
    if (to_itself[i].count != from_itself[i].count)
      refuse(site, "count",
             fmt::format("{} bytes sent to itself and {} received", to_itself[i].count.value(),
                         from_itself[i].count.value()),
             "the same size");
    if (share_memory(in + to_itself[i].offset.value(), out + from_itself[i].offset.value(), to_itself[i].count))
      refuse(site, "data", "memory that a message to itself is both sent from and received into", "memory apart");
    if (to_itself[i].count > Count{0}) schedule.steps.push_back({Copy{to_itself[i], from_itself[i]}, {}});
  }
  return schedule;
}

Message checked(const CallSite& site, std::string_view argument, const void* data, Count count, Type type, Rank peer,
                int size) {
  require_peer(site, argument, peer, size);
  require_count(site, count, type);
  require_buffer(site, "data", data, count);
  return {peer, static_cast<std::byte*>(const_cast<void*>(data)), count.value() * size_of(type)};
}

/// An operation that is ready to start.
Operation& ready(CommunicatorState& state, MessageSpan sends, MessageSpan recvs) {
  state.require_open();
  state.require_working();
  const Listed in{sends}, out{recvs};
  detail::PlanKey key{.problem = {state.rank(), state.size()}, .type = Type::uint8};
  key.problem.in.counts = in.list();
  key.problem.out.counts = out.list();
  const auto compiled = [&] {
    const CallSite site{"Batch", state.rank()};
    const MessageWindow unlimited{std::numeric_limits<int>::max(), false, state.far_path()};
    const SharedMemory memory = state.shared_memory();
    return compile(schedule_of(site, sends, recvs, memory), {state.rank(), state.size()}, Type::uint8, Op::sum,
                   unlimited, memory);
  };
  Operation& operation = state.plan_of_messages(key, compiled).acquire(state);
  operation.bind(base_of(sends), base_of(recvs));
  return operation;
}

using State = std::shared_ptr<CommunicatorState>;

void run(const State& state, MessageSpan sends, MessageSpan recvs) {
  detail::Progress::Entry entry{state->progress()};
  detail::run_to_end(ready(*state, sends, recvs), entry);
}

Request start(const State& state, MessageSpan sends, MessageSpan recvs) {
  const detail::Progress::Entry entry{state->progress()};
  Operation& operation = ready(*state, sends, recvs);
  operation.start(detail::Kind::nonblocking);
  return Request{detail::owned(operation, state)};
}

Plan plan(const State& state, MessageSpan sends, MessageSpan recvs) {
  const detail::Progress::Entry entry{state->progress()};
  return Plan{detail::owned(ready(*state, sends, recvs), state)};
}

}  // namespace

struct Batch::Messages {
  State state;
  std::vector<Message> sends{}, recvs{};
};

Batch::Batch(const Communicator& comm) : messages_(std::make_unique<Messages>(Messages{comm.share()})) {}
Batch::Batch(Batch&&) noexcept = default;
Batch& Batch::operator=(Batch&&) noexcept = default;
Batch::~Batch() = default;

void Batch::send(const void* data, Count count, Type type, Rank to) {
  const CommunicatorState& state = *messages_->state;
  messages_->sends.push_back(checked({"send", state.rank()}, "to", data, count, type, to, state.size()));
}

void Batch::recv(void* data, Count count, Type type, Rank from) {
  const CommunicatorState& state = *messages_->state;
  messages_->recvs.push_back(checked({"recv", state.rank()}, "from", data, count, type, from, state.size()));
}

Request Batch::start() const { return tutti::start(messages_->state, messages_->sends, messages_->recvs); }
Plan Batch::plan() const { return tutti::plan(messages_->state, messages_->sends, messages_->recvs); }
void Batch::run() const { tutti::run(messages_->state, messages_->sends, messages_->recvs); }

namespace {

/// One message each way at most: what a Batch does, without one.
class OneEach {
 public:
  explicit OneEach(const Communicator& comm) : state_(comm.share()) {}

  void send(const void* data, Count count, Type type, Rank to) {
    send_ = checked({"send", state_->rank()}, "to", data, count, type, to, state_->size());
  }
  void recv(void* data, Count count, Type type, Rank from) {
    recv_ = checked({"recv", state_->rank()}, "from", data, count, type, from, state_->size());
  }
  void run() const { tutti::run(state_, span_of(send_), span_of(recv_)); }
  [[nodiscard]] Request start() const { return tutti::start(state_, span_of(send_), span_of(recv_)); }
  [[nodiscard]] Plan plan() const { return tutti::plan(state_, span_of(send_), span_of(recv_)); }

 private:
  static MessageSpan span_of(const std::optional<Message>& message) {
    return message ? MessageSpan{&*message, 1} : MessageSpan{};
  }

  State state_;
  std::optional<Message> send_, recv_;
};

void require_other(std::string_view function, std::string_view argument, Rank peer, const Communicator& comm) {
  if (peer == comm.rank())
    refuse({function, comm.rank()}, argument, "this rank itself",
           "another rank, or a Batch with both the send and the receive");
}

OneEach sending(const void* data, Count count, Type type, Rank to, const Communicator& comm) {
  require_other("send", "to", to, comm);
  OneEach message{comm};
  message.send(data, count, type, to);
  return message;
}

OneEach receiving(void* data, Count count, Type type, Rank from, const Communicator& comm) {
  require_other("recv", "from", from, comm);
  OneEach message{comm};
  message.recv(data, count, type, from);
  return message;
}

OneEach exchanging(const void* out, Count out_count, Rank to, void* in, Count in_count, Rank from, Type type,
                   const Communicator& comm) {
  OneEach messages{comm};
  messages.recv(in, in_count, type, from);
  messages.send(out, out_count, type, to);
  return messages;
}

}  // namespace

void send(const void* data, Count count, Type type, Rank to, const Communicator& comm) {
  sending(data, count, type, to, comm).run();
}
Request send_async(const void* data, Count count, Type type, Rank to, const Communicator& comm) {
  return sending(data, count, type, to, comm).start();
}
Plan plan_send(const void* data, Count count, Type type, Rank to, const Communicator& comm) {
  return sending(data, count, type, to, comm).plan();
}
void recv(void* data, Count count, Type type, Rank from, const Communicator& comm) {
  receiving(data, count, type, from, comm).run();
}
Request recv_async(void* data, Count count, Type type, Rank from, const Communicator& comm) {
  return receiving(data, count, type, from, comm).start();
}
Plan plan_recv(void* data, Count count, Type type, Rank from, const Communicator& comm) {
  return receiving(data, count, type, from, comm).plan();
}
void sendrecv(const void* out, Count out_count, Rank to, void* in, Count in_count, Rank from, Type type,
              const Communicator& comm) {
  exchanging(out, out_count, to, in, in_count, from, type, comm).run();
}
Request sendrecv_async(const void* out, Count out_count, Rank to, void* in, Count in_count, Rank from, Type type,
                       const Communicator& comm) {
  return exchanging(out, out_count, to, in, in_count, from, type, comm).start();
}
Plan plan_sendrecv(const void* out, Count out_count, Rank to, void* in, Count in_count, Rank from, Type type,
                   const Communicator& comm) {
  return exchanging(out, out_count, to, in, in_count, from, type, comm).plan();
}

}  // namespace tutti
