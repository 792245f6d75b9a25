// Rules of other libraries. The first byte says which library's.
#include "apps/tutti/import.hpp"
#include "apps/options.hpp"
#include "lib/core/selection/rule_writer.hpp"
#include "tests/fuzz/target.hpp"

namespace tutti::fuzz {
namespace {

tool::ForeignFile read(std::size_t form, std::string_view text) {
  switch (form) {
    case 0:
      return tool::read_openmpi_rules(text, "FILE");
    case 1:
      return tool::read_openmpi_json_rules(text, "FILE");
    case 2:
      return tool::read_mpich_rules(text, "FILE");
    case 3:
      return tool::read_ucc_rules(text, "FILE", "milan");
    case 4:
      return tool::read_nccl_rules(text, "FILE");
    default:
      return tool::read_ncclx_json_rules(text, "FILE");
  }
}

void run(Input input) {
  Source source{input};
  const std::size_t form = source.below(6);
  is_taken<apps::InputError>([&] {
    const tool::Translation translation = tool::translate(read(form, source.text()), "FILE");
    require(translation.translated <= translation.file.rules.size(), "a rule is lost");
    // Whatever is made of them is a file of rules.
    const RuleFile again = read_rule_file(write_rule_file(translation.file), "FILE");
    require(again.rules.size() == translation.file.rules.size(), "a rule is not written");
    for (std::size_t i = 0; i < again.rules.size(); ++i) {
      require(again.rules[i].when == translation.file.rules[i].when, "a rule is written with other conditions");
      require(again.rules[i].choice == translation.file.rules[i].choice, "a rule is written with another algorithm");
    }
  });
}

const Registration registration{{"import", run}};

}  // namespace
}  // namespace tutti::fuzz
