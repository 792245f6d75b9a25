#pragma once
// A choice between two ways to do the same work, by measured costs.

#include <array>
#include <cstdint>

namespace tutti::shm {

/// The cheaper way depends on the machine and on the cores of the ranks, which may change. Every cost is therefore
/// counted, and the dearer way is tried from time to time.
class TwoWays {
 public:
  enum class Way : std::uint8_t { usual, other };

  /// The dearer way is tried often at first and then less and less, in the end once in `tried_once_in` times: an odd
  /// number, as the work may have a period of its own. It is tried three times in a row: the first time it finds the
  /// caches as the other way has left them.
  explicit TwoWays(unsigned tried_once_in) : tried_once_in_(tried_once_in) {}

  /// The way for the next time.
  [[nodiscard]] Way choose();
  /// Its cost, in any unit. One high cost hardly counts: a rank may lose its processor.
  void add(Way way, double cost);

 private:
  unsigned tried_once_in_, gap_ = 3, left_ = 1;  ///< Times from one trial to the next; times until the next.
  unsigned trials_ = 0;                          ///< Left of this trial.
  Way tried_ = Way::usual;
  std::array<double, 2> costs_{};  ///< The cost of each Way; 0: not known.
};

}  // namespace tutti::shm
