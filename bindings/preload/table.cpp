#include "bindings/preload/table.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "bindings/preload/ratios.hpp"

namespace tutti::interpose {
namespace {

const Column& column_for(const Placement& placement) {
  if (placement.nodes > 1) return several_nodes;
  return placement.shares_processors ? one_node_crowded : one_node;
}

/// Whether blocks are listed: ranks may know their own part alone, so such functions are served at all sizes or none.
bool is_listed(Function function) {
  switch (function) {
    case Function::allgatherv:
    case Function::gatherv:
    case Function::scatterv:
    case Function::alltoallv:
    case Function::alltoallw:
      return true;
    default:
      return false;
  }
}

double geometric_mean(const Ratios& ratios) {
  double sum = 0;
  for (const float ratio : ratios)
    sum += std::log(static_cast<double>(ratio));
  return std::exp(sum / static_cast<double>(ratios.size()));
}

/// Served sizes lie side by side: the longest row of sizes at which Tutti is faster.
struct Row {
  std::size_t first = 0, length = 0;
};
Row longest_row(const Ratios& ratios) {
  Row longest, current;
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    current = ratios[i] > 1 ? Row{current.length == 0 ? i : current.first, current.length + 1} : Row{};
    if (current.length > longest.length) longest = current;
  }
  return longest;
}

/// Half-way to the next size on the scale of powers.
std::int64_t between(std::size_t size) {
  return static_cast<std::int64_t>(
      std::sqrt(static_cast<double>(measured_sizes[size]) * static_cast<double>(measured_sizes[size + 1])));
}

}  // namespace

ServedBytes worthwhile(Function function, const Placement& placement) {
  const Ratios& ratios = column_for(placement)[index_of(function)];
  if (is_listed(function)) return geometric_mean(ratios) > 1 ? ServedBytes::all() : ServedBytes{};
  const auto [first, length] = longest_row(ratios);
  if (length == 0) return {};
  ServedBytes served = ServedBytes::all();
  if (first > 0) served.least = between(first - 1) + 1;
  if (first + length < ratios.size()) served.most = between(first + length - 1);
  return served;
}

}  // namespace tutti::interpose
