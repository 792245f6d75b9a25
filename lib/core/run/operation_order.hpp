#pragma once
// The order of a communicator's operations: their numbers, and when each may run.

#include <array>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>
#include <vector>

#include "lib/core/communicator/paths.hpp"
#include "lib/core/transport/shm/segment/geometry.hpp"
#include "lib/watch/records/signature.hpp"

namespace tutti::detail {

/// The place of an operation in the line before a lane.
struct LaneTicket {
  int lane = 0;
  std::uint64_t number = 0;
};

/// Operations of one lane run one after the other on every rank, those of different lanes at the same time. All ranks
/// give an operation the same lane, as they see the same calls in the same order. Where the program waits for each call
/// before the next one anyway, the calls stay in one lane: its cells are then warm, which halves the time of small
/// messages. So a plan that is started again stays in its lane, until another operation has taken it. It is recognised
/// by its fingerprint: ranks may differ in how many plans they have for one operation. Where calls of all manners
/// match, all are in the lane of blocking calls.
class Lanes {
 public:
  explicit Lanes(bool manners_match) : manners_match_(manners_match) {}
  static constexpr int of_blocking_calls = shm::Geometry::blocking_lane;
  /// The next operation.
  [[nodiscard]] LaneTicket enter(records::Manner manner, std::uint32_t fingerprint) {
    if (manner == records::Manner::blocking || manners_match_) return enter_lane(of_blocking_calls);
    if (manner == records::Manner::persistent) return enter(fingerprint);
    const int lane = next_lane();
    plans_[index(lane)].reset();
    return enter_lane(lane);
  }
  /// A blocking call has entered and left, while nothing was under way.
  void enter_and_leave() {
    ++entered_[of_blocking_calls];
    ++left_[of_blocking_calls];
  }
  [[nodiscard]] bool is_free_for(const LaneTicket& ticket) const { return left_[index(ticket.lane)] == ticket.number; }
  void leave(const LaneTicket& ticket) { ++left_[index(ticket.lane)]; }

 private:
  static constexpr int count = shm::Geometry{}.lanes;
  static std::size_t index(int lane) { return static_cast<std::size_t>(lane); }
  /// Enters the lane that the plan had last, else the next one.
  LaneTicket enter(std::uint32_t plan) {
    for (int lane = 1; lane < count; ++lane)
      if (plans_[index(lane)] == plan) return enter_lane(lane);
    const int lane = next_lane();
    plans_[index(lane)] = plan;
    return enter_lane(lane);
  }
  int next_lane() { return latest_ = latest_ % (count - 1) + 1; }
  LaneTicket enter_lane(int lane) { return {lane, entered_[index(lane)]++}; }

  bool manners_match_;
  std::array<std::uint64_t, count> entered_{}, left_{};
  int latest_ = 1;  ///< The lane that was given last in turn, from 1 on: blocking calls have lane 0.
  /// The fingerprint of the plan that entered each lane last, if no call has since.
  std::array<std::optional<std::uint32_t>, count> plans_{};
};

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
