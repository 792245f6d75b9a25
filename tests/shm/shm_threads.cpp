#include "tests/shm/shm_threads.hpp"

namespace tutti::shm::test {
namespace {

std::uint64_t key_of(int from, int to, int lane) {
  std::uint64_t key = 0;
  for (const int number : {from, to, lane})
    key = key * 64 + static_cast<std::uint64_t>(number);
  return key;
}

/// All that one thread has.
class Peer {
 public:
  Peer(const Geometry& geometry, std::byte* window, int ranks, int me, const Load& load)
      : pool_(geometry, window + geometry.pool_at(ranks, me)),
        channels_(static_cast<std::size_t>(ranks)),
        publications_(pool_, geometry, me, ranks, load),
        delays_(static_cast<std::uint64_t>(me)) {
    for (int peer = 0; peer < ranks; ++peer) {
      if (peer == me) continue;
      auto& channel = channels_[static_cast<std::size_t>(peer)];
      channel = std::make_unique<Channel>(geometry, window + geometry.pair_at(std::min(me, peer), std::max(me, peer)),
                                          me < peer ? 0 : 1, window + geometry.pool_at(ranks, peer), pool_);
      for (const int lane : load.lanes)
        talks_.emplace_back(*channel, geometry, lane, key_of(me, peer, lane), key_of(peer, me, lane), load, me < peer);
    }
  }

  void run() {
    constexpr int patience = 64;  // looks, before others get the processor, of which there may be too few
    for (int idle = 0; !is_done(); idle = poll() ? 0 : idle + 1)
      if (idle % patience == patience - 1) std::this_thread::yield();
  }
  void add_to(Outcome& outcome) const {
    outcome.messages += publications_.received();
    outcome.corrupted += publications_.corrupted();
    for (const Talk& talk : talks_) {
      outcome.messages += talk.received();
      outcome.corrupted += talk.corrupted();
    }
    for (const auto& channel : channels_)
      if (channel != nullptr) outcome.given_back += channel->given_back();
  }

 private:
  [[nodiscard]] bool is_done() const {
    return publications_.is_done() && std::all_of(talks_.begin(), talks_.end(), [](auto& t) { return t.is_done(); });
  }
  bool poll() {
    bool moved = publications_.try_publish(channels_);
    for (Talk& talk : talks_) {
      moved |= talk.try_send(delays_);
      delays_.maybe();
      moved |= talk.try_receive(delays_);
      delays_.maybe();
    }
    for (std::size_t peer = 0; peer < channels_.size(); ++peer)
      if (channels_[peer] != nullptr)
        moved |= publications_.try_receive(*channels_[peer], static_cast<int>(peer), delays_);
    if (!moved) collect();
    return moved;
  }
  /// Buffers come back through all channels, as from a port.
  void collect() {
    for (const auto& channel : channels_)
      if (channel != nullptr) channel->collect();
  }

  BouncePool pool_;
  std::vector<std::unique_ptr<Channel>> channels_;
  std::vector<Talk> talks_;
  Publications publications_;
  Delays delays_;
};

}  // namespace

Outcome run_threads(const Geometry& geometry, int ranks, const Load& load) {
  Memory window{geometry.window_bytes(ranks)};
  std::vector<std::unique_ptr<Peer>> peers;
  peers.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank)
    peers.push_back(std::make_unique<Peer>(geometry, window.data(), ranks, rank, load));
  std::vector<std::thread> threads;
  threads.reserve(peers.size());
  for (const auto& peer : peers)
    threads.emplace_back([&peer] { peer->run(); });
  Outcome outcome;
  for (std::size_t i = 0; i < peers.size(); ++i) {
    threads[i].join();
    peers[i]->add_to(outcome);
  }
  return outcome;
}

}  // namespace tutti::shm::test
