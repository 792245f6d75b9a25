#include "lib/collectives/selection.hpp"

#include <algorithm>

namespace tutti {
namespace {

constexpr Bytes kibibyte{1024};

/// Up to here, few rounds count more than little volume. Measured (docs/performance.md): two ranks exchange everything
/// once anyway; for more, log2 p times the volume tells the earlier the more ranks share the memory.
Bytes latency_bound(int size) {
  if (size <= 2) return 256 * kibibyte;
  return std::max(4 * kibibyte, 128 * kibibyte / size);
}

/// Blocks so large that the ring's 2(p-1) rounds cost less than folding onto a power of two, which moves n twice more.
constexpr Bytes ring_block = 32 * kibibyte;

}  // namespace

const Algorithm& select_allreduce(Bytes bytes, int size, const Op& op, const Settings& settings) {
  static const Algorithm& doubling = *find_algorithm(Collective::allreduce, "recursive_doubling");
  static const Algorithm& rabenseifner = *find_algorithm(Collective::allreduce, "rabenseifner");
  static const Algorithm& ring = *find_algorithm(Collective::allreduce, "ring");
  const auto serves = [&op](const Algorithm& algorithm) {
    return op.commutative() || algorithm.order == Order::of_ranks;
  };
  if (settings.algorithm != nullptr && serves(*settings.algorithm)) return *settings.algorithm;
  if (bytes <= latency_bound(size)) return doubling;
  const bool power_of_two = (size & (size - 1)) == 0;
  return !power_of_two && bytes >= size * ring_block && serves(ring) ? ring : rabenseifner;
}

}  // namespace tutti
