// Files of the simulator's rates.
#include "tests/fuzz/simulated_calls.hpp"
#include "tests/fuzz/target.hpp"
#include "tutti/error.hpp"

namespace tutti::fuzz {
namespace {

void run(Input input) {
  const Source source{input};
  is_taken<ArgumentError>([&] {
    const simulator::Rates rates = simulator::read_rates(source.text(), "FILE");
    require_no_faster_than_the_bound(*simulator::topology_of("torus:2,2", 4, rates.link), rates, 2);
  });
}

const Registration registration{{"rates", run}};

}  // namespace
}  // namespace tutti::fuzz
