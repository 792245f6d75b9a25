// Arguments of the tool tutti: collectives, algorithms, counts, and the ranks of nodes and sockets: an input is one in
// each line.
#include "apps/tutti/input.hpp"
#include "tests/fuzz/target.hpp"

namespace tutti::fuzz {
namespace {

void levels(int ranks, const std::vector<std::string>& arguments) {
  apps::Options options{"tutti", "Shows something."};
  std::vector<Count> counts{Count{1}};
  tool::Spread spread;
  tool::add_counts(options, counts);
  tool::add_levels(options, spread);
  static_cast<void>(options.parse(arguments));
  tool::require_levels_of(ranks, spread);
  const auto size = static_cast<std::size_t>(ranks);
  require(spread.nodes.empty() || spread.nodes.size() == size, "a rank has no node");
  require(spread.sockets.empty() || spread.sockets.size() == size, "a rank has no socket");
  for (const Count count : counts)
    require(count >= Count{0}, "a count is negative");
}

void run(Input input) {
  Source source{input};
  const int ranks = 1 + source.next<std::uint8_t>();
  const std::string_view collective = source.text_to('\n'), algorithm = source.text_to('\n');
  is_taken<apps::InputError>([&] {
    const Collective known = tool::read_collective(collective);
    require(to_string(known) == collective, "a collective is taken for another one");
    require(tool::read_algorithm(known, algorithm).algorithm->collective == known, "an algorithm serves another one");
  });
  std::vector<std::string> arguments;
  while (!source.is_over())
    arguments.emplace_back(source.text_to('\n'));
  is_taken<apps::InputError>([&] { levels(ranks, arguments); });
}

const Registration registration{{"tool", run}};

}  // namespace
}  // namespace tutti::fuzz
