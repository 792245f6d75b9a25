#include "lib/transport/shm/shm_port.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "tutti/error.hpp"

namespace tutti::shm {
namespace {

bool is_local_message(const CompiledStep& step) { return step.is_message() && step.transport == Transport::shm; }

/// Whether the plan has one receive from each of the others.
bool hears_once_from(int others, const std::vector<CompiledStep>& steps) {
  const auto is_first = [](const CompiledStep& step) { return step.receives() && step.previous < 0; };
  return std::ranges::count_if(steps, &CompiledStep::receives) == others &&
         std::ranges::count_if(steps, is_first) == others;
}

[[noreturn]] void throw_mismatch(const CompiledStep& step, const Envelope& came, const Envelope& expected) {
  if (came.operation == expected.operation && came.message == expected.message)
    throw Error(
        fmt::format("receive from rank {}: {} bytes arrived where {} were expected: do all ranks call the same "
                    "collective with the same count and type, in the same order?",
                    step.peer, came.bytes, expected.bytes));
  throw Error(
      fmt::format("receive from rank {}: message {} of operation {} arrived where message {} of operation {} was "
                  "expected: do all ranks call the same collective with the same count and type, in the same order?",
                  step.peer, came.message, came.operation, expected.message, expected.operation));
}

}  // namespace

ShmPort::ShmPort(const Route& route, const SharedPlan& plan)
    : route_(route), plan_(&plan), completed_(plan.steps.size()), joints_(plan.joints.size()) {
  if (route.links == nullptr) return;
  inline_bytes_ = route.links->geometry().inline_bytes;
  piece_bytes_ = plan.piece_of(route.links->geometry().area_bytes);
  heap_ = route.links->heap();
  if (route.processors != nullptr) {
    hears_once_from_all_ = hears_once_from(route.links->ranks() - 1, plan.steps);
    if (std::ranges::count_if(plan.steps, &CompiledStep::receives) == 1) looks_elsewhere_ = route.looks_elsewhere;
    if (looks_elsewhere_ > 0 && plan.steps.size() == 1)
      looks_elsewhere_ += static_cast<int>(plan.steps.front().bytes / bytes_a_look);
  }
  if (!plan.takes_turns) lane_ = route.links->geometry().message_lane();
  if (plan.forwards) {
    forwarded_.resize(plan.steps.size());
    delivered_.resize(plan.steps.size());
  }
  channels_.resize(route.locals.size());
  if (!plan.takes_turns) numbers_.resize(plan.steps.size());
  std::size_t sends = 0, recvs = 0;
  bool follows = false;
  for (const CompiledStep& step : plan.steps) {
    if (!is_local_message(step)) continue;
    ++(step.verb == Verb::send ? sends : recvs);
    const auto peer = static_cast<std::size_t>(step.peer);
    if (channels_[peer] == nullptr) channels_[peer] = &route.links->open(route.locals[peer]);
    if (step.bytes > inline_bytes_) route.links->reserve_areas(route.locals[peer]);
    follows |= step.previous >= 0;
  }
  sends_once_ = sends == 1 && recvs == 0;
  sends_.reserve(sends);
  recvs_.reserve(recvs);
  if (plan.takes_turns && follows) parked_.resize(plan.steps.size());
  if (plan.groups > 0) sharing_.emplace(*route.links, plan);
}

Links::Queue& ShmPort::queue_of(const CompiledStep& step) const {
  Links::Queues& queues = route_.links->queues(local_of(step));
  return step.verb == Verb::send ? queues.sends : queues.recvs;
}

void ShmPort::begin(std::uint64_t sequence, int lane) {
  if (route_.links == nullptr) return;
  ++run_;
  if (sharing_) sharing_->begin();
  std::ranges::fill(forwarded_, 0);
  std::ranges::fill(delivered_, 0);
  std::ranges::fill(joints_, Joint{});
  if (plan_->takes_turns) return set_turn(sequence, lane);
  for (std::size_t i = 0; i < numbers_.size(); ++i)
    if (is_local_message(plan_->steps[i])) numbers_[i] = queue_of(plan_->steps[i]).numbered++;
}

int ShmPort::looks_before_turn() const {
  if (hears_once_from_all_) return awaiting_->verb != Verb::send && waits_for_other_processors() ? looks_a_turn : 0;
  if (looks_elsewhere_ == 0) return 0;
  route_.processors->update();
  return is_here(*awaiting_) ? 0 : looks_elsewhere_;
}

bool ShmPort::waits_for_other_processors() const {
  route_.processors->update();
  const auto is_missing = [this](const CompiledStep& step) {
    return step.receives() && is_here(step) && !channel_of(step)->incoming(stream_of(step, 0)).is_there();
  };
  return std::none_of(awaiting_, plan_->steps.data() + plan_->steps.size(), is_missing);
}

void ShmPort::require_same_kind() const {
  if (!plan_->takes_turns || recvs_.empty()) return;
  for (const Transfer& transfer : recvs_)
    for (int lane = 0; lane < route_.links->geometry().lanes; ++lane)
      for (const Way way : {Way::swap, Way::ring}) {
        const Stream other{lane, way};
        const bool same_lane = lane == lane_,
                   same_way = (way == Way::swap) == (side_of(*transfer.step).way == Way::swap);
        const Channel::Incoming incoming = transfer.channel->incoming(other);
        if ((same_lane && same_way) || !incoming.is_there()) continue;
        const Envelope came = incoming.envelope();
        if (came.operation != sequence_) continue;
        // Sizes that differ so much that one rank chose slots that the other does not look at.
        if (same_lane) throw_mismatch(*transfer.step, came, envelope_of(*transfer.step));
        throw Error(
            fmt::format("receive from rank {}: it makes another kind of call (blocking, nonblocking or "
                        "persistent); these do not match each other",
                        transfer.step->peer));
      }
}

bool ShmPort::receive_from_slot(Transfer& transfer) {
  const CompiledStep& step = *transfer.step;
  if (!is_next(transfer.index, step) || receive_piece(transfer, step.bytes) == Received::nothing) return false;
  completed(transfer.index, step);
  return true;
}

bool ShmPort::move_pieces(Transfer& transfer) {
  const CompiledStep& step = *transfer.step;
  if (transfer.loan != 0 && transfer.done == step.bytes) return is_read(transfer);
  if (const int number = side_of(step).joint; number >= 0 && transfer.done == 0) {
    const Joint& joint = joints_[static_cast<std::size_t>(number)];
    if (joint.done == step.bytes) return true;
    if (!joint.is_off && reduce_jointly(transfer.index, step)) {
      transfer.done = step.bytes;
      return true;
    }
    if (!joint.is_off) return false;
    transfer.done = joint.done;
  }
  if (!is_next(transfer.index, step)) return false;
  if (step.verb == Verb::send && !forwarded_.empty() && transfer.done == 0)
    transfer.done = forwarded_[static_cast<std::size_t>(transfer.index)];
  if (transfer.done > 0 && transfer.done == step.bytes) {
    completed(transfer.index, step);
    return true;
  }
  bool gives_way = false;
  do {
    const std::int64_t bytes = std::min(step.bytes - transfer.done, piece_bytes_);
    if (step.verb == Verb::send) {
      if (!send_piece(transfer, bytes)) return false;
    } else {
      const Received received = receive_piece(transfer, bytes);
      if (received == Received::nothing) return false;
      // Its sender does the same with what this rank lends: the next loans, quickly made, must not wait for all pieces.
      gives_way = received == Received::piece_in_place;
    }
    if (gives_way && transfer.done < step.bytes) {
      transfer.awaited = {};
      return false;
    }
  } while (transfer.done < step.bytes);
  if (transfer.is_exposed) return false;
  completed(transfer.index, step);
  return transfer.loan == 0 || transfer.channel->has_read(lane_, transfer.loan);
}

bool ShmPort::send_piece(Transfer& transfer, std::int64_t bytes) {
  const CompiledStep& step = *transfer.step;
  Channel& channel = *transfer.channel;
  const Stream stream = stream_of(step, transfer.done);
  if (!channel.may_send(stream)) return false;
  const std::byte* const data = transfer.data.lhs + transfer.done;
  const auto size = static_cast<std::size_t>(bytes);
  if (bytes <= inline_bytes_)
    channel.send(stream, envelope_of(step), data, size);
  else if (!delivered_.empty() && delivered_[static_cast<std::size_t>(transfer.index)] > transfer.done)
    channel.send_delivered(stream, envelope_of(step));
  else if (const std::int64_t source = lent_from(step, data, bytes); source >= 0)
    lend(transfer, source);
  else if (transfer.done == 0 && expose(transfer))
    return true;
  else if (!send_area(transfer, data, size))
    return false;
  transfer.done += bytes;
  return true;
}

ShmPort::Received ShmPort::receive_piece(Transfer& transfer, std::int64_t bytes) {
  const CompiledStep& step = *transfer.step;
  Channel& channel = *transfer.channel;
  const Stream stream = stream_of(step, transfer.done);
  const Channel::Incoming incoming = channel.incoming(stream);
  transfer.awaited = incoming;
  if (bytes <= inline_bytes_) incoming.expect(static_cast<std::size_t>(bytes));
  if (!incoming.is_there()) return Received::nothing;
  const Envelope came = incoming.envelope();
  const Envelope expected = envelope_of(step);
  if (!came.is_same(expected)) throw_mismatch(step, came, expected);
  if (came.area == 0) {
    if (!receive_inline(step, transfer.rest(), incoming, bytes)) return Received::nothing;
    channel.release(stream, came);
    transfer.done += bytes;
    return Received::piece;
  }
  if (came.area == Envelope::exposed) return receive_exposed(transfer, incoming, came);
  if (came.area == Envelope::lent)
    borrow(transfer, incoming.loan(), bytes);
  else if (came.area == Envelope::delivered)
    ++route_.counters->delivered;
  else if (!(side_of(step).forward >= 0 && forward(transfer, channel.piece(came), bytes)))
    take(step, transfer.rest(), channel.piece(came), bytes);
  channel.release(stream, came);
  transfer.done += bytes;
  return came.area == Envelope::lent ? Received::piece_in_place : Received::piece;
}

bool ShmPort::receive_inline(const CompiledStep& step, const Operands& data, const Channel::Incoming& incoming,
                             std::int64_t bytes) const {
  const auto size = static_cast<std::size_t>(bytes);
  if (step.verb == Verb::recv) return incoming.read(data.into, size);
  if (size <= in_first_line) {
    take(step, data, incoming.data(), bytes);
    return true;
  }
  constexpr auto most = static_cast<std::size_t>(Geometry{}.inline_bytes);
  alignas(line_bytes) std::array<std::byte, most> arrived;  // NOLINT(cppcoreguidelines-pro-type-member-init): costs
  if (!incoming.read(arrived.data(), size)) return false;
  take(step, data, arrived.data(), bytes);
  return true;
}

}  // namespace tutti::shm
