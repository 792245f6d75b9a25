#pragma once
// What two ranks tell each other of reading in each other's memory.

#include <atomic>
#include <cstdint>
#include <map>

#include "lib/transport/shm/eager/two_ways.hpp"
#include "lib/transport/shm/segment/geometry.hpp"

namespace tutti::shm {

/// What an operation's messages between two ranks have in common: the same call, of the same bytes up to a power of
/// two.
struct MessageKind {
  int call = 0;  ///< Less than Wishes::calls.
  int size = 0;  ///< Less than 64.
  auto operator<=>(const MessageKind&) const = default;
};

/// One end of a pair.
class Wishes {
 public:
  static constexpr int calls = Geometry::wish_words - 1;

  /// `pair`, `side`: as of Channel.
  Wishes(const Geometry& geometry, std::byte* pair, int side)
      : mine_(reinterpret_cast<std::atomic<std::uint64_t>*>(pair + geometry.wishes_at(side))),
        theirs_(reinterpret_cast<const std::atomic<std::uint64_t>*>(pair + geometry.wishes_at(1 - side))) {}

  /// Whether the system lets this rank read the other's memory. Without that nothing is wished.
  void can_read(bool can) { mine_[ability].store(can ? 1 : 0, std::memory_order_relaxed); }
  [[nodiscard]] bool can_read() const { return mine_[ability].load(std::memory_order_relaxed) != 0; }
  [[nodiscard]] bool other_can_read() const { return theirs_[ability].load(std::memory_order_relaxed) != 0; }
  /// The same of writing there. Only this rank need know it.
  void can_write(bool can) { can_write_ = can; }
  [[nodiscard]] bool can_write() const { return can_write_; }

  /// Whether such messages shall be read where they are.
  void wish(MessageKind kind, bool exposed) {
    const std::uint64_t before = mine_[kind.call].load(std::memory_order_relaxed);
    const std::uint64_t now = exposed ? before | bit(kind) : before & ~bit(kind);
    if (now != before) mine_[kind.call].store(now, std::memory_order_relaxed);  // else the line stays with the other
  }
  [[nodiscard]] bool wishes(MessageKind kind) const { return can_read() && is_set(mine_, kind); }
  [[nodiscard]] bool other_wishes(MessageKind kind) const { return other_can_read() && is_set(theirs_, kind); }
  /// What a byte of such messages cost, read where they were (TwoWays::Way::other) or not. Whether it is better to read
  /// them the next time.
  [[nodiscard]] bool learns(MessageKind kind, TwoWays::Way way, double cost) {
    constexpr unsigned tried_once_in = 255;  // operations
    TwoWays& ways = costs_.try_emplace(kind, tried_once_in).first->second;
    ways.add(way, cost);
    return ways.choose() == TwoWays::Way::other;
  }

 private:
  static constexpr int ability = calls;
  static std::uint64_t bit(MessageKind kind) { return std::uint64_t{1} << static_cast<unsigned>(kind.size); }
  static bool is_set(const std::atomic<std::uint64_t>* words, MessageKind kind) {
    return (words[kind.call].load(std::memory_order_relaxed) & bit(kind)) != 0;
  }

  std::atomic<std::uint64_t>* mine_;
  const std::atomic<std::uint64_t>* theirs_;
  std::map<MessageKind, TwoWays> costs_;
  bool can_write_ = false;
};

}  // namespace tutti::shm
