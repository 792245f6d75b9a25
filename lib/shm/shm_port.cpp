#include "lib/shm/shm_port.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "lib/engine/compiled_plan.hpp"
#include "tutti/error.hpp"

namespace tutti::shm {
namespace {

bool is_local_message(const CompiledStep& step) { return step.is_message() && is_shared_memory(step.path); }

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

ShmPort::ShmPort(const Route& route, const CompiledPlan& plan)
    : route_(route), plan_(&plan), completed_(plan.steps.size()) {
  if (route.links == nullptr) return;
  inline_bytes_ = route.links->geometry().inline_bytes;
  piece_bytes_ = plan.piece_of(route.links->geometry().area_bytes);
  channels_.resize(route.locals.size());
  if (!plan.takes_turns) numbers_.resize(plan.steps.size());
  std::size_t sends = 0, recvs = 0;
  bool shares = false;
  for (const CompiledStep& step : plan.steps) {
    if (!is_local_message(step)) continue;
    ++(step.verb == Verb::send ? sends : recvs);
    const auto peer = static_cast<std::size_t>(step.peer);
    if (channels_[peer] == nullptr) channels_[peer] = &route.links->open(route.locals[peer]);
    if (step.bytes > inline_bytes_) route.links->reserve_areas(route.locals[peer]);
    shares |= step.group >= 0 && step.bytes > inline_bytes_;
  }
  sends_.reserve(sends);
  recvs_.reserve(recvs);
  if (shares) sharing_.emplace(*route.links, plan);
}

Links::Queue& ShmPort::queue_of(const CompiledStep& step) const {
  Links::Queues& queues = route_.links->queues(route_.locals[static_cast<std::size_t>(step.peer)]);
  return step.verb == Verb::send ? queues.sends : queues.recvs;
}

void ShmPort::begin(std::uint64_t sequence, int lane) {
  if (route_.links == nullptr) return;
  ++run_;
  if (sharing_) sharing_->begin();
  sequence_ = static_cast<std::uint32_t>(sequence);
  lane_ = lane;
  if (plan_->takes_turns) return;
  sequence_ = 0;
  lane_ = route_.links->geometry().message_lane();
  for (std::size_t i = 0; i < numbers_.size(); ++i)
    if (is_local_message(plan_->steps[i])) numbers_[i] = queue_of(plan_->steps[i]).numbered++;
}

void ShmPort::require_same_kind() const {
  if (!plan_->takes_turns || recvs_.empty()) return;
  for (const Transfer& transfer : recvs_)
    for (int lane = 0; lane < route_.links->geometry().lanes; ++lane)
      for (const Way way : {Way::swap, Way::ring}) {
        const Stream other{lane, way};
        const bool same_lane = lane == lane_, same_way = (way == Way::swap) == (transfer.step->path == Path::swap);
        if ((same_lane && same_way) || !transfer.channel->awaited(other).is_there()) continue;
        const Envelope came = transfer.channel->look(other);
        if (came.operation != sequence_) continue;
        // Sizes that differ so much that one rank chose slots that the other does not look at.
        if (same_lane) throw_mismatch(*transfer.step, came, envelope_of(*transfer.step));
        throw Error(
            fmt::format("receive from rank {}: it makes another kind of call (blocking, nonblocking or "
                        "persistent); these do not match each other",
                        transfer.step->peer));
      }
}

bool ShmPort::move(Transfer& transfer) {
  const CompiledStep& step = *transfer.step;
  if (!is_next(transfer.index, step)) return false;
  do {
    const std::int64_t bytes = std::min(step.bytes - transfer.done, piece_bytes_);
    if (step.verb == Verb::send) {
      if (!send_piece(transfer, bytes)) return false;
    } else {
      if (!receive_piece(transfer, bytes)) return false;
    }
    transfer.done += bytes;
  } while (transfer.done < step.bytes);
  completed(transfer.index, step);
  return true;
}

bool ShmPort::send_piece(Transfer& transfer, std::int64_t bytes) {
  const CompiledStep& step = *transfer.step;
  Channel& channel = *transfer.channel;
  const Stream stream = stream_of(step, transfer.done);
  if (!channel.may_send(stream)) return false;
  const std::byte* const data = transfer.data.lhs + transfer.done;
  const auto size = static_cast<std::size_t>(bytes);
  if (bytes <= inline_bytes_) {
    channel.send(stream, envelope_of(step), data, size);
    return true;
  }
  return send_area(transfer, data, size);
}

bool ShmPort::send_area(Transfer& transfer, const std::byte* data, std::size_t bytes) {
  const CompiledStep& step = *transfer.step;
  Channel& channel = *transfer.channel;
  const Stream stream = stream_of(step, transfer.done);
  const std::size_t phase = phase_of(data);
  if (step.group >= 0) {
    const int published = sharing_->publish(step.group, transfer.done, data, bytes);
    if (published >= 0) {
      channel.send_area(stream, envelope_of(step), channel.published_code(published), phase);
      return true;
    }
    // A copy of its own costs more than a short wait, but the other readers must not keep it for long.
    if (transfer.looks++ < route_.patience) return false;
  }
  const int area = channel.take_area(stream.lane);
  if (area < 0) return false;
  std::memcpy(channel.area(area) + phase, data, bytes);
  channel.send_area(stream, envelope_of(step), area, phase);
  return true;
}

bool ShmPort::receive_piece(Transfer& transfer, std::int64_t bytes) {
  const CompiledStep& step = *transfer.step;
  Channel& channel = *transfer.channel;
  const Stream stream = stream_of(step, transfer.done);
  transfer.awaited = channel.awaited(stream);
  if (!transfer.awaited.is_there()) return false;
  const Envelope came = channel.look(stream);
  const Envelope expected = envelope_of(step);
  if (!came.is_same(expected)) throw_mismatch(step, came, expected);
  if (came.area == 0) {
    if (!receive_inline(transfer, bytes)) return false;
    channel.release(stream, came, static_cast<std::size_t>(bytes));
  } else {
    take(transfer, channel.piece(came), bytes);
    channel.release(stream, came, 0);
  }
  return true;
}

bool ShmPort::receive_inline(const Transfer& transfer, std::int64_t bytes) {
  const CompiledStep& step = *transfer.step;
  const auto size = static_cast<std::size_t>(bytes);
  const Stream stream = stream_of(step, transfer.done);
  if (step.verb == Verb::recv) return transfer.channel->read(stream, transfer.data.into + transfer.done, size);
  constexpr auto most = static_cast<std::size_t>(Geometry{}.inline_bytes);
  alignas(line_bytes) std::array<std::byte, most> arrived;  // NOLINT(cppcoreguidelines-pro-type-member-init): costs
  if (!transfer.channel->read(stream, arrived.data(), size)) return false;
  take(transfer, arrived.data(), bytes);
  return true;
}

/// Puts a piece where it belongs, straight from the memory in which it arrived.
void ShmPort::take(const Transfer& transfer, const std::byte* piece, std::int64_t bytes) const {
  const CompiledStep& step = *transfer.step;
  const auto& [lhs, rhs, into] = transfer.data;
  const std::int64_t at = transfer.done;
  if (step.verb == Verb::recv)
    std::memcpy(into + at, piece, static_cast<std::size_t>(bytes));
  else if (step.lands_left)
    plan_->combine(piece, rhs + at, into + at, bytes);
  else
    plan_->combine(lhs + at, piece, into + at, bytes);
}

}  // namespace tutti::shm
