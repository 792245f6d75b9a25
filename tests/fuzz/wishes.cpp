// TUTTI_INTERPOSE.
#include "bindings/preload/policy.hpp"
#include "tests/fuzz/target.hpp"
#include "tutti/error.hpp"

namespace tutti::fuzz {
namespace {

using namespace interpose;

void run(Input input) {
  Source source{input};
  const Placement placement{
      .question = {.ranks = 1 + static_cast<int>(source.below(128)), .nodes = 1 + static_cast<int>(source.below(4))}};
  is_taken<ArgumentError>([&] {
    const Wishes wishes = read_wishes(source.text());
    require((wishes.use == Wishes::Use::listed) == wishes.listed.any(), "a list names nothing");
    const Served served = served_at(wishes, placement);
    for (std::size_t i = 0; i < function_count; ++i)
      require(wishes.use == Wishes::Use::automatic ||
                  served[i].contain(8) == (wishes.use == Wishes::Use::all || wishes.listed[i]),
              "a function is served against the wishes");
  });
}

const Registration registration{{"wishes", run}};

}  // namespace
}  // namespace tutti::fuzz
