#pragma once
// The state of a training.

#include <vector>

namespace tutti::sgd {

/// All that is needed to go on, the same on all ranks.
template <class T>
struct Progress {
  int epochs = 0;  ///< Completed.
  std::vector<T> weights, velocity;
};

}  // namespace tutti::sgd
