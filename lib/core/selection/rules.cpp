#include "lib/core/selection/rules.hpp"

#include <bit>
#include <utility>

namespace tutti {
namespace {

template <class T>
bool agrees(const std::optional<T>& condition, T fact) {
  return !condition || *condition == fact;
}

template <class T>
bool includes(const std::optional<T>& condition, const std::optional<T>& other) {
  return !condition || condition == other;
}

bool holds_for_bytes(const Conditions& when, const Question& question) {
  const std::int64_t bytes = question.bytes.value();
  if (bytes < 0) return when.bytes.is_open() && when.bytes_per_rank.is_open() && when.bytes_per_node.is_open();
  return when.bytes.contains(bytes) &&
         (when.bytes_per_rank.is_open() || when.bytes_per_rank.contains_share(bytes, question.ranks)) &&
         (when.bytes_per_node.is_open() || when.bytes_per_node.contains_share(bytes, question.nodes));
}

}  // namespace

bool Conditions::hold_for(const Question& question) const {
  return holds_for_bytes(*this, question) && ranks.contains(question.ranks) && nodes.contains(question.nodes) &&
         ppn.contains(question.ranks_per_node()) && agrees(memory, question.memory) &&
         (!mode || mode == question.manner) && agrees(commutative, question.is_commutative) &&
         agrees(uneven, question.is_uneven) && agrees(shares_memory, question.shares_memory) &&
         agrees(shares_processors, question.shares_processors) && agrees(maps_devices, question.maps_devices) &&
         agrees(power_of_two, std::has_single_bit(static_cast<unsigned>(question.ranks))) &&
         (!consecutive || consecutive == follow_each_other(question.spread));
}

bool Conditions::include(const Conditions& others) const {
  return ranks.contains(others.ranks) && nodes.contains(others.nodes) && ppn.contains(others.ppn) &&
         bytes.contains(others.bytes) && bytes_per_rank.contains(others.bytes_per_rank) &&
         bytes_per_node.contains(others.bytes_per_node) && includes(memory, others.memory) &&
         includes(mode, others.mode) && includes(commutative, others.commutative) && includes(uneven, others.uneven) &&
         includes(shares_memory, others.shares_memory) && includes(shares_processors, others.shares_processors) &&
         includes(maps_devices, others.maps_devices) && includes(power_of_two, others.power_of_two) &&
         includes(consecutive, others.consecutive);
}

bool Rule::hides(const Rule& later) const {
  if (is_named_file(*choice.algorithm)) return false;  // which serves some calls
  const Algorithm &its = *choice.algorithm, &laters = *later.choice.algorithm;
  const bool serves_all =
      !reduces(collective) ||
      ((its.order == Order::of_ranks || later.when.commutative == true || laters.order == Order::any) &&
       (its.bits == Bits::fixed || laters.bits != Bits::fixed) && (its.gathers || !laters.gathers));
  return collective == later.collective && serves_all && when.include(later.when);
}

std::string why_unfit(const FiledAlgorithm& file, const Question& question) {
  return file.why_unfit({.ranks = question.ranks,
                         .root = question.root,
                         .bytes = question.bytes,
                         .count = question.count,
                         .is_uneven = question.is_uneven,
                         .is_commutative = question.is_commutative,
                         .nodes = question.spread});
}

bool keeps_order(const Algorithm& algorithm, const Question& question) {
  if (!reduces(question.collective)) return true;
  const bool keeps_sides = question.is_commutative || order_on(question.spread, algorithm) == Order::of_ranks;
  // Of two operands there is one sum, but random bits may depend on their sides.
  if (question.gathers) return keeps_sides && (algorithm.gathers || question.ranks <= 2);
  return keeps_sides && (question.bits != Bits::fixed || algorithm.bits == Bits::fixed);
}

std::optional<Choice> serving(const Choice& choice, const Question& question) {
  if (is_named_file(*choice.algorithm)) {
    if (question.files == nullptr) return std::nullopt;
    const auto read = question.files->find(choice.algorithm);
    if (read == question.files->end() || !why_unfit(*read->second, question).empty()) return std::nullopt;
    const Choice its{&read->second->algorithm()};
    return keeps_order(*its.algorithm, question) ? std::optional{its} : std::nullopt;
  }
  return keeps_order(*choice.algorithm, question) ? std::optional{choice} : std::nullopt;
}

RuleTable::RuleTable(std::vector<Rule> rules) {
  for (Rule& rule : rules)
    by_collective_[static_cast<std::size_t>(rule.collective)].push_back(std::move(rule));
}

const Rule* RuleTable::first_for(const Question& question) const {
  for (const Rule& rule : of(question.collective))
    if (rule.when.hold_for(question) && question.bytes.value() <= rule.most_bytes && serving(rule.choice, question))
      return &rule;
  return nullptr;
}

}  // namespace tutti
