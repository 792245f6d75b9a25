#include "values.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace tutti::checker {
namespace {

constexpr std::size_t first_table = 256, long_text = 400;

std::size_t mixed(Value lhs, Value rhs) {
  const auto key = static_cast<std::uint64_t>(lhs) << 32 | static_cast<std::uint32_t>(rhs);
  return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15u) >> 32);
}

}  // namespace

Values::Values(const RankSchedules& schedules) : leaves_{0}, table_(first_table, -1) {
  for (const RankSchedule& own : schedules)
    leaves_.push_back(leaves_.back() + static_cast<std::int32_t>(own.input.value()));
}

Value Values::leaf(const Leaf& leaf) const {
  const std::int32_t before = leaves_[static_cast<std::size_t>(leaf.rank.value())];
  return Value{1 + before + static_cast<std::int32_t>(leaf.element.value())};
}

Leaf Values::leaf_of(Value value) const {
  const std::int32_t place = static_cast<std::int32_t>(value) - 1;
  const auto next = std::ranges::upper_bound(leaves_, place);
  return {Rank{static_cast<int>(next - leaves_.begin()) - 1}, Count{place - *std::prev(next)}};
}

const Values::Operands& Values::operands(Value value) const {
  return reductions_[static_cast<std::size_t>(static_cast<std::int32_t>(value) - leaves_.back() - 1)];
}

Value Values::reduced(Value lhs, Value rhs) {
  std::size_t slot = mixed(lhs, rhs) % table_.size();
  for (; table_[slot] >= 0; slot = (slot + 1) % table_.size())
    if (reductions_[static_cast<std::size_t>(table_[slot])] == Operands{lhs, rhs})
      return Value{leaves_.back() + 1 + table_[slot]};
  table_[slot] = static_cast<std::int32_t>(reductions_.size());
  reductions_.push_back({lhs, rhs});
  if (2 * reductions_.size() > table_.size()) grow();
  return Value{leaves_.back() + static_cast<std::int32_t>(reductions_.size())};
}

void Values::grow() {
  table_.assign(4 * table_.size(), -1);
  for (std::int32_t place = 0; const auto& [lhs, rhs] : reductions_) {
    std::size_t slot = mixed(lhs, rhs) % table_.size();
    while (table_[slot] >= 0)
      slot = (slot + 1) % table_.size();
    table_[slot] = place++;
  }
}

std::vector<Leaf> Values::leaves(Value value, std::size_t most) const {
  std::vector<Leaf> found;
  std::vector<Value> rest{value};
  while (!rest.empty() && found.size() < most) {
    const Value next = rest.back();
    rest.pop_back();
    if (next == Value::garbage) continue;
    if (is_leaf(next))
      found.push_back(leaf_of(next));
    else
      rest.insert(rest.end(), {operands(next).rhs, operands(next).lhs});
  }
  return found;
}

Value Values::commuted(Value value) {
  if (is_leaf(value)) return value;
  const auto [lhs, rhs] = operands(value);
  const auto [less, more] = std::minmax({commuted(lhs), commuted(rhs)});
  return reduced(less, more);
}

void Values::append_text(Value value, std::string& text) const {
  if (text.size() > long_text) return;
  if (value == Value::garbage) {
    text += "garbage";
  } else if (is_leaf(value)) {
    text += fmt::format("r{}[{}]", leaf_of(value).rank.value(), leaf_of(value).element.value());
  } else {
    text += "(";
    append_text(operands(value).lhs, text);
    text += " (+) ";
    append_text(operands(value).rhs, text);
    text += ")";
  }
}

std::string Values::text(Value value) const {
  std::string text;
  append_text(value, text);
  return text.size() > long_text ? text.substr(0, long_text) + "..." : text;
}

}  // namespace tutti::checker
