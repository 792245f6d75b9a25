// The text of TUTTI_FAULTS.
#include "lib/watch/faults.hpp"
#include "tests/fuzz/target.hpp"
#include "tutti/error.hpp"

namespace tutti::fuzz {
namespace {

bool are_same(const tutti::Fault& a, const tutti::Fault& b) {
  return a.kind == b.kind && a.rank == b.rank && a.number == b.number && a.peer == b.peer &&
         a.milliseconds == b.milliseconds;
}

void run(Input input) {
  Source source{input};
  const std::string text{source.text()};
  is_taken<ArgumentError>([&] {
    const std::vector<tutti::Fault> faults = read_faults(text), again = read_faults(text);
    require(faults.size() == again.size(), "the second reading has other faults");
    for (std::size_t i = 0; i < faults.size(); ++i) {
      require(are_same(faults[i], again[i]), "a fault of the second reading is another one");
      require(faults[i].kind <= tutti::Fault::Kind::allocation && faults[i].rank >= 0 && faults[i].number >= 1,
              "a fault cannot be made");
      require(faults[i].peer >= -1 && faults[i].milliseconds >= 0, "a number is out of its range");
    }
  });
}

const Registration registration{{"faults", run}};

}  // namespace
}  // namespace tutti::fuzz
