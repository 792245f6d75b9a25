#include "tutti/algorithm.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <vector>

#include "tutti/error.hpp"

namespace tutti {
namespace {

template <class Wanted>
std::string names_where(Wanted wanted) {
  std::vector<std::string_view> names;
  for (const Algorithm* algorithm : algorithms())
    if (wanted(*algorithm)) names.push_back(algorithm->name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

namespace {

constexpr std::string_view names[collective_count] = {"barrier",        "broadcast", "reduce", "allreduce",
                                                      "reduce_scatter", "allgather", "gather", "scatter",
                                                      "alltoall",       "scan",      "exscan"};

template <class Enum>
[[noreturn]] void refuse_value(Enum value, std::string_view function, std::string_view name) {
  throw ArgumentError(fmt::format("tutti::{}: {} is no {}; allowed: a value of enum {}", function,
                                  static_cast<int>(value), name, name));
}

void require_collective(Collective collective, std::string_view function) {
  if (static_cast<int>(collective) >= collective_count) refuse_value(collective, function, "Collective");
}

}  // namespace

std::string_view to_string(Collective collective) {
  require_collective(collective, "to_string");
  return names[static_cast<std::size_t>(collective)];
}

std::optional<Collective> find_collective(std::string_view name) {
  for (std::size_t i = 0; i < std::size(names); ++i)
    if (names[i] == name) return static_cast<Collective>(i);
  return std::nullopt;
}

bool reduces(Collective collective) {
  using enum Collective;
  require_collective(collective, "reduces");
  return collective == reduce || collective == allreduce || collective == reduce_scatter || collective == scan ||
         collective == exscan;
}

bool has_root(Collective collective) {
  using enum Collective;
  require_collective(collective, "has_root");
  return collective == broadcast || collective == reduce || collective == gather || collective == scatter;
}

bool follow_each_other(std::span<const int> nodes) {
  return std::ranges::is_sorted(nodes);  // as nodes are numbered by their lowest ranks
}

Order order_on(std::span<const int> nodes, const Algorithm& algorithm) {
  if (algorithm.order != Order::of_nodes) return algorithm.order;
  return follow_each_other(nodes) ? Order::of_ranks : Order::any;
}

namespace {

/// Whether each number from 0 on comes as often.
bool are_of_one_size(std::span<const int> groups) {
  std::map<int, int> sizes;
  for (const int group : groups)
    ++sizes[group];
  return std::ranges::all_of(sizes, [&](const auto& size) { return size.second == sizes.begin()->second; });
}

}  // namespace

bool has_equal_levels(const Problem& problem, const Algorithm& algorithm) {
  if (algorithm.levels == Levels::ranks) return true;
  if (algorithm.levels == Levels::sockets && !are_of_one_size(problem.sockets)) return false;
  const bool scans = problem.collective == Collective::scan || problem.collective == Collective::exscan;
  if (!scans) return are_of_one_size(problem.nodes);
  std::vector<int> rows(problem.nodes.size());
  for (std::size_t rank = 1; rank < rows.size(); ++rank)
    rows[rank] = rows[rank - 1] + (problem.nodes[rank] == problem.nodes[rank - 1] ? 0 : 1);
  return are_of_one_size(rows);
}

const Algorithm* find_algorithm(Collective collective, std::string_view name) {
  require_collective(collective, "find_algorithm");
  for (const Algorithm* algorithm : algorithms())
    if (algorithm->collective == collective && algorithm->name == name) return algorithm;
  return nullptr;
}

std::string algorithm_names(Collective collective) {
  require_collective(collective, "algorithm_names");
  return names_where([&](const Algorithm& a) { return a.collective == collective; });
}

std::string algorithm_names(Collective collective, Order order) {
  require_collective(collective, "algorithm_names");
  if (order > Order::of_nodes) refuse_value(order, "algorithm_names", "Order");
  return names_where([&](const Algorithm& a) { return a.collective == collective && a.order == order; });
}

std::string algorithm_names(Collective collective, Bits bits) {
  require_collective(collective, "algorithm_names");
  if (bits > Bits::differ) refuse_value(bits, "algorithm_names", "Bits");
  return names_where([&](const Algorithm& a) { return a.collective == collective && a.bits == bits; });
}

std::string algorithm_names(Collective collective, bool gathers) {
  require_collective(collective, "algorithm_names");
  return names_where([&](const Algorithm& a) { return a.collective == collective && a.gathers == gathers; });
}

}  // namespace tutti
