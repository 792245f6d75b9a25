#include "tutti/batch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <map>

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

/// The lowest address of the messages, from which a schedule's regions count.
std::byte* base_of(const std::vector<Message>& messages) {
  std::byte* base = nullptr;
  for (const Message& message : messages)
    if (message.bytes > Bytes{0} && (base == nullptr || std::less<>{}(message.data, base))) base = message.data;
  return base;
}

/// What a plan of the messages depends on: peer, place and size of each.
std::vector<Count> listed(const std::vector<Message>& messages) {
  const std::byte* const base = base_of(messages);
  std::vector<Count> list;
  list.reserve(3 * messages.size());
  for (const auto& [peer, data, bytes] : messages) {
    list.emplace_back(peer.value());
    list.emplace_back(bytes > Bytes{0} ? data - base : 0);
    list.emplace_back(bytes.value());
  }
  return list;
}

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
Schedule schedule_of(const CallSite& site, const std::vector<Message>& sends, const std::vector<Message>& recvs) {
  Schedule schedule;
  const std::byte *in = base_of(sends), *out = base_of(recvs);
  std::vector<Region> to_itself, from_itself;
  // Receives first: a message that finds its receive posted is not stored in between. All messages of a pair have one
  // number, as MPI keeps their order by itself.
  for (const Message& recv : recvs) {
    const Region into = region_of(Buffer::output, recv, out);
    if (recv.peer == site.rank)
      from_itself.push_back(into);
    else
      schedule.steps.push_back({Recv{recv.peer, into.count > Count{0} ? Regions{into} : Regions{}}, {}});
  }
  for (const Message& send : sends) {
    const Region from = region_of(Buffer::input, send, in);
    if (send.peer == site.rank)
      to_itself.push_back(from);
    else
      schedule.steps.push_back({Send{send.peer, from.count > Count{0} ? Regions{from} : Regions{}}, {}});
  }
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

}  // namespace

struct Batch::Messages {
  std::shared_ptr<CommunicatorState> state;
  std::vector<Message> sends{}, recvs{};

  Message checked(const CallSite& site, std::string_view argument, const void* data, Count count, Type type,
                  Rank peer) const {
    require_peer(site, argument, peer, state->size());
    require_count(site, count, type);
    require_buffer(site, "data", data, count);
    return {peer, static_cast<std::byte*>(const_cast<void*>(data)), count.value() * size_of(type)};
  }

  /// An operation that is ready to start.
  Operation& ready() const {
    state->require_open();
    state->require_working();
    const std::vector<Count> in = listed(sends), out = listed(recvs);
    detail::PlanKey key{.problem = {state->rank(), state->size()}, .type = Type::uint8};
    key.problem.in.counts = in;
    key.problem.out.counts = out;
    Operation& operation = state->plan_of_messages(key, [&] { return compiled(); }).acquire(*state);
    operation.bind(base_of(sends), base_of(recvs));
    operation.keep_alive = state;
    return operation;
  }

  CompiledPlan compiled() const {
    const CallSite site{"Batch", state->rank()};
    const MessageWindow unlimited{std::numeric_limits<int>::max(), false, state->far_path()};
    return compile(schedule_of(site, sends, recvs), {state->rank(), state->size()}, Type::uint8, Op::sum, unlimited,
                   state->shared_memory());
  }
};

Batch::Batch(const Communicator& comm) : messages_(std::make_unique<Messages>(Messages{comm.share()})) {}
Batch::Batch(Batch&&) noexcept = default;
Batch& Batch::operator=(Batch&&) noexcept = default;
Batch::~Batch() = default;

void Batch::send(const void* data, Count count, Type type, Rank to) {
  const CallSite site{"send", messages_->state->rank()};
  messages_->sends.push_back(messages_->checked(site, "to", data, count, type, to));
}

void Batch::recv(void* data, Count count, Type type, Rank from) {
  const CallSite site{"recv", messages_->state->rank()};
  messages_->recvs.push_back(messages_->checked(site, "from", data, count, type, from));
}

Request Batch::start() const {
  const detail::Progress::Entry entry{messages_->state->progress()};
  Operation& operation = messages_->ready();
  operation.start(detail::Kind::nonblocking);
  return Request{detail::OwnedOperation{&operation}};
}

Plan Batch::plan() const {
  const detail::Progress::Entry entry{messages_->state->progress()};
  return Plan{detail::OwnedOperation{&messages_->ready()}};
}

void Batch::run() const { start().wait(); }

namespace {

void require_other(std::string_view function, std::string_view argument, Rank peer, const Communicator& comm) {
  if (peer == comm.rank())
    refuse({function, comm.rank()}, argument, "this rank itself",
           "another rank, or a Batch with both the send and the receive");
}

Batch sending(const void* data, Count count, Type type, Rank to, const Communicator& comm) {
  require_other("send", "to", to, comm);
  Batch batch{comm};
  batch.send(data, count, type, to);
  return batch;
}

Batch receiving(void* data, Count count, Type type, Rank from, const Communicator& comm) {
  require_other("recv", "from", from, comm);
  Batch batch{comm};
  batch.recv(data, count, type, from);
  return batch;
}

Batch exchanging(const void* out, Count out_count, Rank to, void* in, Count in_count, Rank from, Type type,
                 const Communicator& comm) {
  Batch batch{comm};
  batch.recv(in, in_count, type, from);
  batch.send(out, out_count, type, to);
  return batch;
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
