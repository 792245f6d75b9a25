// Files of tutti-bench whose content needs no comparison with that of others: ratios alone, and pairs of ranks.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "apps/files.hpp"
#include "apps/options.hpp"
#include "apps/tutti/plot_results.hpp"

namespace tutti::tool {

using apps::Json;

std::vector<PlottedMean> means_in(const BenchFile& file) {
  std::vector<PlottedMean> means;
  for (const Json& each : file.content.at("ratios").items()) {
    const auto bytes = each.find("least_bytes");
    means.push_back(
        {.collective = each.at("collective").as_text(),
         .peer = each.at("peer").as_text(),
         .ranks = each.at("ranks").as_int(),
         .mean = each.at("geometric_mean").as_number(),
         .least = each.at("least").as_number(),
         .least_bytes = bytes ? std::optional{static_cast<std::int64_t>(bytes->as_number())} : std::nullopt});
  }
  return means;
}

std::vector<PlottedLinks> links_in(const BenchFile& file) {
  std::vector<PlottedLinks> all;
  const Json pairs = file.content.at("pairs"), figures = pairs.at("figures");
  for (const std::string_view name : {"latency", "bandwidth", "rate"}) {
    const Json figure = figures.at(name);
    PlottedLinks links{.figure = std::string{name},
                       .unit = figure.at("unit").as_text(),
                       .source = std::filesystem::path{file.path}.filename().string(),
                       .nodes = {},
                       .rows = {}};
    for (const Json& node : pairs.at("nodes").items())
      links.nodes.push_back(node.as_int());
    const std::vector<Json> rows = figure.at("median").items();
    for (std::size_t from = 0; from < rows.size(); ++from) {
      const std::vector<Json> row = rows[from].items();
      std::vector<double>& values = links.rows.emplace_back();
      for (std::size_t to = 0; to < row.size(); ++to)
        values.push_back(from == to ? 0 : row[to].as_number());
      if (row.size() != links.nodes.size()) throw apps::JsonError("a row of 'median' has not a number for each rank");
    }
    if (rows.size() != links.nodes.size()) throw apps::JsonError("'median' has not a row for each rank");
    for (const Json& slow : pairs.at("slow").items())
      if (slow.at("figure").as_text() == name) links.slow.push_back({slow.at("from").as_int(), slow.at("to").as_int()});
    all.push_back(std::move(links));
  }
  return all;
}

BenchFile read_bench_file(const std::string& path) try {
  return {path, Json::parse(apps::read_file(path))};
} catch (const apps::JsonError& error) {
  throw apps::InputError(fmt::format("'{}' is no file of tutti-bench --json: {}", path, error.what()));
}

}  // namespace tutti::tool
