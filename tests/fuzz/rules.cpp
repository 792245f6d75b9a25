// Files of rules.
#include "lib/core/selection/rule_file.hpp"
#include "lib/core/selection/selection.hpp"
#include "lib/core/selection/site_rules.hpp"
#include "tests/fuzz/target.hpp"
#include "tutti/error.hpp"

namespace tutti::fuzz {
namespace {

void require_sound(const SiteRules& site, Question question) {
  for (int i = 0; i < collective_count; ++i) {
    question.collective = static_cast<Collective>(i);
    const Selection selection = select(question, {}, &site.table);
    require(selection.choice.algorithm != nullptr, "nothing is chosen");
    require(selection.choice.algorithm->collective == question.collective, "an algorithm serves another collective");
    for (const SelectionFrom& row : select_by_size(question, {}, &site.table))
      require(row.bytes >= Bytes{0}, "a size is negative");
  }
}

void run(Input input) {
  Source source{input};
  Question question{.ranks = 1 + static_cast<int>(source.below(256)), .bytes = Bytes{source.next<std::uint32_t>()}};
  question.nodes = 1 + static_cast<int>(source.below(static_cast<std::size_t>(question.ranks)));
  is_taken<ArgumentError>([&] {
    const SiteRules site{read_rule_file(source.text(), "FILE")};
    require_sound(site, question);
  });
}

const Registration registration{{"rules", run}};

}  // namespace
}  // namespace tutti::fuzz
