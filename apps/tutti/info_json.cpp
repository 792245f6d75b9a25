#include "apps/tutti/info_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

#include "apps/json.hpp"
#include "tutti/version.hpp"

// In the namespace of the types, where they are looked for. The members of each type are listed once, for both
// directions.
namespace tutti::topology {

using apps::Json;

constexpr auto members_of(const Nic* /*type*/) {
  return std::tuple{std::pair{"name", &Nic::name},   std::pair{"kind", &Nic::kind},
                    std::pair{"is_up", &Nic::is_up}, std::pair{"gbit_per_s", &Nic::gbit_per_s},
                    std::pair{"numa", &Nic::numa},   std::pair{"pci", &Nic::path}};
}
constexpr auto members_of(const Gpu* /*type*/) {
  return std::tuple{std::pair{"name", &Gpu::name},     std::pair{"uuid", &Gpu::uuid},
                    std::pair{"bus_id", &Gpu::bus_id}, std::pair{"gibibytes", &Gpu::gibibytes},
                    std::pair{"numa", &Gpu::numa},     std::pair{"pci", &Gpu::path}};
}
template <class T>
constexpr auto members_of(const Parts<T>* /*type*/) {
  return std::tuple{std::pair{"sockets", &Parts<T>::sockets}, std::pair{"numas", &Parts<T>::numas},
                    std::pair{"l3s", &Parts<T>::l3s}, std::pair{"cores", &Parts<T>::cores}};
}
constexpr auto members_of(const Machine* /*type*/) {
  return std::tuple{
      std::pair{"host", &Machine::host},   std::pair{"processors", &Machine::processors},
      std::pair{"parts", &Machine::parts}, std::pair{"nics", &Machine::nics},
      std::pair{"gpus", &Machine::gpus},   std::pair{"gpu_driver", &Machine::gpu_driver},
      std::pair{"links", &Machine::links}, std::pair{"missing", &Machine::missing},
  };
}
constexpr auto members_of(const Binding* /*type*/) {
  return std::tuple{std::pair{"processors", &Binding::processors}, std::pair{"parts", &Binding::parts},
                    std::pair{"gpus", &Binding::gpus}, std::pair{"nics", &Binding::nics}};
}
constexpr auto members_of(const Survey* /*type*/) {
  return std::tuple{std::pair{"machine", &Survey::machine}, std::pair{"place", &Survey::binding}};
}
constexpr auto members_of(const Report* /*type*/) {
  return std::tuple{std::pair{"node", &Report::node}, std::pair{"why_not", &Report::why_not},
                    std::pair{"survey", &Report::survey}};
}

template <class T>
concept Described = requires(const T* type) {
  members_of(type);
};

template <class T>
Json json_of(const T& value) {
  return value;
}
Json json_of(const Link& link) { return to_string(link); }
template <Described T>
Json json_of(const T& object);
template <class T>
Json json_of(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values)
    list.push_back(json_of(value));
  return list;
}
template <Described T>
Json json_of(const T& object) {
  Json json = Json::object();
  std::apply([&](const auto&... member) { (json.set(member.first, json_of(object.*member.second)), ...); },
             members_of(&object));
  return json;
}

void read(const Json& json, std::string& value) { value = json.as_text(); }
void read(const Json& json, double& value) { value = json.as_number(); }
void read(const Json& json, bool& value) { value = json.as_bool(); }
void read(const Json& json, int& value) { value = json.as_int(); }
void read(const Json& json, Link& link) { link = link_of(json.as_text()); }
void read(const Json& json, Numbers& numbers) {
  for (const Json& each : json.items())
    read(each, numbers.emplace_back());
  if (!std::is_sorted(numbers.begin(), numbers.end()) || (!numbers.empty() && numbers.front() < 0))
    throw apps::JsonError(fmt::format("{} is not ascending numbers of parts of a machine", json.text(-1)));
}
template <Described T>
void read(const Json& json, T& object);
template <class T>
void read(const Json& json, std::vector<T>& values) {
  for (const Json& each : json.items())
    read(each, values.emplace_back());
}
template <Described T>
void read(const Json& json, T& object) {
  std::apply([&](const auto&... member) { (read(json.at(member.first), object.*member.second), ...); },
             members_of(&object));
}

}  // namespace tutti::topology

namespace tutti::tool {
namespace {

using apps::Json;

/// Between the ranks of a node, each with each, in their order.
Json distances_in(const topology::Job& job, const topology::Node& node) {
  Json rows = Json::array();
  for (const int a : node.ranks) {
    Json row = Json::array();
    for (const int b : node.ranks)
      row.push_back(to_string(topology::distance(job, a, b)));
    rows.push_back(std::move(row));
  }
  return rows;
}

Json json_of(const Taking& taking) {
  return {{"takes_device_memory", taking.answer}, {"why_not_known", taking.why_not_known}, {"means", taking.means}};
}

Json json_of(const DeviceReport& report) {
  const cuda::DeviceSurvey& survey = report.survey;
  Json devices = Json::array(), reaches = Json::array();
  for (const cuda::DeviceFacts& facts : survey.devices)
    devices.push_back(
        {{"name", facts.name}, {"capability", facts.capability}, {"bytes", facts.bytes}, {"bus_id", facts.bus_id}});
  for (const auto& row : survey.reaches) {
    Json cells = Json::array();
    for (const cuda::Reach& reach : row)
      cells.push_back({{"direct", reach.direct}, {"atomics", reach.atomics}, {"rank", reach.rank}});
    reaches.push_back(std::move(cells));
  }
  const BufferWay way = way_of(report);
  return {{"is_built", survey.is_built},
          {"has_kernels", survey.has_kernels},
          {"driver", survey.driver},
          {"why_not", survey.why_not},
          {"devices", std::move(devices)},
          {"reaches", std::move(reaches)},
          {"ucx", json_of(report.ucx)},
          {"mpi", json_of(report.mpi)},
          {"buffers",
           {{"way", way.is_there() ? way.name : "none"},
            {"why", way.why},
            {"worker", way.worker},
            {"faster", way.faster}}}};
}

}  // namespace

std::string to_json(const topology::Report& report) { return topology::json_of(report).text(-1); }

topology::Report report_from_json(const std::string& text) {
  topology::Report report;
  try {
    read(Json::parse(text), report);
  } catch (const apps::JsonError& error) {
    throw std::runtime_error(fmt::format("the report of a rank is damaged: {}", error.what()));
  }
  const topology::Machine& machine = report.survey.machine;
  const std::size_t devices = machine.gpus.size() + machine.nics.size();
  const auto has_all = [devices](const auto& links) { return links.size() == devices; };
  if (!machine.links.empty() &&
      (!has_all(machine.links) || !std::all_of(machine.links.begin(), machine.links.end(), has_all)))
    throw std::runtime_error(
        fmt::format("the report of a rank is damaged: it has no links between all of {} devices", devices));
  return report;
}

std::string to_json(const topology::Job& job, const DeviceReport& devices) {
  constexpr int indent = 1;
  Json components = Json::object(), nodes = Json::array(), ranks = Json::array();
  for (const auto& [name, description] : job.components)
    components.set(name, description);
  for (const topology::Node& node : job.nodes) {
    Json entry = topology::json_of(node.machine);
    entry.set("ranks", node.ranks);
    entry.set("shares_memory", node.why_not.empty());
    entry.set("why_not", node.why_not);
    entry.set("distances", distances_in(job, node));
    nodes.push_back(std::move(entry));
  }
  for (std::size_t rank = 0; rank < job.bindings.size(); ++rank) {
    Json entry{{"rank", rank}, {"node", job.node_of[rank]}};
    entry.update(topology::json_of(job.bindings[rank]));
    ranks.push_back(std::move(entry));
  }
  return Json{{"tutti", TUTTI_VERSION},   {"components", std::move(components)}, {"notes", job.notes},
              {"cuda", json_of(devices)}, {"nodes", std::move(nodes)},           {"ranks", std::move(ranks)}}
      .text(indent);
}

}  // namespace tutti::tool
