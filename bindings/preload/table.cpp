#include "bindings/preload/table.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <optional>
#include <set>
#include <vector>

#include "bindings/preload/ratios.hpp"
#include "lib/core/selection/selection.hpp"

namespace tutti::interpose {
namespace {

const Column& column_for(const Placement& placement) {
  if (placement.question.nodes > 1) return several_nodes;
  return placement.is_crowded ? one_node_crowded : one_node;
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

Collective collective_of(Function function) {
  constexpr std::array<Collective, function_count> collectives{
      Collective::barrier,        Collective::broadcast,      Collective::reduce,    Collective::allreduce,
      Collective::reduce_scatter, Collective::reduce_scatter, Collective::allgather, Collective::allgather,
      Collective::gather,         Collective::gather,         Collective::scatter,   Collective::scatter,
      Collective::alltoall,       Collective::alltoall,       Collective::alltoall,  Collective::scan,
      Collective::exscan};
  return collectives[index_of(function)];
}

double geometric_mean(const Ratios& ratios) {
  double sum = 0;
  for (const float ratio : ratios)
    sum += std::log(static_cast<double>(ratio));
  return std::exp(sum / static_cast<double>(ratios.size()));
}

/// From the first to the last size of the longest row of sizes at which Tutti is faster: others were never measured to
/// be worth it. Less than the smallest size counts as that.
ServedBytes by_table(Function function, const Placement& placement) {
  const Ratios& ratios = column_for(placement)[index_of(function)];
  if (is_listed(function) || function == Function::barrier)
    return geometric_mean(ratios) > 1 ? ServedBytes::all() : ServedBytes{};
  std::size_t first = 0, length = 0, begin = 0;
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    if (!(ratios[i] > 1)) begin = i + 1;
    if (i + 1 - begin <= length) continue;
    first = begin;
    length = i + 1 - begin;
  }
  if (length == 0) return {};
  return {{Range{first == 0 ? 0 : measured_sizes[first], measured_sizes[first + length - 1]}}};
}

/// Whether Tutti is faster, where a rule has the times of both.
std::optional<bool> is_faster(const Rule* rule) {
  if (rule == nullptr || rule->measured.us <= 0 || rule->measured.mpi_us <= 0) return std::nullopt;
  return rule->measured.us < rule->measured.mpi_us;
}

/// For functions that are served at all sizes or none, by the mean over the rules that fit at some size.
std::optional<bool> is_faster_at_most_sizes(Question question, const RuleTable& site) {
  question.bytes = Bytes{-1};
  if (const auto known = is_faster(site.first_for(question))) return known;
  double sum = 0;
  bool is_measured = false;
  for (std::int64_t bytes = 8; bytes <= std::int64_t{1} << 30; bytes *= 4) {
    question.bytes = Bytes{bytes};
    const Rule* const rule = site.first_for(question);
    if (!is_faster(rule)) continue;
    is_measured = true;
    sum += std::log(rule->measured.mpi_us / rule->measured.us);
  }
  return is_measured ? std::optional{sum > 0} : std::nullopt;
}

ServedBytes by_site(Question question, const RuleTable& site, const ServedBytes& table) {
  std::set<std::int64_t> borders = borders_of(site, question);
  for (const Range& range : table.ranges()) {
    borders.insert(range.least);
    if (range.most < Range::no_end) borders.insert(range.most + 1);
  }
  std::vector<Range> served;
  for (auto border = borders.begin(); border != borders.end(); ++border) {
    question.bytes = Bytes{*border};
    if (!is_faster(site.first_for(question)).value_or(table.contain(*border))) continue;
    const std::int64_t end = std::next(border) == borders.end() ? Range::no_end : *std::next(border) - 1;
    if (!served.empty() && served.back().most == *border - 1)
      served.back().most = end;
    else
      served.push_back({*border, end});
  }
  return served;
}

}  // namespace

ServedBytes worthwhile(Function function, const Placement& placement) {
  ServedBytes table = by_table(function, placement);
  if (placement.site == nullptr) return table;
  Question question = placement.question;
  question.collective = collective_of(function);
  question.is_uneven = is_listed(function);
  question.manner = records::Manner::blocking;
  if (!is_listed(function) && function != Function::barrier) return by_site(question, *placement.site, table);
  const auto is_faster = is_faster_at_most_sizes(question, *placement.site);
  if (!is_faster) return table;
  return *is_faster ? ServedBytes::all() : ServedBytes{};
}

}  // namespace tutti::interpose
