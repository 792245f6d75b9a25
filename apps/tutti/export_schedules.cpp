// tutti export: schedules in the formats of others.
#include <fmt/format.h>

#include <array>

#include "apps/files.hpp"
#include "apps/standard_output.hpp"
#include "apps/tutti/commands.hpp"
#include "apps/tutti/msccl.hpp"
#include "apps/tutti/scene_request.hpp"
#include "lib/proof/simulator/exports.hpp"

namespace tutti::tool {
namespace {

/// Bytes of an element, and nanoseconds a byte.
struct GoalRates {
  int element = 4;
  double reduced = 0, copied = 0;
};

struct Settings {
  std::string format{}, output{};
  SceneRequest request{};
  GoalRates rates{};
};

/// The options that only one of the formats has.
void require_fitting(const Settings& settings) {
  const GoalRates plain;
  const std::array given{std::pair{settings.rates.element != plain.element, "--element"},
                         std::pair{settings.rates.reduced != plain.reduced, "--reduced"},
                         std::pair{settings.rates.copied != plain.copied, "--copied"}};
  for (const auto& [is_given, name] : given)
    if (is_given && settings.format != "goal") throw apps::InputError(fmt::format("{}: only with goal", name));
}

std::string to_goal(const Scene& scene, const GoalRates& given) {
  JoinedSchedules joined;
  for (const checker::RankSchedule& own : scene.schedules)
    joined.add(own.schedule);
  simulator::Rates rates;
  constexpr double microsecond = 1e3;  // in nanoseconds
  rates.reduced = given.reduced / microsecond;
  rates.copied = given.copied / microsecond;
  std::string text = fmt::format("// {}, {} bytes an element\n", scene.title(), given.element);
  simulator::write_goal(joined, rates, given.element, [&](std::string_view piece) { text += piece; });
  return text;
}

std::string exported(const Scene& scene, const Settings& settings) {
  if (settings.format == "goal") return to_goal(scene, settings.rates);
  if (settings.format == "msccl") return to_xml(msccl_of(scene));
  require_drawable(scene);
  return to_svg(scene);
}

}  // namespace

int export_schedules(const Arguments& arguments) {
  Settings settings;
  apps::Options options{
      "tutti export",
      "Writes the schedules of all ranks in a format of others: goal for the simulator LogGOPSim, msccl for MSCCL's\n"
      "interpreter (XML), svg as a picture. They are those of an algorithm or of a file, as for tutti show.\n\n"
      "Example: tutti export msccl allreduce ring -p 8 -n 64 > ring.xml"};
  options.argument("FORMAT", apps::Options::Takes::one_or_none,
                   [&](std::string_view given) { settings.format = given; });
  settings.request.add_to(options);
  constexpr double most_rate = 1e6;
  options
      .text("write", settings.output, "FILE",
            "where the text goes, in place of the output; the file is replaced as a whole")
      .integer("element", settings.rates.element, 1, 1024, "bytes of an element (goal)")
      .number("reduced", settings.rates.reduced, 0, most_rate, "nanoseconds a byte that is reduced (goal)")
      .number("copied", settings.rates.copied, 0, most_rate, "nanoseconds a byte that is copied (goal)");
  if (is_told(options, arguments)) return apps::exit_success;
  const std::vector<std::string> formats{"goal", "msccl", "svg"};
  if (settings.format.empty()) throw apps::InputError("FORMAT is missing; allowed: goal, msccl, svg");
  if (std::ranges::count(formats, settings.format) == 0)
    throw apps::InputError(fmt::format("'{}' is no format; {}", settings.format, allowed(settings.format, formats)));
  require_fitting(settings);
  const AskedScene asked{settings.request, Unproved::refused};
  const std::string text = exported(asked.scene(), settings);
  if (settings.output.empty())
    apps::print("{}", text);
  else
    apps::replace_file(settings.output, text);
  return apps::exit_success;
}

}  // namespace tutti::tool
