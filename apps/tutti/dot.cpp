// tutti show --format dot: for Graphviz, `dot -Tsvg`.
#include <fmt/format.h>

#include <map>
#include <tuple>
#include <utility>

#include "apps/tutti/scene.hpp"
#include "lib/core/schedule/text.hpp"

namespace tutti::tool {
namespace {

std::string_view color_of(const Action& action) {
  constexpr std::string_view colors[] = {"#dbeafe", "#dcfce7", "#fee2e2", "#f3f4f6"};  // send, recv, reduce, copy
  return colors[action.index()];
}

constexpr std::string_view faulty = "#dc2626";

std::string steps_of(const Scene& scene, int rank) {
  const Schedule& schedule = scene.schedule_of(rank).schedule;
  const bool is_faulty = scene.is_faulty(rank, checker::Fault::Position::whole_rank);
  std::string text = fmt::format("  subgraph cluster_{0} {{\n    label=\"rank {0}\"; color=\"{1}\";\n", rank,
                                 is_faulty ? faulty : "#9ca3af");
  for (int step = 0; step < static_cast<int>(schedule.steps.size()); ++step) {
    const auto& [action, after] = schedule.steps[static_cast<std::size_t>(step)];
    const std::string mark = scene.is_faulty(rank, step) ? fmt::format(", color=\"{}\", penwidth=4", faulty) : "";
    text += fmt::format("    s{}_{} [label=\"{}\", fillcolor=\"{}\"{}];\n", rank, step, to_text(action),
                        color_of(action), mark);
    for (const int before : after)
      text += fmt::format("    s{}_{} -> s{}_{};\n", rank, before, rank, step);
  }
  return text + "  }\n";
}

/// Sends and receives that name each other: in schedules that are not proved, some may be without the other.
std::string messages_of(const checker::RankSchedules& schedules) {
  using Message = std::tuple<int, int, int>;  // from, to, number
  std::map<Message, std::pair<int, int>> sends;
  const auto for_each_step = [&](auto visit) {
    for (int rank = 0; rank < static_cast<int>(schedules.size()); ++rank)
      for (int step = 0; const Step& each : schedules[static_cast<std::size_t>(rank)].schedule.steps)
        visit(rank, step++, each.action);
  };
  for_each_step([&](int rank, int step, const Action& action) {
    if (const auto* send = std::get_if<Send>(&action)) sends[{rank, send->to.value(), send->message}] = {rank, step};
  });
  std::string text;
  for_each_step([&](int rank, int step, const Action& action) {
    const auto* recv = std::get_if<Recv>(&action);
    const auto send = recv == nullptr ? sends.end() : sends.find({recv->from.value(), rank, recv->message});
    if (send != sends.end())
      text += fmt::format("  s{}_{} -> s{}_{} [color=\"#2563eb\", style=dashed, penwidth=1.5, constraint=false];\n",
                          send->second.first, send->second.second, rank, step);
  });
  return text;
}

}  // namespace

std::string to_dot(const Scene& scene) {
  const std::string fault = scene.verdict.proved() ? "" : "\\n" + scene.cost_text();
  std::string text = fmt::format(
      "digraph collective {{\n  label=\"{}{}\"; labelloc=t; fontname=\"sans-serif\";\n"
      "  node [shape=box, style=filled, fontname=\"sans-serif\", fontsize=10];\n",
      scene.title(), fault);
  for (int rank = 0; rank < scene.what.size; ++rank)
    text += steps_of(scene, rank);
  return text + messages_of(scene.schedules) + "}\n";
}

}  // namespace tutti::tool
