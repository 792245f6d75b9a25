#pragma once
// Every threshold by which algorithms are chosen for buffers on devices. They are guesses from the switch points of
// other libraries, until they can be measured on a GPU, with 4 ranks and with 8:
// mpirun -n 8 tutti-bench --memory device --thresholds.

#include "tutti/types.hpp"

namespace tutti {

struct DeviceTuning {
  /// Up to here each rank reads all inputs in one kernel, which is the least number of launches; for more bytes it
  /// counts that every input is read once. With few ranks, and with more.
  Bytes one_kernel_few{256 * 1024}, one_kernel{64 * 1024};
  /// So many ranks are few.
  int few_ranks = 4;
  /// So many ranks can all read from one another.
  int most_ranks = 32;
};
inline constexpr DeviceTuning device_tuning{};

}  // namespace tutti
