// The values of environment variables, and the names of those that nobody knows.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "lib/core/communicator/bits_use.hpp"
#include "lib/core/communicator/setting_values.hpp"
#include "lib/core/communicator/variables.hpp"
#include "lib/watch/log.hpp"
#include "tests/fuzz/target.hpp"
#include "tutti/error.hpp"

namespace tutti::fuzz {
namespace {

constexpr const char* variable = "environment variable TUTTI_PLAN_CACHE";

void number(std::int64_t least, std::int64_t most, std::string_view text) {
  const std::int64_t value = read_number(variable, text, least, most);
  require(value >= least && value <= most, "a number is out of its range");
  require(read_number(variable, fmt::to_string(value), least, most) == value, "a number is read as another one");
}

void numbers(int count, std::string_view text) {
  const std::vector<int> values = read_numbers(variable, text, count);
  require(values.size() == static_cast<std::size_t>(count), "there are too many numbers, or too few");
  require(std::ranges::all_of(values, [](int value) { return value >= 0; }), "a number is negative");
}

void name(std::string_view text) {
  const std::vector<std::string> names{"auto", "ipc", "ucx", "mpi", "staging"};
  require(names.at(read_name(variable, text, names)) == text, "a name is taken for another one");
}

void transport(std::string_view text) {
  const TransportChoice choice = read_transport(variable, text, {"ucx"});
  require(choice.network.empty() || choice.network == "ucx", "a network is not linked in");
}

void bits(std::string_view text) {
  const BitsFiles files = read_bits(variable, text).files;
  const bool is_plain = (files.record + files.compare).find(',') == std::string::npos;
  require(!is_plain || read_bits(variable, to_text(files)).files == files, "folders are read as others");
}

void unknown_names(Source source) {
  std::vector<std::string> names;
  while (!source.is_over())
    names.emplace_back(source.text_to('\n'));
  for (const std::string& each : unknown_variables(names))
    require(each.starts_with("TUTTI_"), "a variable of others is unknown");
}

void run(Input input) {
  Source source{input};
  const std::size_t kind = source.below(7);
  is_taken<ArgumentError>([&] {
    if (kind == 0) return number(1, std::numeric_limits<int>::max(), source.text());
    if (kind == 1) return numbers(1 + static_cast<int>(source.below(64)), source.text());
    if (kind == 2) return name(source.text());
    if (kind == 3) return transport(source.text());
    if (kind == 4) return static_cast<void>(log::expand_file_name(source.text()));
    if (kind == 6) return bits(source.text());
    unknown_names(source);
  });
}

const Registration registration{{"settings", run}};

}  // namespace
}  // namespace tutti::fuzz
