#include "tutti/algorithm.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <vector>

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

std::string_view to_string(Collective collective) {
  switch (collective) {
    case Collective::allreduce:
      return "allreduce";
  }
  return "unknown";
}

const Algorithm* find_algorithm(Collective collective, std::string_view name) {
  for (const Algorithm* algorithm : algorithms())
    if (algorithm->collective == collective && algorithm->name == name) return algorithm;
  return nullptr;
}

std::string algorithm_names(Collective collective) {
  return names_where([&](const Algorithm& a) { return a.collective == collective; });
}

std::string algorithm_names(Collective collective, Order order) {
  return names_where([&](const Algorithm& a) { return a.collective == collective && a.order == order; });
}

}  // namespace tutti
