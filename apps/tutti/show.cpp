// tutti show: the steps of the ranks.
#include <fmt/format.h>

#include <cstdio>

#include "apps/standard_output.hpp"
#include "apps/tutti/commands.hpp"
#include "apps/tutti/input.hpp"
#include "apps/tutti/scene.hpp"

namespace tutti::tool {
namespace {

constexpr int most_ranks = 256, most_ranks_drawn = 64;
constexpr Count most_elements{1 << 24};  // of all ranks

struct Settings {
  std::string collective, algorithm, file, format = "text";
  int ranks = 6, rank = -1, root = 0;
  Count count{24};
  bool in_place = false, fused = false, unproved = false;
  Spread spread;
};

apps::Options options_for(Settings& settings) {
  using Takes = apps::Options::Takes;
  apps::Options options{
      "tutti show",
      "Shows what each rank does. ALGORITHM is a name, with a parameter behind a colon and the size of segments\n"
      "(elements) behind a slash if wanted, as in chain:8 or binomial/1024.\n\n"
      "Example: tutti show allreduce ring -p 8 --format svg > ring.svg"};
  options.argument("COLLECTIVE", Takes::one_or_none, [&](std::string_view given) { settings.collective = given; })
      .argument("ALGORITHM", Takes::one_or_none, [&](std::string_view given) { settings.algorithm = given; })
      .text("file", settings.file, "FILE",
            "the schedules of this file, which --format json has written; -: standard input")
      .integer("ranks,p", settings.ranks, 1, most_ranks, "ranks");
  add_count(options, settings.count);
  add_levels(options, settings.spread);
  options.choice("format", settings.format, {"text", "dot", "svg", "json"}, "what is written")
      .custom(
          "rank", "N", "all", "only this rank (text and json)",
          [&](std::string_view given) { settings.rank = static_cast<int>(apps::parse_integer(given, 0, most_ranks)); })
      .integer("root", settings.root, 0, most_ranks, "of broadcast, reduce, gather, scatter")
      .flag("in-place", settings.in_place, "the output shares memory with the input, as in the MPI calls")
      .flag("fused", settings.fused, "join receives with the reductions that use them")
      .flag("unproved", settings.unproved,
            "show the schedule also if it is not proved, with what the fault names marked; exit code 1 then");
  return options;
}

void require_consistent(const Settings& settings, Collective collective) {
  for (const auto& [name, rank] : {std::pair{"rank", settings.rank}, std::pair{"root", settings.root}})
    if (rank >= settings.ranks)
      throw apps::InputError(fmt::format("--{} {} is no rank: allowed: 0 to {}", name, rank, settings.ranks - 1));
  require_levels_of(settings.ranks, settings.spread);
  if (settings.root != 0 && !has_root(collective))
    throw apps::InputError(fmt::format("--root: {} has no root", to_string(collective)));
  if (settings.count > most_elements / (std::int64_t{settings.ranks} * settings.ranks))
    throw apps::InputError(fmt::format("--count: allowed for {} ranks: up to {}", settings.ranks,
                                       (most_elements / (std::int64_t{settings.ranks} * settings.ranks)).value()));
  const bool is_drawn = settings.format == "svg" || settings.format == "dot";
  if (is_drawn && settings.ranks > most_ranks_drawn)
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

int show_file(Settings settings) {
  const Settings plain;
  for (const auto& [is_plain, name] :
       {std::pair{settings.collective.empty(), "COLLECTIVE"}, std::pair{settings.ranks == plain.ranks, "--ranks"},
        std::pair{settings.root == plain.root, "--root"}, std::pair{settings.spread.nodes.empty(), "--nodes"},
        std::pair{!settings.in_place, "--in-place"}})
    if (!is_plain) throw apps::InputError(fmt::format("--file says what is shown: not with {}", name));
  const ScheduleFile file = read_schedules(settings.file);
  settings.ranks = file.ranks;
  if (settings.count == plain.count) settings.count = Count{file.chunks};
  require_consistent(settings, file.collective);
  const FiledScene filed{file, settings.count, settings.fused, settings.unproved ? Unproved::shown : Unproved::refused};
  return print(filed.scene(), settings);
}

}  // namespace

int show(const Arguments& arguments) {
  Settings settings;
  apps::Options options = options_for(settings);
  if (is_told(options, arguments)) return apps::exit_success;
  if (!settings.file.empty()) return show_file(settings);
  for (const auto& [given, name] :
       {std::pair{settings.collective, "COLLECTIVE"}, std::pair{settings.algorithm, "ALGORITHM"}})
    if (given.empty()) throw apps::InputError(fmt::format("{} is missing; or --file FILE", name));
  const Collective collective = read_collective(settings.collective);
  const Choice choice = read_algorithm(collective, settings.algorithm);
  require_consistent(settings, collective);
  checker::Case what{.size = settings.ranks, .count = settings.count};
  if (collective == Collective::barrier) what.count = Count{0};
  what.placement = settings.in_place ? checker::Placement::in_place : checker::Placement::separate;
  what.root = Rank{settings.root};
  what.parameter = choice.parameter;
  what.segment = Count{choice.segment};
  what.is_fused = settings.fused;
  what.nodes = settings.spread.nodes;
  what.sockets = settings.spread.sockets;
  return print(Scene{choice, what, settings.unproved ? Unproved::shown : Unproved::refused}, settings);
}

}  // namespace tutti::tool
