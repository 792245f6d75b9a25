#include "lib/core/transport/shm/eager/channel.hpp"

namespace tutti::shm {

Channel::Channel(const Geometry& geometry, std::byte* pair, int side, std::byte* peer_buffers, BouncePool& pool)
    : buffer_stride_(geometry.buffer_stride()),
      peer_buffers_(peer_buffers),
      pool_(&pool),
      most_kept_(static_cast<std::size_t>(geometry.kept)),
      returns_(static_cast<std::uint64_t>(geometry.buffers)),
      returns_in_(reinterpret_cast<Return*>(pair + geometry.returns_at(1 - side))),
      returns_out_(reinterpret_cast<Return*>(pair + geometry.returns_at(side))) {
  for (int lane = 0; lane < geometry.all_lanes(); ++lane)
    rings_.emplace_back(geometry, pair, side, lane);
  kept_.reserve(most_kept_);
}

Bounce Channel::take(std::size_t bytes) {
  if (!kept_.empty()) {
    const int number = kept_.back();
    kept_.pop_back();
    return {peer_buffers_ + number * buffer_stride_, Where::returned, number};
  }
  const bool is_bounded = bytes > tuning.short_piece;
  if ((is_bounded && out_ >= tuning.long_pieces) || pool_->free() == 0) collect();
  if (is_bounded && out_ >= tuning.long_pieces) return {};
  const int number = pool_->take();
  if (number < 0) return {};
  ++out_;
  return {pool_->at(number), Where::bounce, number};
}

void Channel::release_piece(Ring& ring, const Envelope& envelope) {
  switch (envelope.where) {
    case Where::bounce:
      if (kept() < most_kept_) return kept_.push_back(static_cast<std::uint8_t>(envelope.number));
      return give_back(envelope.number);
    case Where::shared:
      return give_back(envelope.number);
    case Where::returned:
      --out_;
      theirs_[envelope.number] = false;
      return pool_->drop_reader(envelope.number);
    case Where::lent:
    case Where::on_device:
      return ring.release_loan();
    case Where::cell:
    case Where::delivered:
    case Where::failed:
      return;
  }
}

void Channel::give_back(int buffer) {
  const std::uint64_t lap = given_back_ / returns_;
  const auto entry = static_cast<Geometry::Return>((buffer + 1) << 1U | static_cast<int>(lap & 1U));
  returns_out_[given_back_++ % returns_].store(entry, std::memory_order_release);
}

/// 0: none has come back.
Geometry::Return Channel::next_return() const {
  const std::uint64_t lap = taken_back_ / returns_;
  const Geometry::Return entry = returns_in_[taken_back_ % returns_].load(std::memory_order_acquire);
  return (entry & 1U) == (lap & 1U) ? entry : Geometry::Return{0};
}

bool Channel::is_theirs(Geometry::Return entry) const {
  const std::size_t number = std::size_t{entry} / 2 - 1;
  return number < returns_ && theirs_[number];
}

void Channel::collect() {
  for (Geometry::Return entry = next_return(); is_theirs(entry); entry = next_return()) {
    const int number = entry / 2 - 1;
    ++taken_back_;
    --out_;
    theirs_[static_cast<std::size_t>(number)] = false;
    pool_->drop_reader(number);
  }
}

}  // namespace tutti::shm
