#include "lib/transport/shm/eager/channel.hpp"

namespace tutti::shm {

Channel::Channel(const Geometry& geometry, std::byte* pair, int side, std::byte* published, Publisher& publisher)
    : geometry_(geometry),
      ring_mask_(static_cast<std::uint64_t>(geometry.ring_slots) - 1),
      slot_bytes_(static_cast<std::uint64_t>(geometry.slot_bytes())),
      pair_(pair),
      published_(published),
      publisher_(publisher),
      side_(side),
      lanes_(static_cast<std::size_t>(geometry.all_lanes())),
      is_cold_(static_cast<std::size_t>(geometry.areas())),
      returns_in_(reinterpret_cast<Returns*>(pair + geometry.returns_at(1 - side))),
      returns_out_(reinterpret_cast<Returns*>(pair + geometry.returns_at(side))) {
  for (int i = 0; i < geometry.all_lanes(); ++i) {
    Lane& lane = lanes_[index(i)];
    lane.swapped = pair + geometry.swap_at(i);
    lane.out = pair + geometry.ring_at(i, side);
    lane.in = pair + geometry.ring_at(i, 1 - side);
    lane.credits_for_me = reinterpret_cast<std::atomic<std::uint64_t>*>(pair + geometry.credits_at(i, side));
    lane.credits_of_mine = reinterpret_cast<std::atomic<std::uint64_t>*>(pair + geometry.credits_at(i, 1 - side));
  }
  owned_.reserve(index(geometry.areas()));
  for (int area = geometry.pool - 1; area >= 0; --area)
    owned_.push_back(static_cast<std::uint8_t>(side * geometry.pool + area));
}

bool Channel::has_credit(int lane) {
  Lane& at = lanes_[index(lane)];
  at.acknowledged = at.credits_for_me->load(std::memory_order_acquire);
  return at.sent - at.acknowledged <= ring_mask_;
}

int Channel::take_area(int lane, std::size_t bytes) {
  const std::size_t left_alone =
      static_cast<std::int64_t>(bytes) > Geometry::short_bytes ? index(geometry_.pool) / 2 : 0;
  if (owned_.size() <= left_alone) collect();
  if (owned_.size() > left_alone) {
    const int area = owned_.back();
    owned_.pop_back();
    return area;
  }
  Lane& at = lanes_[index(lane)];
  if (!at.has_reserve) return -1;
  at.has_reserve = false;
  return geometry_.reserve_of(lane, side_);
}

const std::byte* Channel::piece(const Envelope& envelope) const {
  const int code = envelope.area - 1, published = code - geometry_.areas();
  const std::byte* const start = published < 0 ? area(code) : published_ + published * geometry_.area_stride();
  return start + envelope.phase;
}

/// Gives ring slots back, half of them at a time: one line then tells of several messages, and a sender that waits is
/// never forgotten.
void Channel::release_slot(Lane& lane) const {
  ++lane.received;
  if (2 * (lane.received - lane.credited) <= ring_mask_) return;
  lane.credited = lane.received;
  lane.credits_of_mine->store(lane.received, std::memory_order_release);
}

void Channel::release_piece(Lane& lane, const Envelope& envelope) {
  if (envelope.area == Envelope::lent || envelope.area == Envelope::exposed)
    lane.credits_of_mine[loans].store(++lane.returned, std::memory_order_release);
  if (envelope.area >= Envelope::exposed) return;
  const int code = envelope.area - 1;
  if (code >= 2 * geometry_.pool) return give_back(code);  // always its sender's
  collect();  // what the other side gave back counts, too: else it could be left with none
  owned_.push_back(static_cast<std::uint8_t>(code));
  is_cold_[index(code)] = false;
  if (owned() > geometry_.pool + geometry_.slack) {
    give_back(owned_.back());
    owned_.pop_back();
  }
}

void Channel::give_back(int code) {
  const std::uint64_t lap = given_back_ / returns;
  const auto entry = static_cast<std::uint16_t>((code + 1) << 1U | static_cast<int>(lap & 1U));
  returns_out_[given_back_++ % returns].store(entry, std::memory_order_release);
}

void Channel::collect() {
  for (;;) {
    const std::uint64_t lap = taken_back_ / returns;
    const std::uint16_t entry = returns_in_[taken_back_ % returns].load(std::memory_order_acquire);
    if (entry == 0 || (entry & 1U) != (lap & 1U)) return;
    ++taken_back_;
    const int code = (entry >> 1U) - 1;
    if (code < geometry_.areas()) is_cold_[index(code)] = true;
    if (code < 2 * geometry_.pool)
      owned_.push_back(static_cast<std::uint8_t>(code));
    else if (code < geometry_.areas())
      lanes_[index((code - 2 * geometry_.pool) / 2)].has_reserve = true;
    else
      publisher_.read_by_one_less(code - geometry_.areas());
  }
}

}  // namespace tutti::shm
