// Command lines of the apps, and the values of their options: an input is a command line, an argument in each line.
#include "apps/options.hpp"

#include "tests/fuzz/target.hpp"

namespace tutti::fuzz {
namespace {

using apps::Options;

constexpr std::int64_t least = -5, most = 1'000'000;

struct Values {
  bool flag = false;
  std::string text = "some", choice = "float";
  std::int64_t integer = 1;
  double number = 0.5;
  std::vector<int> integers{64};
  std::vector<std::string> sizes{"8"};
};

Options options_for(Values& values) {
  Options options{"program", "Does something."};
  const auto ignored = [](std::string_view) {};
  options.argument("ONE", Options::Takes::one, ignored)
      .argument("MAYBE", Options::Takes::one_or_none, ignored)
      .argument("MORE", Options::Takes::any_number, ignored)
      .flag("flag", values.flag, "a flag")
      .text("text", values.text, "TEXT", "a text")
      .choice("choice", values.choice, {"float", "double"}, "a name")
      .integer("ranks,p", values.integer, least, most, "a number")
      .number("number", values.number, 0.001, 0.9, "a number")
      .integers("integers", values.integers, 1, 65536, "numbers")
      .names("sizes,s", values.sizes, {"8", "1K", "64K"}, "names");
  return options;
}

void require_sound(const Values& values) {
  require(values.choice == "float" || values.choice == "double", "a name is none of the choices");
  require(values.integer >= least && values.integer <= most, "an integer is out of its range");
  require(values.number >= 0.001 && values.number <= 0.9, "a number is out of its range");
  require(!values.integers.empty() && !values.sizes.empty(), "a list is empty");
  for (const int each : values.integers)
    require(each >= 1 && each <= 65536, "an integer of a list is out of its range");
  for (const std::string& each : values.sizes)
    require(each == "8" || each == "1K" || each == "64K", "a name of a list is none of the choices");
}

void run(Input input) {
  Source source{input};
  std::vector<std::string> arguments;
  while (!source.is_over())
    arguments.emplace_back(source.text_to('\n'));
  Values values;
  is_taken<apps::InputError>([&] {
    Options options = options_for(values);
    const std::optional<std::string> told = options.parse(arguments);
    require(!told || !told->empty(), "the help is empty");
  });
  require_sound(values);
}

const Registration registration{{"options", run}};

}  // namespace
}  // namespace tutti::fuzz
