#pragma once
// Tables of rules by which algorithms are chosen.

#include <optional>
#include <span>
#include <vector>

#include "lib/selection/selection.hpp"

namespace tutti {

struct Rule {
  Collective collective;
  std::string_view choice;
  bool (*fits)(const Question&);
  std::string_view why;
};

inline constexpr Bytes kibibyte{1024};
inline bool always(const Question& /*question*/) { return true; }

/// A table whose choices have been read.
class RuleTable {
 public:
  explicit RuleTable(std::span<const Rule> rules) : rules_(rules) {
    for (const Rule& rule : rules)
      choices_.push_back(read_choice(rule.collective, rule.choice));
  }
  /// The first that fits, and whose algorithm serves.
  [[nodiscard]] std::optional<Selection> first_for(const Question& question) const {
    for (std::size_t i = 0; i < rules_.size(); ++i)
      if (rules_[i].collective == question.collective && rules_[i].fits(question) && serves(choices_[i], question))
        return Selection{choices_[i], rules_[i].why};
    return std::nullopt;
  }

 private:
  std::span<const Rule> rules_;
  std::vector<Choice> choices_;
};

}  // namespace tutti
