// One page of HTML with all plots.
#include <fmt/format.h>

#include "apps/json.hpp"
#include "apps/tutti/plot_chart.hpp"
#include "apps/tutti/plot_views.hpp"

namespace tutti::tool {
namespace {

constexpr std::string_view style =
    ":root{color-scheme:light dark}body{font-family:sans-serif;max-width:1560px;margin:24px auto;padding:0 16px}"
    "svg{max-width:100%;height:auto;margin:0 12px 12px 0}table{border-collapse:collapse}"
    "td,th{border:1px solid #80889266;padding:3px 9px;text-align:left}code{font-size:12px}";

std::string element(std::string_view name, std::string_view content) {
  return fmt::format("<{0}>{1}</{0}>\n", name, content);
}

std::string list_of(const std::vector<std::string>& items, std::string_view inner) {
  std::string text;
  for (const std::string& item : items)
    text += element(
        "li", inner.empty() ? apps::xml_escaped(item) : fmt::format("<{0}>{1}</{0}>", inner, apps::xml_escaped(item)));
  return element("ul", text);
}

/// The Markdown of ratio_table() as HTML.
std::string table_of(const std::string& markdown) {
  std::string text;
  std::size_t row = 0;
  for (std::size_t begin = 0, end = 0; begin < markdown.size(); begin = end + 1, ++row) {
    end = markdown.find('\n', begin);
    if (row == 1) continue;  // |---|
    const std::string_view line = std::string_view{markdown}.substr(begin, end - begin);
    std::string cells;
    for (std::size_t from = 2; from < line.size();) {
      const std::size_t to = line.find(" |", from);
      cells += fmt::format("<{0}>{1}</{0}>", row == 0 ? "th" : "td", apps::xml_escaped(line.substr(from, to - from)));
      from = to + 3;
    }
    text += element("tr", cells);
  }
  return element("table", text);
}

std::string section(std::string_view title, const std::vector<NamedPlot>& plots) {
  if (plots.empty()) return {};
  std::string text = element("h2", apps::xml_escaped(title));
  for (const NamedPlot& plot : plots)
    text += plot.svg;
  return text;
}

}  // namespace

std::string page_of(const Plotted& plotted, const PlotSettings& settings) {
  const PlottedMachine& machine = plotted.machine;
  std::string text = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>tutti-bench</title>\n<style>{}</style>\n"
      "</head>\n<body>\n<h1>What tutti-bench measured</h1>\n",
      style);
  text +=
      element("p", apps::xml_escaped(fmt::format("Tutti {}, {}; {} hardware threads; from {} on. {}", machine.tutti,
                                                 machine.mpi_version, machine.cores, machine.started, settings.note)));
  if (!plotted.left_out.empty()) text += element("h2", "Left out, and doubtful") + list_of(plotted.left_out, "");
  const std::string table = ratio_table(plotted, settings);
  if (!plotted.calls.empty() || !plotted.means.empty()) {
    text += element("h2", "The MPI's time over Tutti's: geometric mean / least (size)") + table_of(table);
    text += element("p", "Above 1 Tutti is faster.");
  }
  for (const std::string& collective : plotted.collectives())
    text += section(collective, plots_of(collective, plotted, settings));
  text += section("Pairs of ranks", pair_plots(plotted));
  text += element("h2", "Commands") + list_of(machine.commands, "code");
  return text + "</body>\n</html>\n";
}

}  // namespace tutti::tool
