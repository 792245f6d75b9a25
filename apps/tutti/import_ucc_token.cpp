#include "apps/tutti/import_ucc_token.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace tutti::tool::ucc {
namespace {

constexpr std::int64_t infinite_score = std::int64_t{1} << 40;

using enum NamedCollective::Size;
constexpr auto collectives = std::to_array<NamedCollective>({
    {"allgather", "ALLGATHER", Collective::allgather, false, whole},
    {"allgatherv", "ALLGATHERV", Collective::allgather, true, whole},
    {"allreduce", "ALLREDUCE", Collective::allreduce, std::nullopt, whole},
    {"alltoall", "ALLTOALL", Collective::alltoall, false, whole},
    {"alltoallv", "ALLTOALLV", Collective::alltoall, true, none},
    {"barrier", "BARRIER", Collective::barrier, std::nullopt, none},
    {"bcast", "BCAST", Collective::broadcast, std::nullopt, whole},
    {"fanin", "FANIN", std::nullopt, std::nullopt, none},
    {"fanout", "FANOUT", std::nullopt, std::nullopt, none},
    {"gather", "GATHER", Collective::gather, false, whole},
    {"gatherv", "GATHERV", Collective::gather, true, none},
    {"reduce", "REDUCE", Collective::reduce, std::nullopt, whole},
    {"reduce_scatter", "REDUCE_SCATTER", Collective::reduce_scatter, false, per_rank},
    {"reduce_scatterv", "REDUCE_SCATTERV", Collective::reduce_scatter, true, whole},
    {"scatter", "SCATTER", Collective::scatter, false, whole},
    {"scatterv", "SCATTERV", Collective::scatter, true, none},
});
constexpr auto memories = std::to_array<std::pair<std::string_view, AssumedMemory>>({
    {"host", AssumedMemory::host},
    {"cuda", AssumedMemory::device},
    {"cuda_managed", AssumedMemory::device},
    {"rocm", AssumedMemory::device},
    {"rocm_managed", AssumedMemory::device},
});

std::optional<std::vector<Range>> ranges_of(std::string_view text) {
  std::vector<Range> ranges;
  for (const std::string_view part : split(text, ',')) {
    const auto range = range_of(part);
    if (!range) return std::nullopt;
    ranges.push_back(*range);
  }
  return ranges;
}

}  // namespace

const NamedCollective* find_upper(std::string_view name) {
  const auto* const found = std::ranges::find(collectives, name, &NamedCollective::upper);
  return found == collectives.end() ? nullptr : found;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(separator, at), text.size());
    parts.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n\"'";
  const std::size_t first = text.find_first_not_of(blanks);
  return first == std::string_view::npos ? std::string_view{}
                                         : text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::optional<std::int64_t> size_of(std::string_view text) {
  if (text == "inf" || text == "INF") return Range::no_end;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || value < 0 || value > std::int64_t{1} << 40) return std::nullopt;
  std::string_view unit{end, text.data() + text.size()};
  if (unit.ends_with('b') || unit.ends_with('B')) unit.remove_suffix(1);
  constexpr std::string_view units = "kKmMgG";
  if (unit.empty()) return value;
  const std::size_t place = units.find(unit.front());
  if (unit.size() != 1 || place == std::string_view::npos) return std::nullopt;
  const int shift = 10 * (static_cast<int>(place) / 2 + 1);
  return value > (std::int64_t{1} << 50) >> shift ? std::nullopt : std::optional{value << shift};
}

std::optional<Range> range_of(std::string_view text) {
  const std::size_t dash = text.find('-');
  const auto least = size_of(text.substr(0, dash));
  const auto most = dash == std::string_view::npos ? least : size_of(text.substr(dash + 1));
  if (!least || !most || *least > *most) return std::nullopt;
  return Range{*least, *most};
}

bool take(std::string_view part, Token& token) {
  if (part.starts_with('@')) {
    token.algorithm = part.substr(1);
    return !token.algorithm.empty();
  }
  if (part.starts_with('[')) {
    if (!part.ends_with(']')) return false;
    const auto ranges = ranges_of(part.substr(1, part.size() - 2));
    if (ranges) token.ranks = *ranges;
    return ranges.has_value();
  }
  if (part.find('-') != std::string_view::npos) {
    const auto ranges = ranges_of(part);
    if (ranges) token.sizes = *ranges;
    return ranges.has_value();
  }
  if (const auto score = size_of(part)) {
    token.score = std::min(*score, infinite_score);
    return true;
  }
  std::vector<const NamedCollective*> named;
  std::vector<std::optional<AssumedMemory>> kept;
  for (const std::string_view name : split(part, ',')) {
    const auto* const collective = std::ranges::find(collectives, name, &NamedCollective::name);
    const auto* const memory = std::ranges::find(memories, name, &std::pair<std::string_view, AssumedMemory>::first);
    if (collective != collectives.end())
      named.push_back(collective);
    else if (memory != memories.end())
      kept.emplace_back(memory->second);
    else
      return false;
  }
  if (!named.empty()) token.collectives = std::move(named);
  if (!kept.empty()) token.memories = std::move(kept);
  return true;
}

}  // namespace tutti::tool::ucc
