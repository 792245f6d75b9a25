#pragma once
// Which lane of shared memory an operation runs in.

#include <array>
#include <cstddef>
#include <cstdint>

#include "lib/shm/geometry.hpp"

namespace tutti::detail {

class Operation;

/// How an operation was started. As in MPI, calls of different kinds do not match each other.
enum class Kind : std::uint8_t { blocking, nonblocking, persistent };

/// The place of an operation in the line before a lane.
struct Place {
  int lane = 0;
  std::uint64_t number = 0;
};

/// Operations of one lane run one after the other on every rank, those of different lanes at the same time. All ranks
/// give an operation the same lane, as they see the same calls in the same order. One call after the other stays in one
/// lane where the program waits for each anyway: its slots are then warm, which halves the time of small messages.
class Lanes {
 public:
  /// The next operation.
  [[nodiscard]] Place enter(Kind kind, const Operation& operation) {
    if (kind == Kind::blocking) {
      repeated_ = nullptr;
      return {0, entered_[0]++};
    }
    // A plan is started again only when its run before is over.
    if (kind == Kind::nonblocking || repeated_ != &operation) latest_ = latest_ % (count - 1) + 1;
    repeated_ = kind == Kind::persistent ? &operation : nullptr;
    return {latest_, entered_[index(latest_)]++};
  }
  [[nodiscard]] bool is_free_for(const Place& place) const { return left_[index(place.lane)] == place.number; }
  void leave(const Place& place) { ++left_[index(place.lane)]; }
  /// The plan that an operation belonged to is gone; another one may get it, on this rank and not on others.
  void forget(const Operation& operation) {
    if (repeated_ == &operation) repeated_ = nullptr;
  }

 private:
  static constexpr int count = shm::Geometry{}.lanes;
  static std::size_t index(int lane) { return static_cast<std::size_t>(lane); }

  std::array<std::uint64_t, count> entered_{}, left_{};
  int latest_ = 1;                       ///< Of the lanes from 1 on, which others than blocking calls use.
  const Operation* repeated_ = nullptr;  ///< The plan that was started last, if nothing was started after it.
};

}  // namespace tutti::detail
