#include "tests/gpu/traffic.hpp"

namespace tutti::gpu {
namespace {

/// Each rank takes part of what all have.
std::optional<double> on_one_device(std::string_view collective, double k, double n) {
  // Each of k parts: read from k inputs, written to k outputs.
  if (collective == "allreduce") return 2 * k * n;
  // All but the root read and write everything.
  if (collective == "broadcast") return 2 * (k - 1) * n;
  // Each rank reads and writes n: the blocks of all, or its own from all.
  if (collective == "allgather" || collective == "alltoall") return 2 * k * n;
  // Each of k parts: read from k inputs, written once.
  if (collective == "reduce_scatter") return k * n + n;
  return std::nullopt;
}

std::optional<double> on_a_device_each(std::string_view collective, double k, double n) {
  // A part of each of the others to be reduced, and then their results.
  if (collective == "allreduce") return 2 * (k - 1) * n / k;
  if (collective == "broadcast") return n;
  if (collective == "allgather" || collective == "alltoall" || collective == "reduce_scatter") return (k - 1) * n / k;
  return std::nullopt;
}

}  // namespace

std::optional<double> least_traffic(std::string_view collective, int ranks, std::int64_t bytes, Placement placement) {
  const auto k = static_cast<double>(ranks), n = static_cast<double>(bytes);
  return placement == Placement::shared ? on_one_device(collective, k, n) : on_a_device_each(collective, k, n);
}

}  // namespace tutti::gpu
