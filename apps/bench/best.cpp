#include "apps/bench/best.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/bench/text.hpp"

namespace tutti::bench {

namespace {

bool is_same_size(const Record& a, const Record& b) {
  return a.collective == b.collective && a.ranks == b.ranks && a.placement == b.placement && a.bytes == b.bytes;
}

/// Of records at one size.
std::optional<Best> best_at(std::span<const Record> records) {
  const auto median = [](const Record& record) { return record.time_us.median; };
  const Record& best = *std::ranges::min_element(records, {}, median);
  const Record* next = nullptr;
  for (const Record& each : records) {
    if (each.algorithm != best.algorithm && (next == nullptr || median(each) < median(*next))) next = &each;
  }
  if (next == nullptr) return std::nullopt;
  Best found{.collective = best.collective,
             .algorithm = best.algorithm,
             .next = next->algorithm,
             .ranks = best.ranks,
             .bytes = best.bytes,
             .count = best.count,
             .placement = best.placement,
             .time_us = median(best),
             .lead = ratio_of(best.rounds_us, next->rounds_us, best.load)};
  const auto chosen = std::ranges::find_if(records, &Record::is_chosen);
  if (chosen == records.end()) return found;
  found.chosen = chosen->algorithm;
  // The best one has no other ratio than 1, whatever its rounds were.
  found.chosen_ratio =
      chosen->algorithm == best.algorithm ? Ratio{} : ratio_of(best.rounds_us, chosen->rounds_us, best.load);
  return found;
}

std::string ratio_cell(const Ratio& ratio) {
  return fmt::format("{:.2f}{}", ratio.value, ratio.is_resolved() ? ' ' : '?');
}

}  // namespace

std::vector<Best> best_of(std::span<const Record> records) {
  std::vector<Best> all;
  for (std::size_t begin = 0, end = 0; begin < records.size(); begin = end) {
    while (end < records.size() && is_same_size(records[begin], records[end])) {
      ++end;
    }
    if (auto best = best_at(records.subspan(begin, end - begin))) all.push_back(std::move(*best));
  }
  return all;
}

std::string to_text(std::span<const Best> all) {
  if (all.empty()) return {};
  std::size_t collective = 10, algorithm = 9;  // the titles
  std::vector<Ratio> leads;
  for (const Best& each : all) {
    collective = std::max(collective, each.collective.size());
    algorithm = std::max({algorithm, each.algorithm.size(), each.next.size(), each.chosen.size()});
    leads.push_back(each.lead);
  }
  const auto line = [&](std::string_view a, std::string_view ranks, std::string_view bytes, std::string_view place,
                        std::string_view best, std::string_view time, std::string_view lead, std::string_view next,
                        std::string_view ratio, std::string_view chosen) {
    std::string text = fmt::format("# {:<{}} {:>5} {:>11} {:<5} {:<{}} {:>8} {:>7} {:<{}} {:>7} {}", a, collective,
                                   ranks, bytes, place, best, algorithm, time, lead, next, algorithm, ratio, chosen);
    text.erase(text.find_last_not_of(' ') + 1);
    return text + '\n';
  };
  std::string text =
      "#\n# The best at each size. lead: the time of the next one over its time; chosen: what Tutti chooses, and its\n"
      "# time over the best one's\n";
  text += line("collective", "ranks", "size", "place", "best", "(us)", "lead ", "next", "ratio ", "chosen");
  for (const Best& each : all) {
    text += line(each.collective, fmt::to_string(each.ranks), fmt::to_string(each.bytes),
                 each.placement == Placement::in_place ? "in" : "out", each.algorithm, time_text(each.time_us),
                 ratio_cell(each.lead), each.next, each.chosen_ratio ? ratio_cell(*each.chosen_ratio) : "- ",
                 each.chosen_ratio ? each.chosen : "-");
  }
  return text + doubts_text(leads);
}

apps::Json to_json(const Best& best) {
  apps::Json json{{"collective", best.collective},
                  {"ranks", best.ranks},
                  {"bytes", best.bytes},
                  {"count", best.count},
                  {"in_place", best.placement == Placement::in_place},
                  {"algorithm", best.algorithm},
                  {"median_us", best.time_us},
                  {"next", best.next},
                  {"lead", to_json(best.lead)},
                  {"chosen", nullptr}};
  if (best.chosen_ratio) {
    apps::Json chosen{{"algorithm", best.chosen}};
    chosen.update(to_json(*best.chosen_ratio));
    json.set("chosen", std::move(chosen));
  }
  return json;
}

}  // namespace tutti::bench
