#include "lib/watch/bits/verdict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "lib/watch/records/text.hpp"

namespace tutti::bits {
namespace {

void note(std::vector<std::string>& parts, std::string_view what, const std::vector<int>& ranks) {
  if (ranks.empty()) return;
  parts.push_back(fmt::format("{} on rank{} {}", what, ranks.size() == 1 ? "" : "s", records::ranks_in_words(ranks)));
}

}  // namespace

RankDifference difference_of(int rank, const Found& found) {
  Key key = key_of(found.call, found.communicator);
  key.is_over = false;
  return {.rank = rank,
          .key = key,
          .what = found.what,
          .results_too = found.results_too,
          .where = fmt::format("{} ({})", place_in_words(found.call, found.communicator), in_words(found.call))};
}

std::vector<Verdict> verdicts_of(std::vector<RankDifference> differences) {
  std::ranges::sort(differences, {}, &RankDifference::rank);
  std::map<std::tuple<std::uint64_t, bool, int>, Verdict> all;
  for (const RankDifference& each : differences) {
    Verdict& verdict = all[{each.key.communicator, each.key.are_messages, each.key.are_messages ? each.rank : -1}];
    if (verdict.where.empty() || each.key.number < verdict.key.number) verdict = {.key = each.key, .where = each.where};
    if (each.key.number > verdict.key.number) continue;
    if (each.what == Difference::inputs) verdict.inputs.push_back(each.rank);
    if (each.what == Difference::results || each.results_too) verdict.results.push_back(each.rank);
    if (each.what == Difference::mismatch) verdict.mismatches.push_back(each.rank);
    if (each.what == Difference::missing) verdict.missing.push_back(each.rank);
  }
  std::vector<Verdict> verdicts;
  verdicts.reserve(all.size());
  for (auto& [key, verdict] : all)
    verdicts.push_back(std::move(verdict));
  return verdicts;
}

bool is_of_result_alone(const Verdict& verdict) {
  return verdict.mismatches.empty() && verdict.missing.empty() && verdict.inputs.empty();
}

std::string in_words(const Verdict& verdict, const std::vector<int>& not_compared) {
  std::vector<std::string> parts;
  note(parts, "another call", verdict.mismatches);
  note(parts, "no such call before", verdict.missing);
  note(parts, "inputs differ", verdict.inputs);
  note(parts, "results differ", verdict.results);
  std::string who = "the program made the difference";
  if (is_of_result_alone(verdict)) {
    if (verdict.key.are_messages)  // each rank has its own
      who = "the inputs of this rank are the same, the result alone differs";
    else if (not_compared.empty())
      who = "inputs are the same on all ranks, the result alone differs";
    else
      who = fmt::format("inputs are the same on the ranks compared, not all of which were: rank{} {}",
                        not_compared.size() == 1 ? "" : "s", records::ranks_in_words(not_compared));
  }
  return fmt::format("{}: {}: {}", verdict.where, who, fmt::join(parts, "; "));
}

}  // namespace tutti::bits
