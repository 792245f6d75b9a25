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
/// messages. So a plan that is started again stays in its lane, until another operation has taken it. It is recognised
/// by its Started: ranks may differ in how many plans they have for one operation. Where calls of all kinds match, all
/// are in the lane of blocking calls.
class Lanes {
 public:
  explicit Lanes(bool kinds_match) : kinds_match_(kinds_match) {}
  static constexpr int of_blocking_calls = shm::Geometry::blocking_lane;
  /// The next operation, a blocking or nonblocking call.
  [[nodiscard]] Place enter(Kind kind) {
    if (kind == Kind::blocking || kinds_match_) return enter_lane(of_blocking_calls);
    const int lane = next_lane();
    plans_[index(lane)].reset();
    return enter_lane(lane);
  }
  /// A blocking call has entered and left, while nothing was under way.
  void enter_and_leave() {
    ++entered_[of_blocking_calls];
    ++left_[of_blocking_calls];
  }
  /// The next operation, a plan.
  [[nodiscard]] Place enter(const Started& plan) {
    if (kinds_match_) return enter_lane(of_blocking_calls);
    for (int lane = 1; lane < count; ++lane)
      if (plans_[index(lane)] == plan) return enter_lane(lane);
    const int lane = next_lane();
    plans_[index(lane)] = plan;
    return enter_lane(lane);
  }
  [[nodiscard]] bool is_free_for(const Place& place) const { return left_[index(place.lane)] == place.number; }
  void leave(const Place& place) { ++left_[index(place.lane)]; }

 private:
  static constexpr int count = shm::Geometry{}.lanes;
  static std::size_t index(int lane) { return static_cast<std::size_t>(lane); }
  int next_lane() { return latest_ = latest_ % (count - 1) + 1; }
  Place enter_lane(int lane) { return {lane, entered_[index(lane)]++}; }

  bool kinds_match_;
  std::array<std::uint64_t, count> entered_{}, left_{};
  int latest_ = 1;  ///< Of the lanes from 1 on, which others than blocking calls use.
  std::array<std::optional<Started>, count>
      plans_{};  ///< By lane: the plan that entered it last, if no call has since.
};

}  // namespace tutti::detail
