// tutti show: the steps of the ranks.
#include <fmt/format.h>

#include "apps/standard_output.hpp"
#include "apps/tutti/commands.hpp"
#include "apps/tutti/scene_request.hpp"

namespace tutti::tool {
namespace {

constexpr int most_rank = 4095, most_ranks_drawn = 64;

struct Settings {
  SceneRequest request{};
  std::string format = "text";
  int rank = -1;
  bool unproved = false;
};

apps::Options options_for(Settings& settings) {
  apps::Options options{
      "tutti show",
      "Shows what each rank does. ALGORITHM is a name, with a parameter behind a colon and the size of segments\n"
      "(elements) behind a slash if wanted, as in chain:8 or binomial/1024.\n\n"
      "Example: tutti show allreduce ring -p 8 --format svg > ring.svg"};
  settings.request.add_to(options);
  options.choice("format", settings.format, {"text", "dot", "svg", "json"}, "what is written")
      .custom(
          "rank", "N", "all", "only this rank (text and json)",
          [&](std::string_view given) { settings.rank = static_cast<int>(apps::parse_integer(given, 0, most_rank)); })
      .flag("unproved", settings.unproved,
            "show the schedule also if it is not proved, with what the fault names marked; exit code 1 then");
  return options;
}

void require_consistent(const Settings& settings, int ranks) {
  if (settings.rank >= ranks)
    throw apps::InputError(fmt::format("--rank {} is no rank: allowed: 0 to {}", settings.rank, ranks - 1));
  const bool is_drawn = settings.format == "svg" || settings.format == "dot";
  if (is_drawn && ranks > most_ranks_drawn)
    throw apps::InputError(fmt::format("--format {} draws at most {} ranks", settings.format, most_ranks_drawn));
  if (is_drawn && settings.rank >= 0)
    throw apps::InputError(fmt::format("--format {} draws all ranks, not --rank", settings.format));
}

/// Prints the scene as it is wanted. Returns the exit code.
int print(const Scene& scene, const Settings& settings) {
  if (settings.format == "text") {
    apps::print("{}", to_text(scene, settings.rank));
  } else if (settings.format == "json") {
    apps::print("{}\n", to_json(scene, settings.rank));
  } else {
    require_drawable(scene);
    apps::print("{}", settings.format == "dot" ? to_dot(scene) : to_svg(scene));
  }
  if (scene.verdict.proved()) return apps::exit_success;
  apps::print_error("tutti show: {}: {}\n", scene.title(), scene.cost_text());
  return apps::exit_failure;
}

}  // namespace

int show(const Arguments& arguments) {
  Settings settings;
  apps::Options options = options_for(settings);
  if (is_told(options, arguments)) return apps::exit_success;
  const AskedScene asked{settings.request, settings.unproved ? Unproved::shown : Unproved::refused};
  require_consistent(settings, asked.scene().what.size);
  return print(asked.scene(), settings);
}

}  // namespace tutti::tool
