#pragma once
// Calls one after the other.

#include <map>
#include <vector>

#include "tutti/schedule.hpp"

namespace tutti::simulator {

/// The calls of a rank, each of which begins when the rank has done all of the one before. Other ranks may still be at
/// work on that. Regions mean nothing any more: they are for costs alone.
class Sequence {
 public:
  /// O(steps of the call).
  void add(const Schedule& call);
  [[nodiscard]] const Schedule& schedule() const { return all_; }

 private:
  Schedule all_{};
  bool is_begun_ = false;
  std::map<Rank, int> to_{}, from_{};  ///< How many messages there are with each peer.
  std::vector<int> last_{};            ///< The steps of the last call that no other step waits for.
};

}  // namespace tutti::simulator
