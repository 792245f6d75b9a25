// The topology of a file: any hosts, switches and links.
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <queue>
#include <utility>

#include "lib/core/files/json_reader.hpp"
#include "topology.hpp"
#include "tutti/error.hpp"

namespace tutti::simulator {
namespace {

constexpr std::size_t longest_file = std::size_t{64} << 20;
constexpr int most_vertices = 1 << 14;
constexpr std::size_t most_links = 1 << 20;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

class Graph : public Topology {
 public:
  void name_vertices(std::vector<std::string> hosts, const std::vector<std::string>& switches) {
    hosts_ = static_cast<int>(hosts.size());
    names_ = std::move(hosts);
    names_.insert(names_.end(), switches.begin(), switches.end());
    vertices_ = static_cast<int>(names_.size());
    leaving_.resize(names_.size()), entering_.resize(names_.size());
  }
  void join(int from, int to, const std::string& kind, const LinkRates& rates) {
    const auto [found, is_new] = places_of_kinds_.try_emplace(kind, static_cast<int>(kinds_.size()));
    const int place = found->second;
    if (is_new) kinds_.push_back(kind);
    leaving_[index(from)].push_back(add_link(from, to, place, rates));
    entering_[index(to)].push_back(leaving_[index(from)].back());
  }
  void set_route(int from, int to, std::vector<int> links) { routes_[{from, to}] = std::move(links); }
  /// The link from one vertex to another; -1: there is none.
  [[nodiscard]] int link_between(int from, int to) const {
    for (const int link : leaving_[index(from)])
      if (links_[index(link)].to == to) return link;
    return -1;
  }

  void route(int from, int to, std::vector<int>& links) const override {
    if (const auto given = routes_.find({from, to}); given != routes_.end()) {
      links.insert(links.end(), given->second.begin(), given->second.end());
      return;
    }
    const std::vector<Distance>& distance = distances_from(from);
    if (distance[index(to)] == unreached)
      throw ArgumentError(fmt::format("topology: no links lead from {} to {}", names_[index(from)], names_[index(to)]));
    const std::size_t begin = links.size();
    for (int vertex = to; vertex != from; vertex = links_[index(links.back())].from)
      links.push_back(last_link(distance, vertex, to));
    std::reverse(links.begin() + static_cast<std::ptrdiff_t>(begin), links.end());
  }

  [[nodiscard]] std::string name_of_vertex(int vertex) const override { return names_[index(vertex)]; }

  /// Leaf switches, each with the hosts all of whose links lead to it; any other host is a group of its own.
  [[nodiscard]] std::vector<Partition> partitions() const override {
    Partition leaves{"leaf switches", std::vector<int>(index(vertices_), -1), 0};
    bool has_leaf = false;
    for (int host = 0; host < hosts_; ++host) {
      const int leaf = leaf_of(host);
      has_leaf = has_leaf || leaf != host;
      int& group = leaves.group_of[index(leaf)];
      if (group < 0) group = leaves.groups++;
      leaves.group_of[index(host)] = group;
    }
    return has_leaf ? std::vector{leaves} : std::vector<Partition>{};
  }

 private:
  /// The switch that all links of a host lead to; the host itself if there is none.
  [[nodiscard]] int leaf_of(int host) const {
    int leaf = host;
    for (const std::vector<int>* links : {&leaving_[index(host)], &entering_[index(host)]}) {
      for (const int link : *links) {
        const Link& its = links_[index(link)];
        const int other = its.from == host ? its.to : its.from;
        if (other < hosts_ || (leaf != host && other != leaf)) return host;
        leaf = other;
      }
    }
    return leaf;
  }

  /// Links, and the latency of all.
  using Distance = std::pair<int, Time>;
  static constexpr Distance unreached{std::numeric_limits<int>::max(), 0};
  [[nodiscard]] Distance behind(const Distance& distance, int link) const {
    return {distance.first + 1, distance.second + links_[index(link)].latency};
  }

  /// How far each vertex is from a host. Hosts pass nothing on.
  const std::vector<Distance>& distances_from(int host) const {
    std::vector<Distance>& distance = distances_[host];
    if (!distance.empty()) return distance;
    distance.assign(names_.size(), unreached);
    using Place = std::pair<Distance, int>;
    std::priority_queue<Place, std::vector<Place>, std::greater<>> next;
    distance[index(host)] = {0, 0};
    next.push({{0, 0}, host});
    while (!next.empty()) {
      const auto [at, vertex] = next.top();
      next.pop();
      if (at != distance[index(vertex)] || (vertex < hosts_ && vertex != host)) continue;
      for (const int link : leaving_[index(vertex)]) {
        const Distance there = behind(at, link);
        const int to = links_[index(link)].to;
        if (there >= distance[index(to)]) continue;
        distance[index(to)] = there;
        next.push({there, to});
      }
    }
    return distance;
  }

  /// The last link of a shortest way to a vertex. Of several, the number of the destination chooses, so that they share
  /// the load: D-mod-k.
  [[nodiscard]] int last_link(const std::vector<Distance>& distance, int vertex, int destination) const {
    std::vector<int> shortest;
    for (const int link : entering_[index(vertex)]) {
      const int before = links_[index(link)].from;
      const bool passes_on = before >= hosts_ || distance[index(before)].first == 0;
      if (passes_on && distance[index(before)] != unreached &&
          behind(distance[index(before)], link) == distance[index(vertex)])
        shortest.push_back(link);
    }
    return shortest[index(destination) % shortest.size()];
  }

  std::vector<std::string> names_;
  std::map<std::string, int> places_of_kinds_;
  std::vector<std::vector<int>> leaving_, entering_;  // links, by vertex
  std::map<std::pair<int, int>, std::vector<int>> routes_;
  mutable std::map<int, std::vector<Distance>> distances_;  // by host, made when asked for
};

class GraphReader : private JsonReader {
 public:
  GraphReader(std::string_view path, const LinkRates& link) : JsonReader(path), link_(link) {}

  std::unique_ptr<Topology> read(std::string_view text) && {
    const JsonValue root = parsed(text, longest_file);
    const JsonValue *hosts = nullptr, *switches = nullptr, *links = nullptr, *routes = nullptr;
    bool has_version = false;
    read_object(
        root, "a topology",
        {{"tutti_topology", [&](const JsonValue& value) { has_version = integer(value, "tutti_topology", 1, 1) == 1; }},
         {"made", [](const JsonValue&) {}},  // for people
         {"hosts", [&](const JsonValue& value) { hosts = &value; }},
         {"switches", [&](const JsonValue& value) { switches = &value; }},
         {"links", [&](const JsonValue& value) { links = &value; }},
         {"routes", [&](const JsonValue& value) { routes = &value; }}});
    if (!has_version)
      fail(root.place, "no key 'tutti_topology'; needed: \"tutti_topology\": 1, the version of the form");
    for (const auto& [value, name] : {std::pair{hosts, "hosts"}, std::pair{links, "links"}})
      if (value == nullptr) fail(root.place, fmt::format("no key '{}'", name));
    std::vector<std::string> host_names = names(*hosts, "hosts");
    if (host_names.empty()) fail(hosts->place, "'hosts' is empty; allowed: one host or more");
    graph_->name_vertices(std::move(host_names),
                          switches != nullptr ? names(*switches, "switches") : std::vector<std::string>{});
    for (const JsonValue& link : array(*links, "links", most_links))
      read_link(link);
    if (routes != nullptr)
      for (const JsonValue& route : array(*routes, "routes", most_links))
        read_route(route);
    return std::move(graph_);
  }

 private:
  /// A name that can be shown to people: control characters would reach their terminals.
  [[nodiscard]] const std::string& printable(const JsonValue& value, std::string_view key) const {
    const std::string& name = text(value, key);
    const auto is_control = [](char each) { return static_cast<unsigned char>(each) < ' ' || each == '\x7f'; };
    if (std::ranges::any_of(name, is_control)) refuse(value, key, "a text without control characters");
    return name;
  }
  /// Names in a list, or so many hosts "0", "1", ...
  std::vector<std::string> names(const JsonValue& value, std::string_view key) {
    std::vector<std::string> all;
    if (value.form == JsonValue::Form::integer) {
      const auto count = integer(value, key, 0, most_vertices);
      for (int number = 0; number < count; ++number)
        all.push_back(fmt::format("{} {}", key == "hosts" ? "host" : "switch", number));
    } else {
      for (const JsonValue& name : array(value, key, most_vertices))
        all.push_back(printable(name, key));
    }
    for (const std::string& name : all)
      if (!vertices_.try_emplace(name, static_cast<int>(vertices_.size())).second)
        fail(value.place, fmt::format("'{}' is there twice", name));
    return all;
  }
  [[nodiscard]] int vertex(const JsonValue& value, std::string_view key) const {
    const auto found = vertices_.find(text(value, key));
    if (found == vertices_.end()) refuse(value, key, "the name of a host or a switch");
    return found->second;
  }
  void read_link(const JsonValue& link) {
    int from = -1, to = -1;
    std::string kind{"link"};
    LinkRates rates = link_;
    bool is_one_way = false;
    read_object(
        link, "a link",
        {{"from", [&](const JsonValue& value) { from = vertex(value, "from"); }},
         {"to", [&](const JsonValue& value) { to = vertex(value, "to"); }},
         {"kind", [&](const JsonValue& value) { kind = printable(value, "kind"); }},
         {"latency", [&](const JsonValue& value) { rates.latency = positive(value, "latency", most_rate); }},
         {"bandwidth", [&](const JsonValue& value) { rates.bandwidth = positive(value, "bandwidth", most_rate); }},
         {"one_way", [&](const JsonValue& value) { is_one_way = boolean(value, "one_way"); }}});
    if (from < 0 || to < 0) fail(link.place, "a link needs 'from' and 'to'");
    if (from == to) fail(link.place, "a link leads from a vertex to itself");
    graph_->join(from, to, kind, rates);
    if (!is_one_way) graph_->join(to, from, kind, rates);
  }
  /// "routes": lists of the vertices that a message passes, from a host to a host.
  void read_route(const JsonValue& route) {
    std::vector<int> links, vertices;
    for (const JsonValue& each : array(route, "routes", most_vertices)) {
      vertices.push_back(vertex(each, "routes"));
      if (vertices.size() < 2) continue;
      links.push_back(graph_->link_between(vertices[vertices.size() - 2], vertices.back()));
      if (links.back() < 0) refuse(each, "routes", "a vertex to which a link leads from the one before");
    }
    if (vertices.size() < 2 || vertices.front() >= graph_->hosts() || vertices.back() >= graph_->hosts() ||
        vertices.front() == vertices.back())
      fail(route.place, "a route leads from a host to another host");
    graph_->set_route(vertices.front(), vertices.back(), std::move(links));
  }

  LinkRates link_;
  std::unique_ptr<Graph> graph_ = std::make_unique<Graph>();
  std::map<std::string, int, std::less<>> vertices_;
};

}  // namespace

std::unique_ptr<Topology> topology_of_file(std::string_view text, std::string_view path, const LinkRates& link) {
  return GraphReader{path, link}.read(text);
}

}  // namespace tutti::simulator
