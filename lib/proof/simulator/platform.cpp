#include <fmt/format.h>

#include <cmath>

#include "exports.hpp"

namespace tutti::simulator {
namespace {

constexpr double bytes_per_second = 1e12, seconds = 1e-12;  // of a byte per picosecond, of a picosecond

std::string route_text(const Topology& topology, int from, int to) {
  std::vector<int> links;
  topology.route(from, to, links);
  std::string text = fmt::format(R"(<route src="h{}" dst="h{}" symmetrical="NO">)", from, to);
  for (const int link : links)
    text += fmt::format(R"(<link_ctn id="l{}"/>)", link);
  return text + "</route>\n";
}

}  // namespace

void write_platform(const Topology& topology, const std::function<void(std::string_view piece)>& write) {
  constexpr double largest = 1e18;  // for links without a limit
  write(
      "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
      "<platform version=\"4.1\">\n<zone id=\"network\" routing=\"Full\">\n");
  for (int host = 0; host < topology.hosts(); ++host)
    write(fmt::format("<host id=\"h{}\" speed=\"1Gf\"/>\n", host));
  for (std::size_t link = 0; link < topology.links().size(); ++link) {
    const Link& its = topology.links()[link];
    write(fmt::format("<link id=\"l{}\" bandwidth=\"{}Bps\" latency=\"{}s\"/>\n", link,
                      std::isfinite(its.rate) ? its.rate * bytes_per_second : largest,
                      static_cast<double>(its.latency) * seconds));
  }
  for (int from = 0; from < topology.hosts(); ++from)
    for (int to = 0; to < topology.hosts(); ++to)
      if (from != to) write(route_text(topology, from, to));
  write("</zone>\n</platform>\n");
}

}  // namespace tutti::simulator
