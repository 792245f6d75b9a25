#include "lib/topology/distance.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <system_error>
#include <utility>

namespace tutti::topology {
namespace {

constexpr std::array<std::string_view, 8> kind_names{"X", "NV", "PIX", "PXB", "PHB", "NODE", "SYS", "?"};

bool is_one_part(const Numbers& a, const Numbers& b) {
  return !a.empty() && !b.empty() && a.front() == b.front() && a.back() == b.back() && a.front() == a.back();
}

}  // namespace

Distance distance(const Binding& a, const Binding& b) {
  constexpr std::array levels{
      std::pair{&Parts<Numbers>::cores, Distance::core}, std::pair{&Parts<Numbers>::l3s, Distance::l3},
      std::pair{&Parts<Numbers>::numas, Distance::numa}, std::pair{&Parts<Numbers>::sockets, Distance::socket}};
  for (const auto& [part, distance] : levels)
    if (is_one_part(a.parts.*part, b.parts.*part)) return distance;
  return Distance::node;
}

std::string_view to_string(Distance distance) {
  constexpr std::string_view names[] = {"X", "core", "L3", "NUMA", "socket", "node", "other node"};
  return names[static_cast<std::size_t>(distance)];
}

LinkKind kind_between(const Position& a, const Position& b) {
  if (a.path.empty() || b.path.empty()) return LinkKind::unknown;
  const auto [in_a, in_b] = std::mismatch(a.path.begin(), a.path.end(), b.path.begin(), b.path.end());
  const auto common = in_a - a.path.begin();
  if (in_a == a.path.end() && in_b == b.path.end()) return LinkKind::self;
  if (common == 0) return a.numa != unknown_numa && a.numa == b.numa ? LinkKind::numa : LinkKind::system;
  if (common == 1) return LinkKind::host_bridge;
  // Below the last bridge that they share: the device itself, behind at most one port of that switch.
  const auto below = std::max(a.path.end() - in_a, b.path.end() - in_b);
  return below <= 2 ? LinkKind::one_switch : LinkKind::switches;
}

std::string to_string(const Link& link) {
  const std::string name{kind_names[static_cast<std::size_t>(link.kind)]};
  return link.kind == LinkKind::nvlink ? name + std::to_string(link.nvlinks) : name;
}

Link link_of(std::string_view text) {
  const std::string_view name = text.substr(0, text.find_first_of("0123456789"));
  const auto* const found = std::find(kind_names.begin(), kind_names.end(), name);
  if (found == kind_names.end()) return {};
  Link link{static_cast<LinkKind>(found - kind_names.begin()), 0};
  const char* const end = text.data() + text.size();
  if (link.kind != LinkKind::nvlink) return name == text ? link : Link{};
  const auto [last, error] = std::from_chars(text.data() + name.size(), end, link.nvlinks);
  return error == std::errc{} && last == end ? link : Link{};
}

Numbers nearest(const Numbers& candidates, const std::vector<int>& numas, const Binding& binding) {
  const Numbers& mine = binding.parts.numas;
  Numbers near;
  std::copy_if(candidates.begin(), candidates.end(), std::back_inserter(near), [&](int device) {
    return std::binary_search(mine.begin(), mine.end(), numas[static_cast<std::size_t>(device)]);
  });
  return near.empty() ? candidates : near;
}

}  // namespace tutti::topology
