// tutti show --format text: the steps of each rank.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "apps/tutti/scene.hpp"
#include "lib/core/schedule/text.hpp"
#include "lib/proof/checker/rounds.hpp"

namespace tutti::tool {
namespace {

/// A scene's steps by number, as the fault names them: they need not have rounds.
std::string unproved_steps(const Scene& scene, int rank) {
  const auto mark = [&](int step) { return scene.is_faulty(rank, step) ? '!' : ' '; };
  std::string text =
      fmt::format("\nrank {}{}\n", rank, scene.is_faulty(rank, checker::Fault::Position::whole_rank) ? " !" : "");
  for (int step = 0; const auto& [action, after] : scene.schedule_of(rank).schedule.steps) {
    const std::string waits = after.empty() ? "" : fmt::format("  after {}", fmt::join(after, ", "));
    text += fmt::format("{} {:>4}  {}{}\n", mark(step), step, to_text(action), waits);
    ++step;
  }
  return text;
}

std::string unproved_text(const Scene& scene, int only) {
  std::string text = fmt::format("{}\n{}\n", scene.title(), scene.cost_text());
  for (int rank = 0; rank < scene.what.size; ++rank)
    if (only < 0 || only == rank) text += unproved_steps(scene, rank);
  return text;
}

}  // namespace

std::string to_text(const Scene& scene, int only) {
  if (!scene.verdict.proved()) return unproved_text(scene, only);
  std::string text = fmt::format("{}\n{}\n", scene.title(), scene.cost_text());
  const std::vector<std::vector<int>> rounds = checker::rounds_of(scene.schedules);
  for (int rank = 0; rank < scene.what.size; ++rank)
    if (only < 0 || only == rank)
      text += fmt::format("\nrank {}\n{}", rank,
                          to_text(scene.schedule_of(rank).schedule, rounds[static_cast<std::size_t>(rank)]));
  return text;
}

}  // namespace tutti::tool
