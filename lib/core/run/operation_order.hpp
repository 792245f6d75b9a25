#pragma once
// The order of a communicator's operations: their numbers, and when each may run.

#include <cstdint>
#include <numeric>
#include <vector>

#include "lib/core/communicator/paths.hpp"
#include "lib/core/run/lanes.hpp"

namespace tutti::detail {

/// An operation has one turn, two if it exchanges sizes first, and none if it is no collective. A turn may begin when
/// the one a fixed number of turns before it is over: tags tell no more apart. Where all messages go through shared
/// memory none has a tag, and lanes alone tell operations apart.
class OperationOrder {
 public:
  OperationOrder(int turns, const Paths& paths, bool manners_match)
      : has_lanes_(paths.has_links()),
        has_tags_(!paths.shares_memory()),
        lanes_(manners_match),
        turns_(static_cast<std::size_t>(turns)) {
    std::iota(turns_.begin(), turns_.end(), std::uint64_t{0});
  }

  /// An operation begins. Returns its first turn.
  std::uint64_t begin(int turns) {
    ++in_flight_;
    const std::uint64_t first = next_;
    next_ += static_cast<std::uint64_t>(turns);
    return first;
  }
  [[nodiscard]] bool is_turn_of(std::uint64_t sequence) const {
    return !has_tags_ || turns_[slot(sequence)] == sequence;
  }
  void end_turn(std::uint64_t sequence) {
    if (has_tags_) turns_[slot(sequence)] = sequence + turns_.size();
  }
  /// An operation is over.
  void end() { --in_flight_; }

  /// The turn that begin() gives next.
  [[nodiscard]] std::uint64_t next() const { return next_; }
  /// A blocking call that had this turn is over; no other operation was in flight.
  void pass_turn() {
    end_turn(next_++);
    lanes_.enter_and_leave();
  }

  [[nodiscard]] int in_flight() const { return in_flight_; }
  [[nodiscard]] Lanes& lanes() { return lanes_; }
  /// Whether operations have to wait for their lane: there is shared memory.
  [[nodiscard]] bool has_lanes() const { return has_lanes_; }

 private:
  [[nodiscard]] std::size_t slot(std::uint64_t sequence) const { return sequence % turns_.size(); }

  bool has_lanes_, has_tags_;
  std::uint64_t next_ = 0;
  int in_flight_ = 0;
  Lanes lanes_;
  std::vector<std::uint64_t> turns_;  ///< Per slot, as many as tags have: the turn that may run.
};

}  // namespace tutti::detail
