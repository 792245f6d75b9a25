#include "apps/tutti/scene.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/options.hpp"
#include "lib/checker/prove.hpp"

namespace tutti::tool {
Scene::Scene(const Choice& choice, const checker::Case& what)
    : choice(choice),
      what(what),
      problems(*choice.algorithm, what),
      parts(checker::parts_of(*choice.algorithm, problems, what)) {
  const checker::Verdict verdict = checker::prove(parts, checker::expectation_of(*choice.algorithm, problems));
  if (!verdict.proved()) throw std::runtime_error(fmt::format("{}: not proved: {}", title(), verdict.fault));
  cost = checker::busiest(verdict.costs);
}

std::string Scene::title() const {
  checker::Case shown = what;  // the choice says the rest
  shown.parameter = 0;
  shown.segment = Count{0};
  std::string problem = to_text(shown);
  if (const auto separate = problem.find(", separate"); separate != std::string::npos)
    problem.erase(separate, std::string_view{", separate"}.size());
  const std::string_view parameter = choice.algorithm->parameter.name;
  if (!parameter.empty()) problem += fmt::format(", {} {}", parameter, choice.parameter);
  return fmt::format("{} {}, {}", to_string(choice.algorithm->collective), to_text(choice), problem);
}

std::string Scene::cost_text() const {
  return fmt::format("busiest rank: {} messages in {} rounds, {} elements sent, {} reduced, {} copied, {} of scratch",
                     cost.messages, cost.rounds, cost.sent.value(), cost.reduced.value(), cost.copied.value(),
                     cost.scratch.value());
}

}  // namespace tutti::tool
