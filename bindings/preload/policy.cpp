#include "bindings/preload/policy.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "bindings/preload/table.hpp"
#include "lib/core/schedule/near_names.hpp"
#include "tutti/error.hpp"

namespace tutti::interpose {
namespace {

std::vector<std::string> allowed_names() {
  std::vector<std::string> names{"all", "auto", "none"};
  names.insert(names.end(), function_names.begin(), function_names.end());
  return names;
}

[[noreturn]] void refuse_name(std::string_view text, std::string_view name) {
  const std::vector<std::string> names = allowed_names();
  throw ArgumentError(
      fmt::format("environment variable TUTTI_INTERPOSE is '{}'; allowed: all, auto, none, or a list of {}{}", text,
                  fmt::join(function_names, ", "), suggestion(name, names)));
}

}  // namespace

Wishes read_wishes(std::string_view text) {
  Wishes wishes;
  if (text == "all") wishes.use = Wishes::Use::all;
  if (text == "none") wishes.use = Wishes::Use::none;
  if (text == "all" || text == "none" || text == "auto" || text.empty()) return wishes;
  wishes.use = Wishes::Use::listed;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    const std::string_view name = text.substr(at, end - at);
    const auto* const found = std::ranges::find(function_names, name);
    if (found == function_names.end()) refuse_name(text, name);
    wishes.listed.set(static_cast<std::size_t>(found - function_names.begin()));
    at = end + 1;
  }
  return wishes;
}

bool wants(const Wishes& wishes, Function function) {
  return wishes.use == Wishes::Use::listed ? wishes.listed[index_of(function)] : wishes.use != Wishes::Use::none;
}

Served served_at(const Wishes& wishes, const Placement& placement) {
  Served served{};
  for (std::size_t i = 0; i < function_count; ++i) {
    const auto function = static_cast<Function>(i);
    const bool is_listed = wishes.use == Wishes::Use::listed && wishes.listed[i];
    const bool is_automatic = wishes.use == Wishes::Use::automatic;
    const bool is_fixed = is_automatic && placement.question.bits == Bits::fixed && is_reduction(function);
    if (wishes.use == Wishes::Use::all || is_listed || is_fixed)
      served[i] = ServedBytes::all();
    else if (is_automatic)
      served[i] = worthwhile(function, placement);
  }
  return served;
}

}  // namespace tutti::interpose
