#include "lib/core/call/tagged_call.hpp"

#include <fmt/format.h>

#include <utility>

#include "lib/core/call/messages.hpp"
#include "lib/core/call/tag_matching.hpp"
#include "tutti/batch.hpp"

namespace tutti {
namespace detail {
namespace {

/// Checked as a message without a tag; one from any rank as if it came from this one.
TaggedMessage checked(const CallSite& site, std::string_view argument, const void* data, Count count, Type type,
                      Rank peer, Tag tag, int size) {
  const bool is_sent = argument == "to", takes_any = !is_sent && tag == any_tag;
  if (tag.value() < 0 && !takes_any)
    refuse(site, "tag", std::to_string(tag.value()), is_sent ? "0 to 2147483647" : "0 to 2147483647, or any_tag");
  const Rank checked_peer = !is_sent && peer == any_source ? site.rank : peer;
  const Message message = message_of(site, argument, data, count, type, checked_peer, size);
  return {.is_sent = is_sent,
          .peer = peer,
          .tag = tag,
          .data = message.data,
          .bytes = message.bytes,
          .device = message.memory.device,
          .element = size_of(type)};
}

void post(Matching& matching, TaggedMessage& message) noexcept {
  try {
    matching.post(message);
  } catch (...) {
    message.failure = std::current_exception();
    message.is_over = true;
  }
}

}  // namespace

TaggedMessage tagged_send(const CommunicatorState& state, const void* data, Count count, Type type, Rank to, Tag tag) {
  return checked({"send", state.rank()}, "to", data, count, type, to, tag, state.members().size());
}

TaggedMessage tagged_recv(const CommunicatorState& state, void* data, Count count, Type type, Rank from, Tag tag,
                          Received* received) {
  TaggedMessage message = checked({"recv", state.rank()}, "from", data, count, type, from, tag, state.members().size());
  message.received = received;
  return message;
}

OwnedTaggedCall started(const std::shared_ptr<CommunicatorState>& state, std::span<const TaggedMessage> messages) {
  state->require_open();
  state->require_working();
  if (state->matching() == nullptr) state->match_by(std::make_unique<TagMatching>(*state));
  OwnedTaggedCall call{new TaggedCall{.state = state}};
  for (const TaggedMessage& message : messages)
    call->messages.push_back(std::make_unique<TaggedMessage>(message));
  for (const bool sends : {false, true})
    for (const auto& message : call->messages)
      if (message->is_sent == sends) post(*state->matching(), *message);
  return call;
}

}  // namespace detail

namespace {

Request start(const detail::TaggedMessage& message, const Communicator& comm) {
  const detail::Progress::Entry entry{comm.state().progress()};
  return Request{{}, detail::started(comm.share(), {&message, 1})};
}

}  // namespace

Request send_async(const void* data, Count count, Type type, Rank to, Tag tag, const Communicator& comm) {
  if (to == detail::nobody) return {};
  return start(detail::tagged_send(comm.state(), data, count, type, to, tag), comm);
}

Request recv_async(void* data, Count count, Type type, Rank from, Tag tag, const Communicator& comm,
                   Received* received) {
  if (from == detail::nobody) {
    if (received != nullptr) *received = detail::nothing_received();
    return {};
  }
  return start(detail::tagged_recv(comm.state(), data, count, type, from, tag, received), comm);
}

void send(const void* data, Count count, Type type, Rank to, Tag tag, const Communicator& comm) {
  send_async(data, count, type, to, tag, comm).wait();
}

Received recv(void* data, Count count, Type type, Rank from, Tag tag, const Communicator& comm) {
  Received received;
  recv_async(data, count, type, from, tag, comm, &received).wait();
  return received;
}

}  // namespace tutti
