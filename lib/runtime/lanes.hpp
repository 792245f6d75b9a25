#pragma once
// Which lane of shared memory an operation runs in.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "lib/transport/shm/segment/geometry.hpp"
#include "tutti/datatype.hpp"
#include "tutti/op.hpp"
#include "tutti/schedule.hpp"

namespace tutti::detail {

/// How an operation was started. As in MPI, calls of different kinds do not match each other, unless the communicator
/// lets them.
enum class Kind : std::uint8_t { blocking, nonblocking, persistent };

/// The facts about a started plan that all ranks know alike; counts and types only where they do.
struct Started {
  Collective collective{};
  Rank root{};
  Count count{};
  Type type{};
  Op::Kind op{};
  friend bool operator==(const Started&, const Started&) = default;
};

/// The place of an operation in the line before a lane.
struct Place {
  int lane = 0;
  std::uint64_t number = 0;
};

/// Operations of one lane run one after the other on every rank, those of different lanes at the same time. All ranks
/// give an operation the same lane, as they see the same calls in the same order. Where the program waits for each call
/// before the next one anyway, the calls stay in one lane: its cells are then warm, which halves the time of small
/// messages. A plan is recognised by its Started: ranks may differ in how many plans they have for one operation. Where
/// calls of all kinds match, all are in the lane of blocking calls.
class Lanes {
 public:
  explicit Lanes(bool kinds_match) : kinds_match_(kinds_match) {}
  static constexpr int of_blocking_calls = shm::Geometry::blocking_lane;
  /// The next operation, a blocking or nonblocking call.
  [[nodiscard]] Place enter(Kind kind) {
    repeated_.reset();
    if (kind == Kind::blocking || kinds_match_) return {of_blocking_calls, entered_[of_blocking_calls]++};
    return enter_next();
  }
  /// A blocking call has entered and left, while nothing was under way.
  void enter_and_leave() {
    repeated_.reset();
    ++entered_[of_blocking_calls];
    ++left_[of_blocking_calls];
  }
  /// The next operation, a plan.
  [[nodiscard]] Place enter(const Started& plan) {
    if (kinds_match_) return {of_blocking_calls, entered_[of_blocking_calls]++};
    if (repeated_ == plan) return {latest_, entered_[index(latest_)]++};
    repeated_ = plan;
    return enter_next();
  }
  [[nodiscard]] bool is_free_for(const Place& place) const { return left_[index(place.lane)] == place.number; }
  void leave(const Place& place) { ++left_[index(place.lane)]; }

 private:
  static constexpr int count = shm::Geometry{}.lanes;
  static std::size_t index(int lane) { return static_cast<std::size_t>(lane); }
  Place enter_next() {
    latest_ = latest_ % (count - 1) + 1;
    return {latest_, entered_[index(latest_)]++};
  }

  bool kinds_match_;
  std::array<std::uint64_t, count> entered_{}, left_{};
  int latest_ = 1;                   ///< Of the lanes from 1 on, which others than blocking calls use.
  std::optional<Started> repeated_;  ///< The plan that was started last, if nothing was started after it.
};

}  // namespace tutti::detail
