// UCC's rules: the tokens of UCC_TL_UCP_TUNE, alone or in the sections of a file as ucc.conf. The highest score counts.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "apps/options.hpp"
#include "apps/tutti/import.hpp"
#include "apps/tutti/import_ucc_token.hpp"

namespace tutti::tool {
namespace {

using namespace ucc;
using enum NamedCollective::Size;

struct RadixPiece {
  Range bytes{};
  std::int64_t radix = 0;
};
struct ScoredRule {
  ForeignRule rule{};
  std::int64_t score = 0;
  std::string collective{};
  std::string name{};  ///< Of the algorithm in the file.
  std::size_t section = 0;
};
/// What holds for a row of variables: the ranks and nodes of a team, and the processor.
struct Section {
  Conditions when{};
  std::string refusal{};                                   ///< Why its rules cannot be taken.
  std::map<std::string, std::vector<RadixPiece>> radix{};  ///< By the collective's name.
};

class UccReader {
 public:
  UccReader(std::string_view path, std::string_view model) : path_(path), model_(model) {}

  ForeignFile read(std::string_view text) && {
    for (; !text.empty(); ++line_) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      read_line(trimmed(text.substr(0, end)));
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return ordered();
  }

 private:
  [[noreturn]] void fail(const std::string& why) const {
    throw apps::InputError(fmt::format("{}:{}: {}", path_, line_, why));
  }
  Section& section() { return sections_.back(); }

  void read_line(std::string_view line) {
    if (line.empty() || line.starts_with('#')) return;
    if (line.starts_with('[') && line.ends_with(']') && line.find('=') != std::string_view::npos)
      return read_section(line.substr(1, line.size() - 2));
    if (line.starts_with("export ")) line = trimmed(line.substr(7));
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) return read_tokens(line, true);
    const std::string_view name = trimmed(line.substr(0, equals)), value = trimmed(line.substr(equals + 1));
    constexpr std::string_view prefix = "UCC_TL_UCP_", suffix = "_KN_RADIX";
    if (name.ends_with("_TUNE")) return read_tokens(value, name == "UCC_TL_UCP_TUNE");
    if (name.starts_with(prefix) && name.ends_with(suffix) && name.size() > prefix.size() + suffix.size())
      read_radix(name.substr(prefix.size(), name.size() - prefix.size() - suffix.size()), value);
  }

  void read_section(std::string_view text) {
    sections_.emplace_back();
    if (sections_.size() > most_foreign_rules) fail(fmt::format("more than {} sections", most_foreign_rules));
    for (const std::string_view part : split(text, ' ')) {
      if (part.empty()) continue;
      const std::size_t equals = std::min(part.find('='), part.size() - 1);
      const std::string_view key = part.substr(0, equals), value = part.substr(equals + 1);
      const auto range = range_of(value);
      if (key == "model") {
        if (value != model_) section().refusal = fmt::format("it is for the processor {}: --model {}", value, value);
      } else if (key == "vendor") {
        continue;  // the model says it
      } else if (!range) {
        fail(fmt::format("'{}' is no condition of a section", part.substr(0, 60)));
      } else if (key == "team_size") {
        section().when.ranks = *range;
      } else if (key == "ppn") {
        section().when.ppn = *range;
      } else if (key == "nnodes") {
        section().when.nodes = *range;
      } else if (key != "sock") {  // ranks of a socket: those of the node say as much on a known processor
        fail(fmt::format("'{}' is no condition of a section", part.substr(0, 60)));
      }
    }
  }

  /// "4", or "0-8k:host:8,8k-inf:host:2".
  void read_radix(std::string_view collective, std::string_view value) {
    const NamedCollective* const of = find_upper(collective);
    if (of == nullptr || value == "auto") return;
    std::vector<RadixPiece>& pieces = section().radix[std::string{of->name}];
    pieces.clear();
    for (const std::string_view part : split(value, ',')) {
      const std::vector<std::string_view> words = split(part, ':');
      const auto radix = size_of(words.back());
      const auto bytes = words.size() > 1 ? range_of(words.front()) : std::optional{Range{}};
      if (!radix || !bytes || *radix > 65536 || words.size() > 3)
        fail(fmt::format("'{}' is no radix", part.substr(0, 60)));
      const std::int64_t most =
          bytes->most == Range::no_end || bytes->most == bytes->least ? bytes->most : bytes->most - 1;
      pieces.push_back({{bytes->least, most}, *radix});
      if (pieces.size() > most_foreign_rules) fail(fmt::format("more than {} radices", most_foreign_rules));
    }
  }

  void read_tokens(std::string_view text, bool is_ucp) {
    for (const std::string_view item : split(text, '#')) {
      if (trimmed(item).empty()) continue;
      Token token;
      std::string_view rest = trimmed(item);
      for (const std::string_view part : split(rest, ':'))
        if (!take(part, token))
          fail(fmt::format("'{}' is no part of a rule of UCC, in '{}'", part.substr(0, 40), rest.substr(0, 80)));
      if (token.collectives.empty()) {
        add_refused(fmt::format("'{}'", rest.substr(0, 40)),
                    "it is for all collectives, whose algorithms it does not name");
        continue;
      }
      for (const NamedCollective* const of : token.collectives)
        for (const Range& bytes : token.sizes)
          for (const Range& ranks : token.ranks)
            for (const std::optional<AssumedMemory>& memory : token.memories)
              add(*of, bytes, ranks, memory, token, is_ucp);
    }
  }

  void add_refused(std::string told, std::string why) {
    ForeignRule rule{.line = line_, .told = std::move(told), .remark = std::move(why), .is_exact = false};
    push({std::move(rule), 0, "", "", sections_.size() - 1});
  }
  void push(ScoredRule rule) {
    if (rules_.size() == most_foreign_rules) fail(fmt::format("more than {} rules", most_foreign_rules));
    rules_.push_back(std::move(rule));
  }

  void add(const NamedCollective& of, const Range& bytes, const Range& ranks, std::optional<AssumedMemory> memory,
           const Token& token, bool is_ucp) {
    const std::string told = fmt::format("{}, {}", of.name, token.algorithm.empty() ? "no algorithm" : token.algorithm);
    const Range both{std::max(ranks.least, section().when.ranks.least),
                     std::min(ranks.most, section().when.ranks.most)};
    if (both.least > both.most) return add_refused(told, "no number of ranks is in its section and in its own range");
    if (!of.collective) return add_refused(told, "Tutti has no rules for it");
    if (!section().refusal.empty()) return add_refused(told, section().refusal);
    if (!is_ucp) return add_refused(told, "it is not for TL/UCP, whose algorithms alone Tutti knows");
    if (token.score == 0) return add_refused(told, "a score of 0 forbids an algorithm, which no rule does");
    if (of.size == none && of.collective != Collective::barrier && !bytes.is_open())
      return add_refused(told, "its ranks do not know the size");
    ForeignRule rule{.line = line_, .collective = *of.collective, .when = section().when, .told = told};
    rule.when.ranks = both;
    rule.when.memory = memory;
    rule.when.uneven = of.is_uneven;
    if (of.size == whole) rule.when.bytes = bytes;
    if (of.size == per_rank) rule.when.bytes_per_rank = bytes;
    if (token.algorithm.empty()) rule.remark = "a score alone: UCC's own choice, and the built-in rules choose";
    push({std::move(rule), token.score, std::string{of.name}, std::string{token.algorithm}, sections_.size() - 1});
  }

  static const ForeignName* name_of(const ScoredRule& its) {
    int id = 0;
    const auto [end, error] = std::from_chars(its.name.data(), its.name.data() + its.name.size(), id);
    if (error == std::errc{} && end == its.name.data() + its.name.size())
      return find_foreign(Library::ucc, its.rule.collective, id);
    return find_foreign(Library::ucc, its.rule.collective, its.name);
  }

  /// A size at which one rule ends and another one begins belongs to the one with the higher score, or to the latter.
  void part_at_borders() {
    std::map<std::tuple<std::string, std::size_t, std::int64_t>, std::int64_t> scores;  // of those that begin there
    for (const ScoredRule& each : rules_)
      for (const Range& range : {each.rule.when.bytes, each.rule.when.bytes_per_rank})
        if (range.least > 0) {
          std::int64_t& best = scores[{each.collective, each.section, range.least}];
          best = std::max(best, each.score);
        }
    for (ScoredRule& each : rules_)
      for (Range* const range : {&each.rule.when.bytes, &each.rule.when.bytes_per_rank}) {
        const auto next = scores.find({each.collective, each.section, range->most});
        if (next != scores.end() && next->second >= each.score && range->most > range->least) --range->most;
      }
  }

  /// Adds the rule, for each radix that its collective has in its section.
  void add_with_radix(const ScoredRule& its, ForeignFile& file) const {
    ForeignRule rule = its.rule;
    if (its.name.empty()) {
      file.rules.push_back(std::move(rule));
      return;
    }
    const ForeignName* const name = name_of(its);
    const auto radix = sections_[its.section].radix.find(its.collective);
    const bool has_radix = name != nullptr && name->carries == ForeignName::Carries::radix;
    std::int64_t covered = rule.when.bytes.least;  // all below has its radix
    if (has_radix && radix != sections_[its.section].radix.end())
      for (const RadixPiece& piece : radix->second) {
        ForeignRule part = rule;
        part.when.bytes = {std::max(piece.bytes.least, rule.when.bytes.least),
                           std::min(piece.bytes.most, rule.when.bytes.most)};
        if (part.when.bytes.least > part.when.bytes.most) continue;
        const bool is_last = part.when.bytes.least <= covered && part.when.bytes.most == rule.when.bytes.most;
        if (part.when.bytes.least <= covered && !is_last) covered = std::max(covered, part.when.bytes.most + 1);
        choose_for(part, name, its.name, {.radix = piece.radix});
        part.is_silent = !is_last;
        file.rules.push_back(std::move(part));
        if (is_last) return;
      }
    choose_for(rule, name, its.name, {});
    file.rules.push_back(std::move(rule));
  }

  ForeignFile ordered() {
    part_at_borders();
    // Variables of sections come before those of the whole file.
    std::ranges::stable_sort(rules_, [](const ScoredRule& a, const ScoredRule& b) {
      return std::pair{a.section == 0, -a.score} < std::pair{b.section == 0, -b.score};
    });
    ForeignFile file;
    if (!model_.empty())
      file.notes.push_back(
          fmt::format("the rules of {} are for every machine, until 'for' names its processors", model_));
    for (const ScoredRule& each : rules_) {
      add_with_radix(each, file);
      if (file.rules.size() > most_foreign_rules)
        throw apps::InputError(fmt::format("{}: more than {} rules, one for each radix", path_, most_foreign_rules));
    }
    return file;
  }

  std::string_view path_, model_;
  int line_ = 1;
  std::vector<Section> sections_{1};
  std::vector<ScoredRule> rules_{};
};

}  // namespace

ForeignFile read_ucc_rules(std::string_view text, std::string_view path, std::string_view model) {
  return UccReader{path, model}.read(text);
}

}  // namespace tutti::tool
