// tutti show --format dot: for Graphviz, `dot -Tsvg`.
#include <fmt/format.h>

#include "apps/tutti/scene.hpp"
#include "lib/checker/graph.hpp"
#include "lib/schedule/text.hpp"

namespace tutti::tool {
namespace {

std::string_view color_of(const Action& action) {
  constexpr std::string_view colors[] = {"#dbeafe", "#dcfce7", "#fee2e2", "#f3f4f6"};  // send, recv, reduce, copy
  return colors[action.index()];
}

std::string steps_of(int rank, const Schedule& schedule) {
  std::string text = fmt::format("  subgraph cluster_{0} {{\n    label=\"rank {0}\"; color=\"#9ca3af\";\n", rank);
  for (std::size_t step = 0; step < schedule.steps.size(); ++step) {
    const auto& [action, after] = schedule.steps[step];
    text +=
        fmt::format("    s{}_{} [label=\"{}\", fillcolor=\"{}\"];\n", rank, step, to_text(action), color_of(action));
    for (const int before : after)
      text += fmt::format("    s{}_{} -> s{}_{};\n", rank, before, rank, step);
  }
  return text + "  }\n";
}

}  // namespace

std::string to_dot(const Scene& scene) {
  std::string text = fmt::format(
      "digraph collective {{\n  label=\"{}\"; labelloc=t; fontname=\"sans-serif\";\n"
      "  node [shape=box, style=filled, fontname=\"sans-serif\", fontsize=10];\n",
      scene.title());
  for (int rank = 0; rank < scene.what.size; ++rank)
    text += steps_of(rank, scene.part(rank).schedule);
  const checker::Graph graph{scene.parts};
  for (int step = 0; step < graph.steps(); ++step) {
    if (!std::holds_alternative<Send>(graph.step(step).action)) continue;
    const int recv = graph.partner(step);
    text += fmt::format("  s{}_{} -> s{}_{} [color=\"#2563eb\", style=dashed, penwidth=1.5, constraint=false];\n",
                        graph.rank(step).value(), graph.local(step), graph.rank(recv).value(), graph.local(recv));
  }
  return text + "}\n";
}

}  // namespace tutti::tool
