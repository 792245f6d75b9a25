#include "tutti/batch.hpp"

#include <mpi.h>

#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "lib/core/call/messages.hpp"
#include "lib/core/call/tagged_call.hpp"
#include "lib/core/communicator/communicator_state.hpp"
#include "lib/core/run/operation.hpp"
#include "lib/device/driver/device_error.hpp"

namespace tutti {
namespace {

using detail::CommunicatorState;
using detail::Message;
using detail::MessageSpan;
using detail::nobody;
using detail::Operation;

/// Runs `find`, which gives an operation; errors of devices name the call.
template <class Find>
Operation& named(const CallSite& call, Count count, const Find& find) {
  try {
    return find();
  } catch (const detail::NoStagingMemory& missing) {
    refuse_for_memory(call, "count", count.value(), missing.what());
  } catch (const DeviceError& error) {
    fail_at(call, error);
  }
}

// The three ways to call. `find_ready(state)` gives the operation.
using State = std::shared_ptr<CommunicatorState>;

template <class FindReady>
void run_ready(CommunicatorState& state, const FindReady& find_ready) {
  detail::Progress::Entry entry{state.progress()};
  detail::run_to_end(find_ready(state), entry);
}

template <class FindReady>
Request start(const State& state, const FindReady& find_ready) {
  const detail::Progress::Entry entry{state->progress()};
  Operation& operation = find_ready(*state);
  operation.start(records::Manner::nonblocking);
  return Request{detail::owned(operation, state)};
}

template <class FindReady>
Plan plan(const State& state, const FindReady& find_ready) {
  const detail::Progress::Entry entry{state->progress()};
  return Plan{detail::owned(find_ready(*state), state)};
}

}  // namespace

struct Batch::Messages {
  State state;
  std::vector<Message> sends{}, recvs{};
  std::vector<detail::TaggedMessage> tagged{};
  mutable std::size_t checked = 0;  ///< So many messages, which was all, are known to go together.

  Operation& operator()(CommunicatorState& own) const {
    own.require_open();
    own.require_working();
    const CallSite site{"Batch", own.rank()};
    const Bytes first = sends.empty() ? (recvs.empty() ? Bytes{0} : recvs.front().bytes) : sends.front().bytes;
    return named(site, Count{first.value()}, [&]() -> Operation& { return found(site, own); });
  }

 private:
  [[nodiscard]] Operation& found(const CallSite& site, CommunicatorState& own) const {
    require_same_memory(site, sends);
    require_same_memory(site, recvs);
    if (checked != sends.size() + recvs.size()) {
      require_messages_to_itself(site, sends, recvs);
      require_apart(site, sends, recvs);
      checked = sends.size() + recvs.size();
    }
    return ready(own, sends, recvs);
  }
};

Batch::Batch(const Communicator& comm) : messages_(std::make_unique<Messages>(Messages{comm.share()})) {}
Batch::Batch(Batch&&) noexcept = default;
Batch& Batch::operator=(Batch&&) noexcept = default;
Batch::~Batch() = default;

Batch::Messages& Batch::messages() const {
  if (messages_ == nullptr) throw StateError("tutti: this batch was moved from");
  return *messages_;
}

void Batch::send(const void* data, Count count, Type type, Rank to) {
  const CommunicatorState& state = *messages().state;
  if (to == nobody) return;
  messages_->sends.push_back(
      detail::message_of({"send", state.rank()}, "to", data, count, type, to, state.members().size()));
}

void Batch::recv(void* data, Count count, Type type, Rank from) {
  const CommunicatorState& state = *messages().state;
  if (from == nobody) return;
  messages_->recvs.push_back(
      detail::message_of({"recv", state.rank()}, "from", data, count, type, from, state.members().size()));
}

void Batch::send(const void* data, Count count, Type type, Rank to, Tag tag) {
  const CommunicatorState& state = *messages().state;
  if (to != nobody) messages_->tagged.push_back(detail::tagged_send(state, data, count, type, to, tag));
}

void Batch::recv(void* data, Count count, Type type, Rank from, Tag tag, Received* received) {
  const CommunicatorState& state = *messages().state;
  if (from != nobody)
    messages_->tagged.push_back(detail::tagged_recv(state, data, count, type, from, tag, received));
  else if (received != nullptr)
    *received = detail::nothing_received();
}

Request Batch::start() const {
  const Messages& all = messages();
  if (all.tagged.empty()) return tutti::start(all.state, all);
  const detail::Progress::Entry entry{all.state->progress()};
  detail::OwnedOperation plain;
  if (!all.sends.empty() || !all.recvs.empty()) {
    plain = detail::owned(all(*all.state), all.state);
    plain->start(records::Manner::nonblocking);
  }
  return Request{std::move(plain), detail::started(all.state, all.tagged)};
}

Plan Batch::plan() const {
  const Messages& all = messages();
  if (!all.tagged.empty())
    refuse({"Batch::plan", all.state->rank()}, "tag", "given to a message of a batch",
           "batches without tags, or start()");
  return tutti::plan(all.state, all);
}

void Batch::run() const {
  if (!messages().tagged.empty()) return start().wait();
  run_ready(*messages().state, messages());
}

namespace {

using Given = std::optional<detail::RecentMessages::Message>;

Given unless_nobody(const detail::RecentMessages::Message& message) {
  if (message.peer == nobody) return std::nullopt;
  return message;
}

/// One message each way at most: the same as a Batch of them, but without a Batch. Calls that repeat an earlier one are
/// not checked again.
class OneEach {
 public:
  OneEach(const Communicator& comm, const Given& sent, const Given& received)
      : comm_(comm), sent_(sent), received_(received) {}

  void run() const { run_ready(comm_.state(), *this); }
  [[nodiscard]] Request start() const { return tutti::start(comm_.share(), *this); }
  [[nodiscard]] Plan plan() const { return tutti::plan(comm_.share(), *this); }

  /// The operation, ready to start.
  Operation& operator()(CommunicatorState& state) const {
    state.require_open();
    state.require_working();
    const CallSite both{"sendrecv", state.rank()};
    const Given& first = sent_ ? sent_ : received_;
    return named(both, first ? first->count : Count{0}, [&]() -> Operation& { return found(both, state); });
  }

 private:
  [[nodiscard]] Operation& found(const CallSite& both, CommunicatorState& state) const {
    const auto [recent, is_it] = state.plans().recent_messages().find(
        {where(sent_), size_and_peer(sent_), where(received_), size_and_peer(received_)},
        [&](const detail::RecentMessages& earlier) { return earlier.sent == sent_ && earlier.received == received_; });
    if (is_it && recent.allocations.are_those_of(recent.in, recent.out))
      return recent.plan->acquire(state, recent.in, recent.out);
    const std::optional<Message> received = checked({"recv", state.rank()}, "from", received_, state.members().size());
    const std::optional<Message> sent = checked({"send", state.rank()}, "to", sent_, state.members().size());
    require_messages_to_itself(both, span_of(sent), span_of(received));
    require_apart(both, span_of(sent), span_of(received));
    Operation& operation = ready(state, span_of(sent), span_of(received));
    recent = {sent_,
              received_,
              &operation.pool(),
              operation.input(),
              operation.output(),
              detail::KnownAllocations::of(operation.input(), sent ? sent->memory.allocation : 0, operation.output(),
                                           received ? received->memory.allocation : 0)};
    return operation;
  }
  // Numbers that tell the messages of a program apart.
  static std::uint64_t where(const Given& given) { return given ? detail::address(given->data) : 0; }
  static std::uint64_t size_and_peer(const Given& given) {
    if (!given) return 0;
    return static_cast<std::uint64_t>(given->count.value()) << 24U ^
           static_cast<std::uint64_t>(given->peer.value() + 1);
  }

  static std::optional<Message> checked(const CallSite& site, std::string_view argument, const Given& given, int size) {
    if (!given) return std::nullopt;
    return detail::message_of(site, argument, given->data, given->count, given->type, given->peer, size);
  }
  static MessageSpan span_of(const std::optional<Message>& message) {
    return message ? MessageSpan{&*message, 1} : MessageSpan{};
  }

  const Communicator& comm_;
  Given sent_, received_;
};

void require_other(std::string_view function, std::string_view argument, Rank peer, const Communicator& comm) {
  if (peer == comm.rank())
    refuse({function, comm.rank()}, argument, "this rank itself",
           "another rank, or a Batch with both the send and the receive");
}

OneEach sending(const void* data, Count count, Type type, Rank to, const Communicator& comm) {
  require_other("send", "to", to, comm);
  return {comm, unless_nobody({data, count, type, to}), {}};
}

OneEach receiving(void* data, Count count, Type type, Rank from, const Communicator& comm) {
  require_other("recv", "from", from, comm);
  return {comm, {}, unless_nobody({data, count, type, from})};
}

OneEach exchanging(const void* out, Count out_count, Rank to, void* in, Count in_count, Rank from, Type type,
                   const Communicator& comm) {
  return {comm, unless_nobody({out, out_count, type, to}), unless_nobody({in, in_count, type, from})};
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
