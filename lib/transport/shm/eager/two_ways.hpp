#pragma once
// Which of two ways to do the same is cheaper: found out as it is done.

#include <array>
#include <cstdint>

namespace tutti::shm {

/// What is cheaper depends on the machine, on where ranks run and on what programs do, all of which may change: so
/// every cost is counted, and the way that seems dearer is tried now and then, as what is never done is never measured.
class TwoWays {
 public:
  enum class Way : std::uint8_t { usual, other };

  /// The dearer way is tried often at first, then less and less, at last once in so many times: an odd number, as what
  /// is done may have a period of its own. Always a few times in a row: the first one finds caches as the other way has
  /// left them.
  explicit TwoWays(unsigned tried_once_in) : tried_once_in_(tried_once_in) {}

  /// For the next time.
  [[nodiscard]] Way choose();
  /// What it cost, in any unit. One high cost hardly counts: ranks may lose their processor.
  void add(Way way, double cost);

 private:
  unsigned tried_once_in_, gap_ = 3, left_ = 1;  ///< Times from one trial to the next; until the next.
  unsigned trials_ = 0;                          ///< In this row.
  Way tried_ = Way::usual;
  std::array<double, 2> costs_{};  ///< By Way; 0: not known.
};

}  // namespace tutti::shm
