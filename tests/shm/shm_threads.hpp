#pragma once
// Threads as the ranks of a node, which talk over channels on plain memory.

#include <algorithm>
#include <array>
#include <memory>
#include <thread>
#include <vector>

#include "lib/core/transport/shm/eager/channel.hpp"
#include "tests/shm/shm_support.hpp"

namespace tutti::shm::test {

/// The messages that every pair of ranks sends.
struct Load {
  std::vector<int> lanes;
  std::uint64_t messages = 0;      ///< Messages of each lane and direction.
  std::int64_t most_bytes = 0;     ///< Bytes of one message.
  bool is_one_sided = false;       ///< Only from lower ranks to higher ones.
  std::uint64_t publications = 0;  ///< Pieces that each rank (one-sided: rank 0) shares among all others.
};

struct Outcome {
  std::uint64_t messages = 0, corrupted = 0, given_back = 0;
};

/// Sizes around those that matter come up often; both ends know the size of every message.
inline std::size_t bytes_of(std::uint64_t message, std::int64_t inline_bytes, std::int64_t most) {
  const std::uint64_t dice = message % 16, rest = message >> 8U;
  const auto at_most = static_cast<std::uint64_t>(most);
  if (dice == 0) return rest % (at_most + 1);
  if (dice < 4) {
    const std::int64_t edges[] = {0, 1, 39, 40, 41, 96, 97, inline_bytes, inline_bytes + 1, most - 1, most};
    return std::min(static_cast<std::uint64_t>(edges[rest % std::size(edges)]), at_most);
  }
  return rest % (std::min(at_most, std::uint64_t{160}) + 1);
}

/// Stops now and then, so that ends meet in all kinds of states.
class Delays {
 public:
  explicit Delays(std::uint64_t seed) : seed_(seed) {}
  void maybe() {
    const std::uint64_t dice = mix(seed_, ++n_);
    if (dice % 512 == 0) std::this_thread::yield();
    if (dice % 64 != 0) return;
    for (std::uint64_t i = (dice >> 16U) % 256; i > 0; --i)
      std::atomic_signal_fence(std::memory_order_seq_cst);
  }

 private:
  std::uint64_t seed_, n_ = 0;
};

/// One lane between this rank and another, both directions.
class Talk {
 public:
  Talk(Channel& channel, const Geometry& geometry, int lane, std::uint64_t out_key, std::uint64_t in_key,
       const Load& load, bool is_low)
      : channel_(channel),
        inline_bytes_(geometry.cell_bytes),
        lane_(lane),
        out_key_(out_key),
        in_key_(in_key),
        most_(load.most_bytes),
        to_send_(load.is_one_sided && !is_low ? 0 : load.messages),
        to_receive_(load.is_one_sided && is_low ? 0 : load.messages) {}
  [[nodiscard]] bool is_done() const { return sent_ == to_send_ && received_ == to_receive_; }
  [[nodiscard]] std::uint64_t received() const { return received_; }
  [[nodiscard]] std::uint64_t corrupted() const { return corrupted_; }

  bool try_send(Delays& delays) {
    if (sent_ == to_send_ || !channel_.ring(lane_).may_send()) return false;
    const std::uint64_t message = mix(out_key_, sent_);
    const std::size_t bytes = size_of(message);
    if (bytes <= inline_bytes()) {
      buffer_.resize(inline_bytes());
      fill(buffer_.data(), message, bytes);
      channel_.ring(lane_).send(envelope(message, bytes, sent_), buffer_.data(), bytes);
    } else if (is_lent(message)) {
      if (!lend(message, bytes, delays)) return false;
    } else {
      const Bounce bounce = channel_.take(bytes);
      if (bounce.data == nullptr) return false;
      const std::size_t phase = message % phase_bytes;
      delays.maybe();
      fill(bounce.data + phase, message, bytes);
      channel_.send(lane_, envelope(message, bytes, sent_), bounce, phase);
    }
    ++sent_;
    return true;
  }
  bool try_receive(Delays& delays) {
    Envelope came;
    if (received_ == to_receive_ || !arrived(channel_, lane_, came)) return false;
    const std::uint64_t message = mix(in_key_, received_);
    const std::size_t bytes = size_of(message);
    bool same =
        came.is_same(envelope(message, bytes, received_)) && (came.where == Where::cell) == (bytes <= inline_bytes());
    if (came.where == Where::cell) {
      buffer_.resize(inline_bytes());
      if (!channel_.ring(lane_).incoming().read(buffer_.data(), bytes)) return false;
      same = same && is_filled(buffer_.data(), message, bytes);
    } else {
      delays.maybe();
      const bool is_loan = came.where == Where::lent;
      const auto* const piece = is_loan
                                    ? reinterpret_cast<const std::byte*>(channel_.ring(lane_).incoming().loan().source)
                                    : channel_.piece(came);
      same = same && is_loan == is_lent(message) && is_filled(piece, message, bytes);
    }
    channel_.release(lane_, came);
    ++received_;
    corrupted_ += same ? 0 : 1;
    return true;
  }

 private:
  /// A buffer that the other side reads in place, and the number of that loan.
  struct Lent {
    std::vector<std::byte> data;
    std::uint64_t loan = 0;
  };

  [[nodiscard]] static bool is_lent(std::uint64_t message) { return message / 16 % 2 == 0; }
  bool lend(std::uint64_t message, std::size_t bytes, Delays& delays) {
    Lent& lent = lent_[loans_ % lent_.size()];
    if (lent.loan != 0 && !channel_.ring(lane_).has_read(lent.loan)) return false;
    lent.data.resize(static_cast<std::size_t>(most_));
    delays.maybe();
    fill(lent.data.data(), message, bytes);
    Envelope sent = envelope(message, bytes, sent_);
    sent.where = Where::lent;
    lent.loan = channel_.ring(lane_).lend(
        sent, {.source = static_cast<std::int64_t>(reinterpret_cast<std::intptr_t>(lent.data.data()))});
    ++loans_;
    return true;
  }
  [[nodiscard]] std::size_t inline_bytes() const { return static_cast<std::size_t>(inline_bytes_); }
  [[nodiscard]] std::size_t size_of(std::uint64_t message) const { return bytes_of(message, inline_bytes_, most_); }
  static Envelope envelope(std::uint64_t message, std::size_t bytes, std::uint64_t n) {
    return {static_cast<std::uint32_t>(bytes), static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(message)};
  }

  Channel& channel_;
  std::int64_t inline_bytes_;
  int lane_;
  std::uint64_t out_key_, in_key_;
  std::int64_t most_;
  std::uint64_t to_send_, to_receive_, sent_ = 0, received_ = 0, corrupted_ = 0;
  std::vector<std::byte> buffer_;
  std::array<Lent, 2> lent_{};
  std::uint64_t loans_ = 0;
};

/// The pieces that one rank shares with the others, and those that they share. Their messages have a lane of their own.
class Publications {
 public:
  Publications(BouncePool& pool, const Geometry& geometry, int me, int ranks, const Load& load)
      : pool_(pool), lane_(geometry.message_lane()), bytes_(static_cast<std::size_t>(geometry.buffer_bytes)), me_(me) {
    received_.resize(static_cast<std::size_t>(ranks));
    for (int rank = 0; rank < ranks; ++rank)
      counts_.push_back(load.is_one_sided && rank > 0 ? 0 : load.publications);
  }
  [[nodiscard]] bool is_done() const {
    return sent_ == counts_[static_cast<std::size_t>(me_)] && waiting_.empty() && received_all();
  }
  [[nodiscard]] std::uint64_t received() const {
    std::uint64_t all = 0;
    for (const std::uint64_t n : received_)
      all += n;
    return all;
  }
  [[nodiscard]] std::uint64_t corrupted() const { return corrupted_; }

  bool try_publish(std::vector<std::unique_ptr<Channel>>& channels) {
    if (waiting_.empty() && !fill_next(channels)) return false;
    const std::size_t before = waiting_.size();
    std::erase_if(waiting_, [&](int reader) {
      Channel& channel = *channels[static_cast<std::size_t>(reader)];
      if (!channel.ring(lane_).may_send()) return false;
      const Bounce bounce{pool_.at(buffer_), Where::shared, buffer_};
      channel.send(lane_, {0, 0, static_cast<std::uint32_t>(sent_)}, bounce, sent_ % phase_bytes);
      return true;
    });
    if (waiting_.empty()) {
      ++sent_;
      pool_.drop_reader(buffer_);  // this rank, until all have been told
    }
    return waiting_.size() < before;
  }
  bool try_receive(Channel& channel, int from, Delays& delays) {
    std::uint64_t& n = received_[static_cast<std::size_t>(from)];
    Envelope came;
    if (n == counts_[static_cast<std::size_t>(from)] || !arrived(channel, lane_, came)) return false;
    delays.maybe();
    if (came.message != n || !is_filled(channel.piece(came), key(from, n), bytes_)) ++corrupted_;
    channel.release(lane_, came);
    ++n;
    return true;
  }

 private:
  static std::uint64_t key(int from, std::uint64_t n) { return mix(static_cast<std::uint64_t>(from) + 1'000'000, n); }
  [[nodiscard]] bool received_all() const {
    for (std::size_t rank = 0; rank < counts_.size(); ++rank)
      if (static_cast<int>(rank) != me_ && received_[rank] != counts_[rank]) return false;
    return true;
  }
  bool fill_next(std::vector<std::unique_ptr<Channel>>& channels) {
    if (sent_ == counts_[static_cast<std::size_t>(me_)]) return false;
    for (const auto& channel : channels)
      if (channel != nullptr) channel->collect();
    buffer_ = pool_.take_shared();
    if (buffer_ < 0) return false;
    for (std::size_t reader = 0; reader < channels.size(); ++reader) {
      if (channels[reader] == nullptr) continue;
      if (waiting_.empty()) fill(pool_.at(buffer_) + sent_ % phase_bytes, key(me_, sent_), bytes_);
      waiting_.push_back(static_cast<int>(reader));
      pool_.add_reader(buffer_);
    }
    return !waiting_.empty();
  }

  BouncePool& pool_;
  int lane_;  ///< The lane of its messages.
  std::size_t bytes_;
  int me_, buffer_ = -1;
  std::uint64_t sent_ = 0, corrupted_ = 0;
  std::vector<std::uint64_t> counts_, received_;  ///< By the rank that shares.
  std::vector<int> waiting_;                      ///< Readers that have not been told of the buffer yet.
};

/// Runs a load on `ranks` threads, all of them connected; returns when all messages have arrived.
Outcome run_threads(const Geometry& geometry, int ranks, const Load& load);

}  // namespace tutti::shm::test
