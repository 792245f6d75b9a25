// TUTTI_ALGORITHM, and the names of algorithms in calls and options.
#include "lib/core/selection/choices.hpp"
#include "lib/core/schedule/choice.hpp"
#include "tests/fuzz/target.hpp"
#include "tutti/error.hpp"

namespace tutti::fuzz {
namespace {

void require_sound(Collective collective, const Choice& choice) {
  const Parameter& parameter = choice.algorithm->parameter;
  require(choice.algorithm->collective == collective, "an algorithm serves another collective");
  require(parameter.name.empty() ? choice.parameter == parameter.fallback
                                 : choice.parameter >= parameter.least && choice.parameter <= parameter.most,
          "a parameter is out of its range");
  require(choice.segment >= 0, "a segment is negative");
  require(read_choice(collective, to_text(choice)) == choice, "a choice is read as another one");
}

void run(Input input) {
  Source source{input};
  const auto collective = static_cast<Collective>(source.below(collective_count));
  const std::string_view text = source.text();
  is_taken<std::invalid_argument>([&] { require_sound(collective, read_choice(collective, text)); });
  is_taken<ArgumentError>([&] {
    const Choices choices = read_choices(text, "environment variable TUTTI_ALGORITHM");
    for (std::size_t i = 0; i < choices.size(); ++i)
      if (choices[i].algorithm != nullptr) require_sound(static_cast<Collective>(i), choices[i]);
  });
}

const Registration registration{{"choices", run}};

}  // namespace
}  // namespace tutti::fuzz
