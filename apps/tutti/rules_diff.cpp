// tutti rules diff: where two files of rules choose differently.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <set>

#include "apps/standard_output.hpp"
#include "apps/tutti/input.hpp"
#include "apps/tutti/rule_grid.hpp"
#include "apps/tutti/rule_text.hpp"
#include "apps/tutti/rules_commands.hpp"
#include "apps/tutti/table.hpp"
#include "lib/core/selection/selection.hpp"
#include "lib/core/selection/site_rules.hpp"

namespace tutti::tool {
namespace {

constexpr int exit_differ = 1;
constexpr std::int64_t most_ranks = 1 << 20;
constexpr std::size_t most_steps = 1'000'000'000;  // rules that are looked at: some seconds

/// One of the two files; without rules it stands for the built-in ones.
struct Side {
  std::string name;
  std::optional<SiteRules> rules{};
  [[nodiscard]] const RuleTable* table() const { return rules ? &rules->table : nullptr; }
};

Side side_of(const std::string& path) {
  Side side{path};
  if (path != "builtin") side.rules.emplace(load_rules(path));
  return side;
}

/// "ring (9.2 us)"
std::string choice_text(const Selection& selection) {
  const double us = selection.rule->measured.us;
  return to_text(selection.choice) + (us > 0 ? fmt::format(" ({:g} us)", us) : "");
}

/// A difference; rows of ranges that follow each other are joined if all else is the same.
struct Difference {
  Range ranks{};
  Cells rest{};  ///< Nodes, facts, bytes, both choices.
};

/// All differences of one collective.
class Comparison {
 public:
  Comparison(Collective collective, const Side& a, const Side& b) : collective_(collective), a_(a), b_(b) {
    for (const Side* side : {&a, &b})
      if (side->table() != nullptr) tables_.push_back(side->table());
    mentioned_ = mentioned();
    tables_.push_back(&builtin_rules());
  }

  std::vector<Difference> all() && {
    for (Range ranks : rank_ranges(collective_, tables_, most_ranks)) {
      ranks.least = std::max<std::int64_t>(2, ranks.least);  // one rank has nothing to choose
      if (ranks.least > ranks.most) continue;
      for (const std::int64_t representative : representatives(ranks))
        compare(ranks, representative);
    }
    return std::move(found_);
  }

 private:
  /// The conditions that occur in the rules of the two files.
  struct Mentioned {
    std::set<AssumedMemory> memory{AssumedMemory::host};
    std::set<records::Manner> modes{records::Manner::blocking};
    bool uneven = false, shares_processors = false, power_of_two = false;
  };
  [[nodiscard]] Mentioned mentioned() const {
    Mentioned its;
    for (const RuleTable* const table : tables_)
      for (const Rule& rule : table->of(collective_)) {
        if (rule.when.memory) its.memory.insert(*rule.when.memory);
        if (rule.when.mode) its.modes.insert(*rule.when.mode);
        its.uneven = its.uneven || rule.when.uneven.has_value();
        its.shares_processors = its.shares_processors || rule.when.shares_processors.has_value();
        its.power_of_two = its.power_of_two || rule.when.power_of_two.has_value();
      }
    return its;
  }
  /// Numbers of ranks of the range that stand for the others.
  [[nodiscard]] std::vector<std::int64_t> representatives(const Range& ranks) const {
    if (!mentioned_.power_of_two) return {ranks.least};
    const bool is_power = std::has_single_bit(static_cast<std::uint64_t>(ranks.least));
    const std::int64_t other =
        is_power ? ranks.least + 1 : static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(ranks.least)));
    if (!ranks.contains(other)) return {ranks.least};
    return {ranks.least, other};
  }
  void compare(const Range& ranks, std::int64_t representative) {
    for (const Range& nodes : node_ranges(collective_, tables_, representative)) {
      Question question{
          .collective = collective_, .ranks = static_cast<int>(representative), .nodes = static_cast<int>(nodes.least)};
      question.shares_memory = question.nodes == 1;
      for (const AssumedMemory memory : mentioned_.memory)
        for (const records::Manner mode : mentioned_.modes)
          for (int facts = 0; facts < 4; ++facts) {
            question.memory = memory;
            question.manner = mode;
            question.maps_devices = question.shares_memory && memory == AssumedMemory::device;
            question.is_uneven = (facts & 1) != 0;
            question.shares_processors = (facts & 2) != 0;
            if (is_worth_asking(question)) compare(question, ranks, nodes);
          }
    }
  }
  /// Operations that commute and others, in one row where they are chosen for alike.
  void compare(Question question, const Range& ranks, const Range& nodes) {
    const std::vector<Span> spans = spans_of(question);
    if (!reduces(collective_)) return add(spans, facts_of(question, ""), ranks, nodes);
    question.is_commutative = false;
    const std::vector<Span> others = spans_of(question);
    if (spans == others) return add(spans, facts_of(question, ""), ranks, nodes);
    add(spans, facts_of(question, "commutative"), ranks, nodes);
    add(others, facts_of(question, "not commutative"), ranks, nodes);
  }
  [[nodiscard]] bool is_worth_asking(const Question& question) const {
    return (!question.is_uneven || (mentioned_.uneven && may_be_uneven(collective_))) &&
           (!question.shares_processors || (mentioned_.shares_processors && question.shares_memory));
  }
  [[nodiscard]] std::string facts_of(const Question& question, std::string_view operations) const {
    std::string text{operations};
    const auto add = [&](std::string_view fact) { text += fmt::format("{}{}", text.empty() ? "" : ", ", fact); };
    if (question.memory != AssumedMemory::host)
      add(fmt::format("{} memory", assumed_memory_names[static_cast<std::size_t>(question.memory)]));
    if (*question.manner != records::Manner::blocking) add(manner_names[static_cast<std::size_t>(*question.manner)]);
    if (question.is_uneven) add("uneven");
    if (question.shares_processors) add("shares processors");
    if (mentioned_.power_of_two)
      add(std::has_single_bit(static_cast<unsigned>(question.ranks)) ? "a power of two" : "no power of two");
    return text.empty() ? "-" : text;
  }
  /// Sizes for which the files choose differently.
  struct Span {
    Range bytes{};
    std::string a{}, b{};
    bool operator==(const Span&) const = default;
  };
  std::vector<Span> spans_of(Question question) {
    for (const RuleTable* const table : tables_)  // every border of a rule is asked for, and all rules looked at
      steps_ += table->of(collective_).size() * table->of(collective_).size();
    if (steps_ > most_steps)
      throw apps::InputError(fmt::format("there are too many rules of {} to compare", to_string(collective_)));
    if (!is_size_known(collective_, question.is_uneven)) {
      question.bytes = Bytes{-1};
      const Selection of_a = select(question, {}, a_.table()), of_b = select(question, {}, b_.table());
      if (of_a.choice == of_b.choice) return {};
      return {{{}, choice_text(of_a), choice_text(of_b)}};
    }
    const std::vector<SelectionFrom> a = select_by_size(question, {}, a_.table());
    const std::vector<SelectionFrom> b = select_by_size(question, {}, b_.table());
    std::set<std::int64_t> borders;
    for (const auto* all : {&a, &b})
      for (const SelectionFrom& from : *all)
        borders.insert(from.bytes.value());
    std::vector<Span> spans;
    for (const std::int64_t bytes : borders) {
      if (!spans.empty() && spans.back().bytes.most == Range::no_end) spans.back().bytes.most = bytes - 1;
      const Selection &of_a = at(a, bytes), &of_b = at(b, bytes);
      if (of_a.choice == of_b.choice) continue;
      Span span{{bytes, Range::no_end}, choice_text(of_a), choice_text(of_b)};
      const bool goes_on = !spans.empty() && spans.back().a == span.a && spans.back().b == span.b &&
                           spans.back().bytes.most == bytes - 1;
      if (goes_on)
        spans.back().bytes.most = Range::no_end;
      else
        spans.push_back(std::move(span));
    }
    return spans;
  }
  static const Selection& at(const std::vector<SelectionFrom>& all, std::int64_t bytes) {
    const auto after = std::ranges::upper_bound(all, Bytes{bytes}, {}, &SelectionFrom::bytes);
    return std::prev(after)->selection;
  }
  void add(const std::vector<Span>& spans, const std::string& facts, const Range& ranks, const Range& nodes) {
    for (const Span& span : spans)
      add({ranks, {range_text(nodes), facts, range_text(span.bytes), span.a, span.b}});
  }
  void add(Difference difference) {
    for (Difference& before : found_)
      if (before.rest == difference.rest && before.ranks.most == difference.ranks.least - 1) {
        before.ranks.most = difference.ranks.most;
        return;
      }
    found_.push_back(std::move(difference));
  }

  Collective collective_;
  const Side &a_, &b_;
  std::vector<const RuleTable*> tables_{};
  Mentioned mentioned_{};
  std::vector<Difference> found_{};
  std::size_t steps_ = 0;
};

}  // namespace

int diff_rules(const Arguments& arguments) {
  std::string first, second;
  using Takes = apps::Options::Takes;
  apps::Options options{
      "tutti rules diff",
      "Shows the calls for which two files of rules choose different algorithms, with the times that\n"
      "were measured. `builtin` names the built-in rules. Ranks are spread evenly over the nodes; sizes\n"
      "per rank are those of the smallest number of ranks, from 2 on. Exit code: 0, they choose alike; 1, they do "
      "not."};
  options.argument("FILE", Takes::one, [&](std::string_view given) { first = given; })
      .argument("OTHER", Takes::one, [&](std::string_view given) { second = given; });
  if (is_told(options, arguments)) return apps::exit_success;
  const Side a = side_of(first), b = side_of(second);
  std::vector<Cells> cells{{"collective", "ranks", "nodes", "if", "bytes", first, second}};
  for (int i = 0; i < collective_count; ++i) {
    const auto collective = static_cast<Collective>(i);
    for (const auto& [ranks, rest] : Comparison{collective, a, b}.all()) {
      cells.push_back({std::string{to_string(collective)}, range_text(ranks)});
      cells.back().insert(cells.back().end(), rest.begin(), rest.end());
    }
  }
  if (cells.size() == 1) return apps::exit_success;
  apps::print(aligned(cells, ""));
  return exit_differ;
}

}  // namespace tutti::tool
