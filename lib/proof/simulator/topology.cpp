#include "topology.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "lib/core/schedule/near_names.hpp"
#include "tutti/error.hpp"

namespace tutti::simulator {
namespace {

constexpr int most_vertices = 1 << 22, most_levels = 8;
constexpr int most_links = 1 << 23;  // some 400 MB
constexpr std::array<std::string_view, 4> names{"crossbar", "fat-tree", "torus", "dragonfly"};

[[noreturn]] void refuse(std::string_view text, std::string_view why) {
  throw ArgumentError(fmt::format("topology '{}': {}", text, why));
}

/// The parts between separators, empty ones too.
std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0;;) {
    const std::size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

/// A text of numbers "8,8", and what it belongs to, for complaints.
class Numbers {
 public:
  Numbers(std::string_view whole, std::string_view form) : whole_(whole), form_(form) {}
  [[nodiscard]] int one(std::string_view part, int most) const {
    int value = 0;
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    if (error != std::errc{} || end != part.data() + part.size() || value < 1 || value > most)
      refuse(whole_, fmt::format("'{}' is no number from 1 to {}; the form is {}", part, most, form_));
    return value;
  }
  [[nodiscard]] std::vector<int> several(std::string_view part, std::size_t count) const {
    std::vector<int> values;
    for (const std::string_view each : parts_of(part, ','))
      values.push_back(one(each, most_vertices));
    if (count > 0 && values.size() != count)
      refuse(whole_, fmt::format("'{}' has {} numbers, not {}; the form is {}", part, values.size(), count, form_));
    return values;
  }
  [[nodiscard]] std::vector<std::string_view> fields(std::string_view text, std::size_t count) const {
    std::vector<std::string_view> fields = parts_of(text, ';');
    if (fields.size() != count)
      refuse(whole_, fmt::format("{} fields between semicolons, not {}; the form is {}", fields.size(), count, form_));
    return fields;
  }
  /// Refuses more vertices than can be simulated.
  void require_few(const std::vector<int>& factors) const {
    double product = 1;
    for (const int factor : factors)
      product *= factor;
    if (product > most_vertices) refuse(whole_, fmt::format("{:.0f} hosts; allowed: up to {}", product, most_vertices));
  }
  void require_few_links(double links) const {
    if (links > most_links) refuse(whole_, fmt::format("{:.3g} links; allowed: up to {}", links, most_links));
  }

 private:
  std::string_view whole_, form_;
};

std::unique_ptr<Topology> read_fat_tree(std::string_view text, std::string_view numbers, const LinkRates& link) {
  const Numbers read{text, "fat-tree:LEVELS;CHILDREN,..;PARENTS,..;CABLES,.., as in fat-tree:2;8,8;1,4;1,1"};
  const auto fields = read.fields(numbers, 4);
  const auto levels = static_cast<std::size_t>(read.one(fields[0], most_levels));
  const FatTreeForm form{read.several(fields[1], levels), read.several(fields[2], levels),
                         read.several(fields[3], levels)};
  read.require_few(form.children), read.require_few(form.parents);
  for (std::size_t level = 0; level < levels; ++level) {
    double cables = 2.0 * form.parents[level] * form.cables[level];
    for (std::size_t other = 0; other < levels; ++other)
      cables *= other < level ? form.parents[other] : form.children[other];
    read.require_few_links(cables);
  }
  return fat_tree(form, link);
}

std::unique_ptr<Topology> read_torus(std::string_view text, std::string_view numbers, const LinkRates& link) {
  const Numbers read{text, "torus:SIZE,.., as in torus:4,4,4"};
  const std::vector<int> dimensions = read.several(numbers, 0);
  if (dimensions.size() > most_levels) refuse(text, fmt::format("up to {} dimensions are allowed", most_levels));
  read.require_few(dimensions);
  return torus(dimensions, link);
}

std::unique_ptr<Topology> read_dragonfly(std::string_view text, std::string_view numbers, const LinkRates& link) {
  const Numbers read{text,
                     "dragonfly:GROUPS,CABLES;CHASSIS,CABLES;ROUTERS,CABLES;HOSTS, as in dragonfly:4,1;2,1;4,1;2"};
  const auto fields = read.fields(numbers, 4);
  const auto groups = read.several(fields[0], 2), chassis = read.several(fields[1], 2),
             routers = read.several(fields[2], 2);
  const int hosts = read.one(fields[3], most_vertices);
  read.require_few({groups[0], chassis[0], routers[0], hosts});
  const double g = groups[0], c = chassis[0], r = routers[0];
  read.require_few_links(g * c * r * ((r - 1) + (c - 1)) + g * (g - 1));
  return dragonfly({groups[0], groups[1], chassis[0], chassis[1], routers[0], routers[1], hosts}, link);
}

class Crossbar : public Topology {
 public:
  Crossbar(int hosts, const LinkRates& link) {
    hosts_ = hosts, vertices_ = hosts + 1;
    kinds_ = {"host up", "host down"};
    for (int host = 0; host < hosts; ++host) {
      add_link(host, hosts, 0, link);
      add_link(hosts, host, 1, link);
    }
  }
  void route(int from, int to, std::vector<int>& links) const override {
    links.push_back(2 * from);
    links.push_back(2 * to + 1);
  }
  [[nodiscard]] std::string name_of_vertex(int vertex) const override {
    return vertex < hosts_ ? fmt::format("host {}", vertex) : "switch";
  }
};

}  // namespace

double rate_of(const LinkRates& rates) {
  constexpr double bytes_per_picosecond = 1e-3;  // of a GB/s
  return rates.bandwidth > 0 ? rates.bandwidth * bytes_per_picosecond : std::numeric_limits<double>::infinity();
}

Time latency_of(const LinkRates& rates) {
  constexpr double picoseconds = 1e6;  // of a microsecond
  return static_cast<Time>(std::llround(rates.latency * picoseconds));
}

std::string Topology::name_of(const Link& link) const {
  return fmt::format("{} > {}", name_of_vertex(link.from), name_of_vertex(link.to));
}

int Topology::add_link(int from, int to, int kind, const LinkRates& rates, int cables) {
  links_.push_back({from, to, kind, cables * rate_of(rates), latency_of(rates)});
  return static_cast<int>(links_.size()) - 1;
}

std::unique_ptr<Topology> crossbar(int hosts, const LinkRates& link) { return std::make_unique<Crossbar>(hosts, link); }

bool is_generated(std::string_view text) {
  const std::string_view name = text.substr(0, text.find(':'));
  return std::find(names.begin(), names.end(), name) != names.end();
}

std::unique_ptr<Topology> topology_of(std::string_view text, int hosts, const LinkRates& link) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon),
                         numbers = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  if (name == "crossbar") {
    const Numbers read{text, "crossbar or crossbar:HOSTS"};
    return crossbar(colon == std::string_view::npos ? hosts : read.one(numbers, most_vertices), link);
  }
  if (name == "fat-tree") return read_fat_tree(text, numbers, link);
  if (name == "torus") return read_torus(text, numbers, link);
  if (name == "dragonfly") return read_dragonfly(text, numbers, link);
  std::vector<std::string> all{names.begin(), names.end()};
  refuse(text, fmt::format("allowed: {}, each with its numbers, or the path of a file{}", fmt::join(all, ", "),
                           suggestion(name, all)));
}

}  // namespace tutti::simulator
