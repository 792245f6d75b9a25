// Networks: files of topologies, and the texts of those that are generated.
#include "lib/proof/simulator/bound.hpp"
#include "tests/fuzz/simulated_calls.hpp"
#include "tests/fuzz/target.hpp"
#include "tutti/error.hpp"

namespace tutti::fuzz {
namespace {

using namespace simulator;

/// Links from one host to another, one behind the other.
void require_route(const Topology& topology, int from, int to) {
  std::vector<int> links;
  topology.route(from, to, links);
  int at = from;
  for (const int link : links) {
    const Link& its = topology.links()[static_cast<std::size_t>(link)];
    require(its.from == at, "a route has a gap");
    at = its.to;
  }
  require(at == to, "a route ends elsewhere");
}

void run(Input input) {
  constexpr int most_hosts = 40;
  Source source{input};
  const int ranks_a_host = 1 + static_cast<int>(source.below(3));
  const std::string_view text = source.text();
  is_taken<ArgumentError>([&] {
    const auto topology = is_generated(text) ? topology_of(text, 4, {}) : topology_of_file(text, "FILE");
    if (topology->hosts() > most_hosts) return;
    for (int from = 0; from < topology->hosts(); ++from)
      for (int to = 0; to < topology->hosts(); ++to)
        if (from != to) require_route(*topology, from, to);
    require_no_faster_than_the_bound(*topology, {}, ranks_a_host);
  });
}

const Registration registration{{"networks", run}};

}  // namespace
}  // namespace tutti::fuzz
