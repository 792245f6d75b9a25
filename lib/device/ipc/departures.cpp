#include "lib/device/ipc/departures.hpp"

#include <fmt/format.h>

#include <functional>

#include "tutti/error.hpp"

namespace tutti::ipc {

Departures::Departures(Core& core) : core_(&core), departures_(core.plan->steps.size()) {
  pending_.reserve(departures_.size());
}

void Departures::begin() {
  constexpr int runs_staged = 16;  // then a peer is asked again: its buffers may be on a device by now
  known_.clear();
  const bool asks_again = ++runs_ % runs_staged == 0;
  for (Departure& each : departures_) {
    each.is_delivered = false;
    if (asks_again) each.refused = {};
  }
}

Posted Departures::post(int index, const std::byte* data) {
  Departure& departure = at(index);
  departure.data = data;
  departure.state = State::waits;
  if (move(index)) return Posted::complete;
  pending_.push_back(index);
  return Posted::pending;
}

void Departures::poll(std::vector<int>& completed) {
  Core::move_all(pending_, completed, [this](int index) { return move(index); });
}

bool Departures::move(int index) {
  switch (at(index).state) {
    case State::waits:
      return leave(index);
    case State::is_lent:
      return is_taken(index);
    case State::idle:
      return true;
    case State::is_fetched:
    case State::leaves:
      break;  // fetched() and sent_by_host() go on with it
  }
  return false;
}

bool Departures::leave(int index) {
  if (!core_->is_next(index)) return false;
  Departure& departure = at(index);
  if (core_->step(index).device < 0) return send_by_host(index, departure.data);
  shm::Ring& ring = core_->ring_of(index);
  if (!ring.may_send()) return false;
  if (departure.is_delivered) {
    ring.send(core_->envelope_of(index, shm::Where::delivered), nullptr, 0);
    core_->transferred(index);
    return over(index);
  }
  if (!lend(index)) fetch(index);
  return false;
}

/// False: peers cannot map the memory, or this one has refused it.
bool Departures::lend(int index) {
  Departure& departure = at(index);
  departure.source = place_of(index, departure.data);
  if (!departure.source.is_there()) return false;
  if (departure.source.is_in_allocation_of(departure.refused)) {
    core_->exchange.exports().give_back(departure.source);
    return false;
  }
  shm::DeviceLoan loan{
      .place = departure.source.number, .generation = departure.source.generation, .offset = departure.source.offset};
  if (const shm::SideStep& side = core_->side(index); side.answer >= 0) {
    departure.answer = place_of(index, core_->bases->at(side.answer_into, side.answer_at));
    loan.answer_place = departure.answer.number;
    loan.answer_generation = departure.answer.generation;
    loan.answer_offset = departure.answer.offset;
    loan.answer_message = side.answer;
  }
  departure.loan = core_->ring_of(index).lend(core_->envelope_of(index, shm::Where::on_device), loan);
  departure.state = State::is_lent;
  return true;
}

bool Departures::is_taken(int index) {
  Departure& departure = at(index);
  shm::Ring& ring = core_->ring_of(index);
  if (!ring.has_read(departure.loan)) return false;
  core_->exchange.exports().give_back(departure.source);
  core_->exchange.exports().give_back(departure.answer);
  const ExportedAddress source = departure.source;
  departure.source = departure.answer = {};
  if (ring.was_refused()) {
    departure.refused = source;
    departure.state = State::waits;
    return false;
  }
  core_->transferred(index);
  return over(index);
}

void Departures::fetch(int index) {
  Departure& departure = at(index);
  departure.block = core_->take_block(index);
  if (departure.block.data == nullptr) return;
  departure.state = State::is_fetched;
  core_->copy(index, departure.data, departure.block.data, core_->device_of(index).stream_to_host());
}

void Departures::fetched(int index) {
  static_cast<void>(send_by_host(index, at(index).block.data));  // poll() tells it
}

bool Departures::send_by_host(int index, const std::byte* data) {
  at(index).state = State::leaves;
  return core_->host.post_send(index, core_->step(index), data) == Posted::complete && over(index);
}

void Departures::sent_by_host(int index) { over(index); }

/// poll() tells it.
bool Departures::over(int index) {
  Departure& departure = at(index);
  if (departure.block.data != nullptr) core_->give_back(departure.block);
  departure.state = State::idle;
  return true;
}

ExportedAddress Departures::place_of(int index, const std::byte* data) {
  const Allocation& allocation = allocation_at(index, data);
  if (data + core_->step(index).bytes > allocation.end) return {};  // it goes on in another one
  return core_->exchange.lend(allocation, data, core_->device_of(index).context());
}

/// Looked up in every run: the program may have freed the memory since the one before.
const Allocation& Departures::allocation_at(int index, const std::byte* data) {
  const std::less<> before;
  for (const Allocation& each : known_)
    if (!before(data, each.begin) && before(data, each.end)) return each;
  const Allocation found = allocation_of(data);
  if (found.memory.kind == MemoryKind::device) return known_.emplace_back(found);
  core_->ring_of(index).send(core_->envelope_of(index, shm::Where::failed), nullptr, 0);
  throw Error(
      fmt::format("send to rank {}: its data are in {}, no more in CUDA device memory: the program has freed it",
                  core_->step(index).peer, to_string(found.memory)));
}

void Departures::abandon() noexcept {
  for (const int index : pending_) {
    // Peers may still read what they were lent, so its places and blocks stay as they are.
    at(index) = Departure{};
  }
  pending_.clear();
}

}  // namespace tutti::ipc
