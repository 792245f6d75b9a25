#pragma once
// Rules by which algorithms are chosen: the question, the answer, and tables of rules.

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lib/core/schedule/choice.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/op.hpp"
#include "tutti/types.hpp"

namespace tutti {

/// The facts that a choice depends on: only those that all ranks know alike, so that all choose the same.
struct Question {
  Collective collective = Collective::barrier;
  int ranks = 1, nodes = 1;
  Bytes bytes{};  ///< Size of the larger buffer; meaningless if `is_uneven` and ranks know only their own counts.
  bool is_uneven = false, is_commutative = true;
  bool shares_memory = false;  ///< All messages go through shared memory.
  bool on_devices = false;  ///< So they do, to peers that map the memory of devices in which buffers are taken to be.
  bool shares_processors = false;  ///< So they do, and the node runs two ranks or more for each processor.
  std::span<const int> spread{};   ///< The node of each rank, as in Problem; empty: there is one.
};

struct Selection {
  Choice choice;
  std::string_view why;   ///< "as few bytes want few rounds"
  bool is_users = false;  ///< The user chose it.
};

/// Whether the operation may be combined in the order that the algorithm keeps there.
[[nodiscard]] inline bool serves(const Choice& choice, const Question& question) {
  return !reduces(question.collective) || question.is_commutative ||
         order_on(question.spread, *choice.algorithm) == Order::of_ranks;
}

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

/// For devices whose memory the ranks of a node map: the first rule in selection_devices.cpp that fits; none where the
/// usual rules hold. A pure function.
[[nodiscard]] std::optional<Selection> select_for_devices(const Question& question);

/// For several nodes: the first rule in selection_nodes.cpp that fits; none where ranks are best taken as alike, as
/// where each has a node of its own. A pure function.
[[nodiscard]] std::optional<Selection> select_on_nodes(const Question& question);

}  // namespace tutti
