#include "lib/collectives/selection.hpp"

namespace tutti {
namespace {

/// Above this, sending everything log2 p times costs more than twice the rounds (docs/performance.md).
constexpr Bytes latency_bound{16 * 1024};

}  // namespace

const Algorithm& select_allreduce(Bytes bytes, int size, const Op& op, const Settings& settings) {
  static const Algorithm& doubling = *find_algorithm(Collective::allreduce, "recursive_doubling");
  static const Algorithm& rabenseifner = *find_algorithm(Collective::allreduce, "rabenseifner");
  static const Algorithm& ring = *find_algorithm(Collective::allreduce, "ring");
  if (settings.algorithm != nullptr && (op.commutative() || settings.algorithm->order == Order::of_ranks))
    return *settings.algorithm;
  if (bytes <= latency_bound) return doubling;
  const bool power_of_two = (size & (size - 1)) == 0;
  return power_of_two || !op.commutative() ? rabenseifner : ring;
}

}  // namespace tutti
