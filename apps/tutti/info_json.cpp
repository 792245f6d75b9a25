#include "apps/tutti/info_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <utility>

#include "tutti/version.hpp"

// Functions that the JSON library looks for have to be in the types' namespace. The members of each type are listed
// once, for both directions.
namespace tutti::topology {

using Json = nlohmann::ordered_json;
constexpr auto replaces = Json::error_handler_t::replace;

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
constexpr auto members_of(const Place* /*type*/) {
  return std::tuple{std::pair{"processors", &Place::processors}, std::pair{"parts", &Place::parts},
                    std::pair{"gpus", &Place::gpus}, std::pair{"nics", &Place::nics}};
}
constexpr auto members_of(const Survey* /*type*/) {
  return std::tuple{std::pair{"machine", &Survey::machine}, std::pair{"place", &Survey::place}};
}
constexpr auto members_of(const Report* /*type*/) {
  return std::tuple{std::pair{"node", &Report::node}, std::pair{"why_not", &Report::why_not},
                    std::pair{"why_no_single_copy", &Report::why_no_single_copy}, std::pair{"survey", &Report::survey}};
}

template <class T>
concept Described = requires(const T* type) {
  members_of(type);
};

template <Described T>
void to_json(Json& json, const T& object) {
  std::apply([&](const auto&... member) { ((json[member.first] = object.*member.second), ...); }, members_of(&object));
}
[[noreturn]] void refuse(const Json& json, std::string_view wanted) {
  throw std::runtime_error(
      fmt::format("the report of a rank is damaged: {} is not {}", json.dump(-1, ' ', false, replaces), wanted));
}

template <class T>
void read(const Json& json, T& value) {
  json.get_to(value);
}
/// The library casts other numbers.
void read(const Json& json, int& value) {
  using Limits = std::numeric_limits<int>;
  const bool fits = json.is_number_unsigned() ? json.get<std::uint64_t>() <= static_cast<std::uint64_t>(Limits::max())
                                              : json.is_number_integer() && json.get<std::int64_t>() >= Limits::min();
  if (!fits) refuse(json, "a whole number of 32 bits");
  json.get_to(value);
}
void read(const Json& json, Numbers& numbers) {
  for (const Json& each : json.get_ref<const Json::array_t&>())
    read(each, numbers.emplace_back());
  if (!std::is_sorted(numbers.begin(), numbers.end()) || (!numbers.empty() && numbers.front() < 0))
    refuse(json, "ascending numbers of parts of a machine");
}

template <Described T>
void from_json(const Json& json, T& object) {
  std::apply([&](const auto&... member) { (read(json.at(member.first), object.*member.second), ...); },
             members_of(&object));
}

void to_json(Json& json, const Link& link) { json = to_string(link); }
void from_json(const Json& json, Link& link) { link = link_of(json.get<std::string>()); }

}  // namespace tutti::topology

namespace tutti::tool {
namespace {

using topology::Json;
using topology::replaces;

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

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json json_of(const Taking& taking) {
  return {{"takes_device_memory", or_null(taking.answer)},
          {"why_not_known", taking.why_not_known},
          {"means", taking.means}};
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
      cells.push_back(
          {{"direct", or_null(reach.direct)}, {"atomics", or_null(reach.atomics)}, {"rank", or_null(reach.rank)}});
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

// Names of hosts are bytes: any that are no UTF-8 are replaced, as the library throws on them.
std::string to_json(const topology::Report& report) { return Json(report).dump(-1, ' ', false, replaces); }

topology::Report report_from_json(const std::string& text) {
  auto report = Json::parse(text).get<topology::Report>();
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
  Json json{{"tutti", TUTTI_VERSION}, {"components", Json::object()}, {"notes", job.notes}};
  for (const auto& [name, description] : job.components)
    json["components"][name] = description;
  json["cuda"] = json_of(devices);
  json["nodes"] = Json::array();
  for (const topology::Node& node : job.nodes) {
    Json entry(node.machine);
    entry["ranks"] = node.ranks;
    entry["shares_memory"] = node.why_not.empty();
    entry["why_not"] = node.why_not;
    entry["single_copy"] = node.why_no_single_copy.empty();
    entry["why_no_single_copy"] = node.why_no_single_copy;
    entry["distances"] = distances_in(job, node);
    json["nodes"].push_back(std::move(entry));
  }
  json["ranks"] = Json::array();
  for (std::size_t rank = 0; rank < job.places.size(); ++rank) {
    Json entry{{"rank", rank}, {"node", job.node_of[rank]}};
    entry.update(Json(job.places[rank]));
    json["ranks"].push_back(std::move(entry));
  }
  return json.dump(indent, ' ', false, replaces);
}

}  // namespace tutti::tool
