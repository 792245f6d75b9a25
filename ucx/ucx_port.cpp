#include "ucx/ucx_port.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "lib/device/driver/scoped_device.hpp"
#include "ucx/error.hpp"

namespace tutti::ucx {
namespace {

/// The number of polls that a message waits for UCX to let go of it, where a queue here may hold data that a peer
/// needs: data of a send that a socket has not taken yet, or the answer of a receive through shared memory to its
/// sender. Never for long: a flush may also wait for data that nobody needs, from a peer that has left the library.
int patience_with(const CompiledStep& step, bool is_near) {
  constexpr std::int64_t always_sent_at_once = 1024, rarely_sent_at_once = 8192;
  if (is_near) return step.verb != Verb::send && step.bytes > always_sent_at_once ? 100 : 0;
  return step.verb == Verb::send && step.bytes <= rarely_sent_at_once ? 1000 : 0;
}

}  // namespace

UcxPort::UcxPort(Worker& worker, UcxNetwork& network, const mpi::NetworkRoute& route, const CompiledPlan& plan)
    : worker_(worker), ucx_(library()), plan_(plan), messages_(std::make_unique<Messages>()) {
  messages_->of_step.resize(plan.steps.size());
  const cuda::ScopedDevice scope{plan.staging.device};  // UCX may choose the ways of an endpoint as it is made
  std::size_t count = 0;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const CompiledStep& step = plan.steps[i];
    if (!step.is_message() || step.transport != Transport::network) continue;
    const int rank = route.ranks[static_cast<std::size_t>(step.peer)];
    const bool is_near = worker.shares_memory() && route.nodes[static_cast<std::size_t>(step.peer)] ==
                                                       route.nodes[static_cast<std::size_t>(route.me)];
    const bool sends = step.verb == Verb::send;
    const ucp_tag_t tag = sends ? network.tag_to(rank, route.context) : network.tag_from(rank, route.context);
    messages_->of_step[i] = {.port = this,
                             .endpoint = network.endpoint(rank),
                             .connection = &network.connection(rank),
                             .tag = tag,
                             .bytes = static_cast<std::size_t>(step.bytes),
                             .index = static_cast<int>(i),
                             .peer = step.peer,
                             .device = step.device,
                             .is_received = !sends,
                             .patience = patience_with(step, is_near)};
    messages_->of_step[i].describe();
    has_device_data_ |= step.device >= 0;
    ++count;
  }
  moved_.reserve(count);
  settling_.reserve(count);
  completed_.reserve(count);
}

void UcxPort::Message::describe() {
  param.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA | UCP_OP_ATTR_FIELD_MEMORY_TYPE;
  param.user_data = this;
  param.memory_type = device >= 0 ? UCS_MEMORY_TYPE_CUDA : UCS_MEMORY_TYPE_HOST;
  if (is_received) {
    // By the callback alone: of a message that is there already UCX 1.13 would not say how long it is.
    param.op_attr_mask |= UCP_OP_ATTR_FLAG_NO_IMM_CMPL;
    param.cb.recv = on_received;
  } else {
    param.cb.send = on_sent;
  }
}

Posted UcxPort::post_send(int index, const CompiledStep& step, const std::byte* data) {
  Message& sent = message(index);
  sent.received = sent.bytes;
  const cuda::ScopedDevice scope{cuda::FarData::device(sent.device)};
  void* const request =
      ucx_.tag_send_nbx(sent.endpoint, data, static_cast<std::size_t>(step.bytes), tag_of(sent, step), &sent.param);
  if (request == nullptr && sent.patience == 0) return Posted::complete;  // nearly all that are short
  return started(sent, request);
}

Posted UcxPort::post_recv(int index, const CompiledStep& step, std::byte* into) {
  Message& awaited = message(index);
  constexpr ucp_tag_t all_bits = ~ucp_tag_t{0};
  const cuda::ScopedDevice scope{cuda::FarData::device(awaited.device)};
  void* const request = ucx_.tag_recv_nbx(worker_.handle(), into, static_cast<std::size_t>(step.bytes),
                                          tag_of(awaited, step), all_bits, &awaited.param);
  return started(awaited, request);
}

Posted UcxPort::started(Message& message, void* request) {
  if (ended(message, request)) {
    message.require_success();
    if (settles(message)) return Posted::complete;
  }
  ++in_flight_;
  if (message.device >= 0) cuda::FarData::begin(message.device);
  return Posted::pending;
}

/// Whether the message that a call has started is over by now. Else a callback will say so.
bool UcxPort::ended(Message& message, void* request) {
  if (std::exchange(message.ended_at_once, false)) return true;
  if (UCS_PTR_IS_PTR(request)) {
    message.request = request;
    return false;
  }
  message.status = UCS_PTR_RAW_STATUS(request);
  return true;
}

bool UcxPort::settles(Message& message) {
  if (message.patience == 0) return true;
  constexpr ucp_request_param_t plain{};
  const cuda::ScopedDevice scope{cuda::FarData::device(message.device)};
  void* const request = ucx_.ep_flush_nbx(message.endpoint, &plain);
  if (UCS_PTR_IS_PTR(request)) {
    settling_.push_back({&message, request, 0});
    return false;
  }
  message.status = UCS_PTR_RAW_STATUS(request);
  message.require_success();
  return true;
}

void UcxPort::look_at_settling() {
  std::erase_if(settling_, [this](Settling& settling) {
    const bool is_over = ucx_.request_check_status(settling.request) != UCS_INPROGRESS;
    if (!is_over && ++settling.looks < settling.message->patience) return false;
    ucx_.request_free(settling.request);
    completed_.push_back(settling.message->index);
    return true;
  });
}

void UcxPort::on_sent(void* request, ucs_status_t status, void* message) {
  auto& sent = *static_cast<Message*>(message);
  sent.status = status;
  sent.ended_at_once = sent.request == nullptr;  // the call that started it has not returned
  sent.request = nullptr;
  library().request_free(request);
  if (sent.port != nullptr && !sent.ended_at_once) sent.port->moved_.push_back(&sent);
}

void UcxPort::on_received(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info, void* message) {
  static_cast<Message*>(message)->received = info->length;
  on_sent(request, status, message);
}

int UcxPort::look() {
  if (in_flight_ == 0) return 0;
  if (moved_.empty()) worker_.progress();
  if (worker_.misses_peers()) require_peers();
  if (!settling_.empty()) look_at_settling();
  for (Message* const message : moved_) {
    message->require_success();
    if (settles(*message)) completed_.push_back(message->index);
  }
  moved_.clear();
  in_flight_ -= static_cast<int>(completed_.size());
  if (has_device_data_) note_end_of_finished();
  return static_cast<int>(completed_.size());
}

void UcxPort::note_end_of_finished() const {
  for (const int index : completed_)
    if (messages_->of_step[static_cast<std::size_t>(index)].device >= 0) cuda::FarData::end();
}

namespace {

[[noreturn]] void throw_lost(const Worker::Connection& connection, int peer, int step) {
  throw LostPeer(fmt::format("rank {} ({}) has ended or is out of reach, while a message of step {} was under way: {}",
                             peer, connection.process, step, library().status_string(connection.failed)));
}

}  // namespace

/// UCX ends sends to a peer that failed, but not receives, which any peer might serve.
void UcxPort::require_peers() const {
  for (const Message& message : messages_->of_step)
    if (message.request != nullptr && message.is_received && message.connection->failed != UCS_OK)
      throw_lost(*message.connection, message.peer, message.index);
}

/// Ranks that call with different counts are told, instead of going on with half a message.
void UcxPort::Message::require_success() const {
  const bool is_cut = status == UCS_ERR_MESSAGE_TRUNCATED;
  if (status != UCS_OK && !is_cut && connection->failed != UCS_OK) throw_lost(*connection, peer, index);
  if (status != UCS_OK && !is_cut)
    throw Error(fmt::format("message from or to rank {}: {}", peer, UcxError(status, "UCX").what()));
  if (is_cut || received != bytes)
    throw WrongMessage::of_length(peer, static_cast<std::int64_t>(received), static_cast<std::int64_t>(bytes));
}

int UcxPort::unfinished() const {
  const auto& all = messages_->of_step;
  const auto is_open = [](const Message& message) { return message.request != nullptr; };
  const auto receive =
      std::ranges::find_if(all, [&](const Message& each) { return is_open(each) && each.is_received; });
  if (receive != all.end()) return receive->index;
  const auto send = std::ranges::find_if(all, is_open);
  return send == all.end() ? -1 : send->index;
}

/// UCX tells of the first message that fits. The one that is waited for may be it, if it has come since.
int UcxPort::with_message_of_another_call() {
  if (!plan_.takes_turns) return -1;  // messages that are part of no collective have no fingerprint
  for (const Message& each : messages_->of_step) {
    if (each.request == nullptr || !each.is_received) continue;
    const ucp_tag_t right = tag_of(each, plan_.steps[static_cast<std::size_t>(each.index)]);
    ucp_tag_recv_info_t info{};
    const bool has_come = ucx_.tag_probe_nb(worker_.handle(), right, without_fingerprint, 0, &info) != nullptr;
    if (has_come && info.sender_tag != right) return each.index;
  }
  return -1;
}

/// Data of devices count as under way still: UCX may move those of sends.
bool UcxPort::abandon() noexcept {
  if (in_flight_ == 0) return true;
  for (Message& message : messages_->of_step) {
    message.port = nullptr;
    // Only receives can be withdrawn, and only those that nothing has arrived for.
    if (message.request != nullptr && message.is_received) ucx_.request_cancel(worker_.handle(), message.request);
  }
  for (const Settling& settling : settling_)
    ucx_.request_free(settling.request);
  settling_.clear();
  moved_.clear();
  in_flight_ = 0;
  if (sends_off()) return true;
  worker_.adopt(std::exchange(messages_, std::make_unique<Messages>()));
  return false;
}

/// Whether all messages have left in time. Peers find out by them that something is wrong, or wait for them.
bool UcxPort::sends_off() const noexcept {
  constexpr std::chrono::seconds in_time{1};
  const auto is_left = [](const Message& message) { return message.request != nullptr; };
  const auto start = std::chrono::steady_clock::now();
  while (std::ranges::any_of(messages_->of_step, is_left)) {
    if (std::chrono::steady_clock::now() - start > in_time) return false;
    worker_.progress();
  }
  return true;
}

}  // namespace tutti::ucx
