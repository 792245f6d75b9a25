#pragma once
// Symbolic values: the value of an element is the expression that computed it.

#include <cstdint>
#include <string>
#include <vector>

#include "rank_schedules.hpp"

namespace tutti::checker {

/// An expression, by number. Equal expressions, as trees, have equal numbers.
enum class Value : std::int32_t { garbage = 0 };

/// One element of the input of a rank.
struct Leaf {
  Rank rank;
  Count element;
  auto operator<=>(const Leaf&) const = default;
};

/// All expressions of a run: leaves, and reductions of two expressions.
class Values {
 public:
  /// Makes a leaf for each input element of each rank.
  explicit Values(const RankSchedules& schedules);

  [[nodiscard]] Value leaf(const Leaf& leaf) const;
  [[nodiscard]] bool is_leaf(Value value) const { return static_cast<std::int32_t>(value) <= leaves_.back(); }
  [[nodiscard]] Value reduced(Value lhs, Value rhs);
  /// The leaves from left to right; no more than `most` are listed, as an expression may be large.
  [[nodiscard]] std::vector<Leaf> leaves(Value value, std::size_t most) const;
  /// One expression that stands for all that differ only in the order of operands.
  [[nodiscard]] Value commuted(Value value);
  /// "((r0[7] (+) r1[7]) (+) r2[7])", cut off when long.
  [[nodiscard]] std::string text(Value value) const;

 private:
  struct Operands {
    Value lhs, rhs;
    bool operator==(const Operands&) const = default;
  };
  [[nodiscard]] Leaf leaf_of(Value value) const;
  [[nodiscard]] const Operands& operands(Value value) const;
  void append_text(Value value, std::string& text) const;
  void grow();

  std::vector<std::int32_t> leaves_;  ///< Leaves of ranks before each rank; last: of all.
  std::vector<Operands> reductions_;  ///< In the order of their numbers, which follow those of the leaves.
  std::vector<std::int32_t> table_;   ///< Open addressing: places in `reductions_`, or -1.
};

}  // namespace tutti::checker
