// Rules of other libraries as Tutti's.
#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "apps/options.hpp"
#include "apps/tutti/import.hpp"
#include "apps/tutti/rule_text.hpp"
#include "lib/core/schedule/choice.hpp"
#include "tutti/version.h"

namespace tutti::tool {
namespace {

constexpr std::size_t most_rules = 8192;
constexpr std::size_t most_reports = 200;

constexpr Range Conditions::*ranges[] = {&Conditions::ranks, &Conditions::nodes,          &Conditions::ppn,
                                         &Conditions::bytes, &Conditions::bytes_per_rank, &Conditions::bytes_per_node};
constexpr std::optional<bool> Conditions::*facts[] = {
    &Conditions::commutative,  &Conditions::uneven,       &Conditions::shares_memory, &Conditions::shares_processors,
    &Conditions::maps_devices, &Conditions::power_of_two, &Conditions::consecutive};

/// Cuts a hole out of conditions, one condition after the other.
class Cut {
 public:
  Cut(const Conditions& from, const Conditions& hole) : inside_(from), hole_(hole) {}

  std::vector<Conditions> pieces() && {
    for (Range Conditions::*const range : ranges)
      cut(range);
    cut(&Conditions::memory, {AssumedMemory::host, AssumedMemory::tutti, AssumedMemory::device});
    cut(&Conditions::mode, {records::Manner::blocking, records::Manner::nonblocking, records::Manner::persistent,
                            records::Manner::in_stream});
    for (std::optional<bool> Conditions::*const fact : facts)
      cut(fact, {true, false});
    return std::move(pieces_);
  }

 private:
  /// The conditions inside so far, with another value.
  template <class T>
  void add(T Conditions::*member, const T& value) {
    pieces_.push_back(inside_);
    pieces_.back().*member = value;
  }
  void cut(Range Conditions::*member) {
    const Range here = inside_.*member, hole = hole_.*member;
    const bool counts_from_one =
        member == &Conditions::ranks || member == &Conditions::nodes || member == &Conditions::ppn;
    if (here.least < hole.least && (hole.least > 1 || !counts_from_one)) add(member, Range{here.least, hole.least - 1});
    if (here.most > hole.most) add(member, Range{hole.most + 1, here.most});
    inside_.*member = {std::max(here.least, hole.least), std::min(here.most, hole.most)};
  }
  template <class T>
  void cut(std::optional<T> Conditions::*member, std::initializer_list<T> values) {
    if (!(hole_.*member) || inside_.*member) return;  // they agree, as the two meet
    for (const T value : values)
      if (value != hole_.*member) add(member, std::optional<T>{value});
    inside_.*member = hole_.*member;
  }

  Conditions inside_;
  const Conditions& hole_;
  std::vector<Conditions> pieces_{};
};

bool carries_radix(ForeignName::Carries carries) {
  return carries == ForeignName::Carries::radix || carries == ForeignName::Carries::both;
}
bool carries_segment(ForeignName::Carries carries) {
  return carries == ForeignName::Carries::segment || carries == ForeignName::Carries::both;
}

}  // namespace

std::vector<Conditions> without(const Conditions& from, const Conditions& hole) {
  if (!may_meet(from, hole)) return {from};
  return Cut{from, hole}.pieces();
}

void choose_for(ForeignRule& rule, const ForeignName* name, std::string_view told, const ForeignNumbers& numbers) {
  rule.told = fmt::format("{}, {}", to_string(rule.collective), told);
  if (name == nullptr) {
    rule.remark = "no algorithm of that name is known";
    return;
  }
  rule.told = fmt::format("{}, {}", to_string(rule.collective), name->name);
  rule.remark = name->remark;
  if (name->use.empty()) return;
  Choice choice = read_choice(rule.collective, name->use);
  const Parameter& parameter = choice.algorithm->parameter;
  const std::int64_t number = name->carries == ForeignName::Carries::window ? numbers.window
                              : carries_radix(name->carries)                ? numbers.radix
                                                                            : 0;
  if (number > 0)
    choice.parameter = static_cast<int>(std::clamp<std::int64_t>(number, parameter.least, parameter.most));
  if (carries_segment(name->carries)) choice.segment = numbers.segment;
  rule.choice = choice;
}

namespace {

using Holes = std::vector<const ForeignRule*>;

/// The calls of a rule that are none of the holes. Throws InputError if these are more than `most` cases.
std::vector<Conditions> pieces_of(const ForeignRule& rule, const Holes& holes, std::size_t most,
                                  std::string_view path) {
  std::vector<Conditions> pieces{rule.when};
  for (const ForeignRule* const hole : holes) {
    if (hole->collective != rule.collective) continue;
    std::vector<Conditions> left;
    for (const Conditions& piece : pieces)
      std::ranges::move(without(piece, hole->when), std::back_inserter(left));
    pieces = std::move(left);
    if (pieces.size() > most)
      throw apps::InputError(
          fmt::format("{}:{}: the rules so far would become more than {}", path, rule.line, most_rules));
  }
  return pieces;
}

/// What becomes of a rule, if there is something to tell; empty: it is as it was.
std::string fate_of(const ForeignRule& rule, bool has_calls) {
  if (rule.is_silent) return "";
  if (!rule.choice) return "refused: " + rule.remark;
  if (!has_calls) return "refused: all of its calls are those of refused rules before it";
  return rule.remark.empty() ? "" : fmt::format("taken as {}: {}", to_text(*rule.choice), rule.remark);
}

}  // namespace

Translation translate(const ForeignFile& foreign, std::string_view path) {
  if (foreign.rules.size() > most_foreign_rules)
    throw apps::InputError(fmt::format("{}: more than {} rules", path, most_foreign_rules));
  Translation translation;
  Holes holes;
  std::vector<Rule>& made = translation.file.rules;
  const std::string_view name = path.substr(path.rfind('/') + 1);
  for (const ForeignRule& rule : foreign.rules) {
    std::vector<Conditions> pieces;
    if (rule.choice)
      pieces = pieces_of(rule, holes, most_rules - made.size(), path);
    else if (rule.is_exact)
      holes.push_back(&rule);
    for (const Conditions& piece : pieces)
      made.push_back({.collective = rule.collective,
                      .when = piece,
                      .choice = *rule.choice,
                      .note = fmt::format("{}:{}: {}", name, rule.line, rule.told)});
    if (!rule.is_silent) ++(pieces.empty() ? translation.refused : translation.translated);
    const std::string fate = fate_of(rule, !pieces.empty());
    if (!fate.empty() && translation.report.size() < most_reports)
      translation.report.push_back(fmt::format("{}:{}: {}: {}", path, rule.line, rule.told, fate));
  }
  translation.read = translation.translated + translation.refused;
  if (translation.report.size() == most_reports) translation.report.emplace_back("... more of these are not told");
  translation.file.made = {{"by", fmt::format("tutti rules import {}", TUTTI_VERSION)},
                           {"note", fmt::format("of {}", path)}};
  return translation;
}

}  // namespace tutti::tool
