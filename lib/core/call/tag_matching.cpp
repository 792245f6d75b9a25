#include "lib/core/call/tag_matching.hpp"

#include <mpi.h>

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>

#include "lib/core/communicator/communicator_state.hpp"
#include "lib/core/run/operation.hpp"
#include "lib/core/run/plan_cache.hpp"

namespace tutti::detail {
namespace {

/// Beside the messages without tags.
constexpr int tagged_class = 1;

/// Whether a receive wants a message.
bool fits(const TaggedMessage& recv, Rank source, std::int32_t tag) {
  return (recv.peer == any_source || recv.peer == source) && (recv.tag == any_tag || recv.tag.value() == tag);
}

void give_back(Operation*& operation) {
  operation->release();
  operation = nullptr;
}

/// Calls `end` of each whose operation is over, and forgets it. Throws its error.
template <class UnderWay, class End>
void end_those_over(std::list<UnderWay>& all, const End& end) {
  for (auto each = all.begin(); each != all.end();) {
    if (!each->operation->over()) {
      ++each;
      continue;
    }
    each->operation->rethrow();
    end(*each);
    give_back(each->operation);
    each = all.erase(each);
  }
}

}  // namespace

/// Gives all operations back: those that listened were withdrawn, or the communicator has failed and all are over.
TagMatching::~TagMatching() {
  end();
  for (Leaving& each : leaving_)
    give_back(each.operation);
  for (Copied& each : copies_)
    give_back(each.operation);
  for (auto& [rank, peer] : peers_)
    if (peer.operation != nullptr) give_back(peer.operation);
}

Operation& TagMatching::started(MessageSpan sends, MessageSpan recvs) {
  Operation& operation = ready(state_, sends, recvs, tagged_class);
  operation.start(records::Manner::nonblocking);
  return operation;
}

void TagMatching::send_header(Rank to, const Header& header, TaggedMessage* message) {
  auto kept = std::make_unique<Header>(header);
  const Message sent{to, reinterpret_cast<std::byte*>(kept.get()), Bytes{sizeof(Header)}, {}};
  leaving_.push_back({&started({&sent, 1}, {}), std::move(kept), message});
}

void TagMatching::send_payload(TaggedMessage& message, Rank to) {
  const Message sent{to, message.data, message.bytes, {message.device}};
  leaving_.push_back({&started({&sent, 1}, {}), nullptr, &message});
}

void TagMatching::post(TaggedMessage& message) {
  if (!message.is_sent) {
    const auto is_met = [&](const Unexpected& each) {
      return each.claimed == nullptr && fits(message, each.source, each.header.tag);
    };
    if (const auto found = std::ranges::find_if(unexpected_, is_met); found != unexpected_.end())
      return meet(message, found);
    recvs_.push_back(&message);
    expect(message, 1);
    return listen();
  }
  if (message.peer == state_.rank()) {
    send_to_itself(message);
    return listen();
  }
  Header header{.bytes = message.bytes.value(), .tag = message.tag.value()};
  if (message.device < 0 && message.bytes <= Bytes{header.data.size()}) {
    std::copy_n(message.data, message.bytes.value(), header.data.begin());
    return send_header(message.peer, header, &message);
  }
  if (message.device < 0 && message.bytes <= Bytes{eager_bytes}) {
    header.kind = Header::Kind::eager;
    send_header(message.peer, header);
    return send_payload(message, message.peer);
  }
  header.kind = Header::Kind::announced;
  header.id = next_id_++;
  announced_[header.id] = &message;
  ++peer_of(message.peer).expected;
  send_header(message.peer, header);
  listen();
}

void TagMatching::send_to_itself(TaggedMessage& message) {
  Unexpected own{.source = message.peer, .header = {.bytes = message.bytes.value(), .tag = message.tag.value()}};
  if (message.device < 0 && message.bytes <= Bytes{eager_bytes}) {
    own.header.kind = Header::Kind::eager;
    own.data.assign(message.data, message.data + message.bytes.value());
    end(message);
  } else {
    own.header.kind = Header::Kind::announced;
    own.header.id = next_id_++;
    announced_[own.header.id] = &message;
  }
  TaggedMessage* const recv = matched(own.source, own.header.tag);
  unexpected_.push_back(std::move(own));
  if (recv != nullptr) meet(*recv, std::prev(unexpected_.end()));
}

bool TagMatching::take_back(TaggedMessage& message) {
  const auto found = std::ranges::find(recvs_, &message);
  if (found == recvs_.end()) return false;
  recvs_.erase(found);
  expect(message, -1);
  listen();
  end(message);
  return true;
}

void TagMatching::expect(const TaggedMessage& recv, int more) {
  if (recv.peer == any_source)
    from_any_ += more;
  else if (recv.peer != state_.rank())
    peer_of(recv.peer).expected += more;
}

/// Looks for headers of all ranks that owe one.
void TagMatching::listen() {
  if (has_ended_) return;
  if (from_any_ > 0)
    for (int rank = 0; rank < state_.members().size(); ++rank)
      if (rank != state_.rank().value()) static_cast<void>(peer_of(Rank{rank}));
  for (auto& [rank, peer] : peers_) {
    const bool is_wanted = peer.expected + from_any_ > 0;
    if (peer.operation == nullptr && is_wanted) {
      const Message header{Rank{rank}, reinterpret_cast<std::byte*>(&peer.header), Bytes{sizeof(Header)}, {}};
      peer.gets_payload = false;
      peer.operation = &started({}, {&header, 1});
    }
    if (peer.operation != nullptr) peer.operation->is_unasked = !is_wanted && !peer.gets_payload;
  }
}

TaggedMessage* TagMatching::matched(Rank source, std::int32_t tag) {
  const auto found = std::ranges::find_if(recvs_, [&](const auto* recv) { return fits(*recv, source, tag); });
  if (found == recvs_.end()) return nullptr;
  TaggedMessage* const recv = *found;
  recvs_.erase(found);
  expect(*recv, -1);
  return recv;
}

bool TagMatching::has_room(TaggedMessage& recv, Rank source, const Header& header) {
  if (header.bytes <= recv.bytes.value()) return true;
  recv.failure = std::make_exception_ptr(Error(
      fmt::format("tutti::recv on rank {}: a message of {} bytes with tag {} came from rank {}, for a receive with "
                  "room for {} bytes; it is lost, and the communicator works on",
                  state_.rank().value(), header.bytes, header.tag, source.value(), recv.bytes.value())));
  end(recv, source, header);
  return false;
}

void TagMatching::end(TaggedMessage& message) { message.is_over = true; }

void TagMatching::end(TaggedMessage& recv, Rank source, const Header& header) {
  if (recv.received != nullptr) *recv.received = {source, Tag{header.tag}, Count{header.bytes / recv.element.value()}};
  end(recv);
}

/// Data that are in memory of the host.
void TagMatching::deliver(TaggedMessage& recv, Rank source, const Header& header, const std::byte* data) {
  if (recv.device >= 0 && header.bytes > 0) {
    auto from = std::make_unique<Unexpected>(Unexpected{.source = source, .header = header});
    from->data.assign(data, data + header.bytes);
    const Message sent{state_.rank(), from->data.data(), Bytes{header.bytes}, {}};
    const Message received{state_.rank(), recv.data, Bytes{header.bytes}, {recv.device}};
    copies_.push_back({&started({&sent, 1}, {&received, 1}), &recv, std::move(from)});
    return;
  }
  if (header.bytes > 0) std::memcpy(recv.data, data, static_cast<std::size_t>(header.bytes));
  end(recv, source, header);
}

/// A receive and a message that came before it.
void TagMatching::meet(TaggedMessage& recv, UnexpectedList::iterator message) {
  const Rank source = message->source;
  const Header header = message->header;
  if (header.kind == Header::Kind::announced) {
    unexpected_.erase(message);
    return accept(recv, source, header);
  }
  if (!message->has_come) {
    message->claimed = &recv;
    return;
  }
  if (has_room(recv, source, header))
    deliver(recv, source, header, header.kind == Header::Kind::within ? header.data.data() : message->data.data());
  unexpected_.erase(message);
}

/// An announced message has met a receive.
void TagMatching::accept(TaggedMessage& recv, Rank source, const Header& header) {
  const bool is_own = source == state_.rank(), fits = has_room(recv, source, header);
  if (is_own) {
    TaggedMessage& sent = *announced_.extract(header.id).mapped();
    if (!fits) return end(sent);
    const Message from{source, sent.data, sent.bytes, {sent.device}},
        into{source, recv.data, sent.bytes, {recv.device}};
    auto about = std::make_unique<Unexpected>(Unexpected{.source = source, .header = header, .claimed = &sent});
    copies_.push_back({&started({&from, 1}, {&into, 1}), &recv, std::move(about)});
    return;
  }
  Header answer = header;
  answer.kind = fits ? Header::Kind::accepted : Header::Kind::refused;
  if (fits) {
    accepted_[{source.value(), header.id}] = &recv;
    ++peer_of(source).expected;
  }
  send_header(source, answer);
  listen();
}

void TagMatching::receive_payload(Rank source, Peer& its, std::byte* into, Bytes bytes, int device) {
  const Message payload{source, into, bytes, {device}};
  its.gets_payload = true;
  its.operation = &started({}, {&payload, 1});
}

namespace {

/// The message that a header names. There is none if a rank has gone astray.
template <class Messages, class Key>
TaggedMessage& taken_from(Messages& messages, const Key& key, Rank source) {
  auto node = messages.extract(key);
  if (node.empty()) throw Error(fmt::format("rank {} answered to a message that there is not", source.value()));
  return *node.mapped();
}

}  // namespace

/// No rank sends another.
void TagMatching::require_sound(Rank source, const Header& header) {
  using Kind = Header::Kind;
  const std::int64_t most = header.kind == Kind::within  ? static_cast<std::int64_t>(header.data.size())
                            : header.kind == Kind::eager ? eager_bytes
                                                         : std::numeric_limits<std::int64_t>::max();
  if (header.kind > Kind::payload || header.bytes < 0 || header.bytes > most || header.tag < 0)
    throw Error(fmt::format("the header of a message with a tag from rank {} is damaged", source.value()));
}

/// A header has come.
void TagMatching::take(Rank source, Peer& its) {
  const Header header = its.header;
  using Kind = Header::Kind;
  require_sound(source, header);
  switch (header.kind) {
    case Kind::accepted: {
      --its.expected;
      TaggedMessage& message = taken_from(announced_, header.id, source);
      Header payload = header;
      payload.kind = Kind::payload;
      send_header(source, payload);
      return send_payload(message, source);
    }
    case Kind::refused:
      --its.expected;
      return end(taken_from(announced_, header.id, source));
    case Kind::payload: {
      --its.expected;
      TaggedMessage& recv = taken_from(accepted_, Announced{source.value(), header.id}, source);
      its.into = &recv;
      return receive_payload(source, its, recv.data, Bytes{header.bytes}, recv.device);
    }
    case Kind::within:
    case Kind::eager:
    case Kind::announced:
      return take_new(source, its);
  }
}

/// The header of a message that this rank has not heard of.
void TagMatching::take_new(Rank source, Peer& its) {
  using Kind = Header::Kind;
  const Header header = its.header;
  TaggedMessage* const recv = matched(source, header.tag);
  if (header.kind == Kind::eager) {
    const bool goes_there = recv != nullptr && recv->device < 0 && header.bytes <= recv->bytes.value();
    its.into = goes_there ? recv : nullptr;
    if (goes_there) return receive_payload(source, its, recv->data, Bytes{header.bytes}, -1);
    its.kept =
        unexpected_.insert(unexpected_.end(), {.source = source, .header = header, .has_come = false, .claimed = recv});
    its.kept->data.resize(static_cast<std::size_t>(header.bytes));
    return receive_payload(source, its, its.kept->data.data(), Bytes{header.bytes}, -1);
  }
  if (recv == nullptr) {
    unexpected_.push_back({.source = source, .header = header});
  } else if (header.kind == Kind::announced) {
    accept(*recv, source, header);
  } else if (has_room(*recv, source, header)) {
    deliver(*recv, source, header, header.data.data());
  }
}

/// The payload whose header came last has come.
void TagMatching::take_payload(Rank source, Peer& its) {
  if (its.into != nullptr) return end(*std::exchange(its.into, nullptr), source, its.header);
  its.kept->has_come = true;
  if (TaggedMessage* const recv = std::exchange(its.kept->claimed, nullptr)) meet(*recv, its.kept);
}

void TagMatching::advance_peer(Rank source, Peer& its) {
  while (its.operation != nullptr && its.operation->over()) {
    its.operation->rethrow();
    give_back(its.operation);
    if (std::exchange(its.gets_payload, false))
      take_payload(source, its);
    else
      take(source, its);
    listen();
  }
}

void TagMatching::advance() {
  try {
    state_.require_working();
    end_those_over(leaving_, [](const Leaving& each) {
      if (each.message != nullptr) end(*each.message);
    });
    end_those_over(copies_, [](const Copied& each) {
      if (each.from->claimed != nullptr) end(*each.from->claimed);
      end(*each.recv, each.from->source, each.from->header);
    });
    for (auto& [rank, peer] : peers_)
      advance_peer(Rank{rank}, peer);
  } catch (const std::exception& error) {
    const std::string why = fmt::format("messages with tags on rank {}: {}", state_.rank().value(), error.what());
    state_.fail(records::FailureKind::error, why);
    fail_all();
  }
}

/// The communicator has failed: everything that is under way there ends with that error.
void TagMatching::fail_all() noexcept {
  const std::exception_ptr why = std::current_exception();
  const auto fail = [&](TaggedMessage* message) {
    if (message == nullptr || message->is_over) return;
    message->failure = why;
    end(*message);
  };
  for (TaggedMessage* const recv : recvs_)
    fail(recv);
  for (const auto& [id, message] : announced_)
    fail(message);
  for (const auto& [from, message] : accepted_)
    fail(message);
  for (const Leaving& each : leaving_)
    fail(each.message);
  for (const Copied& each : copies_) {
    fail(each.recv);
    fail(each.from->claimed);
  }
  for (auto& [rank, peer] : peers_)
    fail(peer.into);
  for (const Unexpected& each : unexpected_)
    fail(each.claimed);
  recvs_.clear();
  announced_.clear();
  accepted_.clear();
  from_any_ = 0;
  has_ended_ = true;
}

bool TagMatching::is_busy() const {
  return !recvs_.empty() || !announced_.empty() || !accepted_.empty() || !leaving_.empty() || !copies_.empty() ||
         std::ranges::any_of(peers_, [](const auto& each) { return each.second.gets_payload; });
}

int TagMatching::unasked() const {
  return static_cast<int>(std::ranges::count_if(peers_, [](const auto& each) {
    return each.second.operation != nullptr && each.second.operation->is_unasked && !each.second.operation->over();
  }));
}

void TagMatching::end() noexcept {
  has_ended_ = true;
  for (auto& [rank, peer] : peers_)
    if (peer.operation != nullptr && !peer.gets_payload && !peer.operation->over()) peer.operation->withdraw();
}

}  // namespace tutti::detail
