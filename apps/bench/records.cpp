#include "apps/bench/records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tutti::bench {

namespace {

std::string_view asked(const Record& record) {
  if (record.is_auto) return "auto";
  return record.algorithm;
}

bool is_about(const Summary& summary, const Record& record) {
  return summary.collective == record.collective && summary.ranks == record.ranks && summary.algorithm == asked(record);
}

std::optional<double> mean_ratio(std::span<const Record> records, const Summary& summary, Placement placement) {
  std::vector<double> ratios;
  for (const Record& record : records) {
    if (record.peer && record.placement == placement && is_about(summary, record)) {
      ratios.push_back(record.peer->ratio.value);
    }
  }
  return geometric_mean(ratios);
}

}  // namespace

std::vector<Summary> summarised(std::span<const Record> records) {
  std::vector<Summary> summaries;
  for (const Record& record : records) {
    auto found =
        std::find_if(summaries.begin(), summaries.end(), [&](const Summary& s) { return is_about(s, record); });
    if (found == summaries.end()) {
      summaries.push_back(
          {.ranks = record.ranks, .collective = record.collective, .algorithm = std::string{asked(record)}});
      found = summaries.end() - 1;
    }
    if (record.peer) ++found->ratios;
    if (record.peer && !record.peer->ratio.is_resolved()) ++found->unresolved;
    if (record.wrong) found->wrong = found->wrong.value_or(0) + *record.wrong;
  }
  for (Summary& summary : summaries) {
    summary.out_of_place = mean_ratio(records, summary, Placement::out_of_place);
    summary.in_place = mean_ratio(records, summary, Placement::in_place);
  }
  return summaries;
}

// ---- As JSON and CSV

using apps::Json;

Json to_json(const Spread& spread) {
  return {
      {"min", spread.min}, {"p10", spread.p10}, {"median", spread.median}, {"p90", spread.p90}, {"max", spread.max}};
}

namespace {

Json to_json(const std::vector<Doubt>& doubts) {
  Json names = Json::array();
  for (const Doubt doubt : doubts) {
    names.push_back(to_string(doubt));
  }
  return names;
}

}  // namespace

Json to_json(const Ratio& ratio) {
  return {{"ratio", ratio.value},
          {"ratio_middle_half", std::vector{ratio.lower, ratio.upper}},
          {"resolved", ratio.is_resolved()},
          {"doubts", to_json(ratio.doubts)}};
}

Json to_json(const Machine& machine) {
  Json versions = Json::object();
  for (const auto& [name, description] : machine.versions) {
    versions.set(name, description);
  }
  return {{"versions", std::move(versions)},
          {"mpi", machine.mpi},
          {"mpi_version", machine.mpi_version},
          {"mpi_settings", machine.mpi_settings},
          {"host", machine.hosts.front()},
          {"hosts", machine.hosts},
          {"ranks", machine.ranks},
          {"nodes", machine.nodes},
          {"cores", machine.cores},
          {"binding", machine.binding},
          {"devices", machine.devices},
          {"clock_cost_ns", machine.clock_cost_ns},
          {"started", machine.started},
          {"command", machine.command}};
}

std::string to_text(const Json& json) {
  constexpr int indent = 2;
  return json.text(indent) + '\n';
}

namespace {

/// The fields that JSON and CSV have.
std::vector<std::pair<std::string_view, std::optional<double>>> fields(const DeviceWork& work) {
  const auto of_driver = [&](double DriverWork::*count) {
    return work.driver ? std::optional{(*work.driver).*count} : std::nullopt;
  };
  return {{"moved_bytes", work.fetched_bytes + work.stored_bytes},
          {"fetched_bytes", work.fetched_bytes},
          {"stored_bytes", work.stored_bytes},
          {"driver_calls", of_driver(&DriverWork::calls)},
          {"kernels", of_driver(&DriverWork::kernels)},
          {"copies", of_driver(&DriverWork::copies)},
          {"synchronisations", of_driver(&DriverWork::synchronisations)},
          {"traffic_share", work.traffic_share}};
}

template <class Parts>
Json object_of(const Parts& parts) {
  Json json = Json::object();
  for (const auto& [name, value] : fields(parts)) {
    json.set(name, value);
  }
  return json;
}

Json overlap_json(const std::optional<Overlap>& overlap) {
  if (!overlap) return nullptr;
  return {{"pure_us", to_json(overlap->pure_us)},
          {"compute_us", to_json(overlap->compute_us)},
          {"total_us", to_json(overlap->total_us)},
          {"percent", overlap->percent},
          {"percent_middle_half", std::vector{overlap->lower, overlap->upper}},
          {"resolved", overlap->is_resolved()},
          {"doubts", to_json(overlap->doubts)}};
}

}  // namespace

Json to_json(const Record& record) {
  Json json = {{"collective", record.collective},
               {"algorithm", record.algorithm},
               {"auto", record.is_auto},
               {"chosen", record.is_chosen},
               {"transport", record.transport},
               {"memory", record.memory},
               {"mode", record.mode},
               {"ranks", record.ranks},
               {"nodes", record.nodes},
               {"bytes", record.bytes},
               {"count", record.count},
               {"list", record.list == 0 ? Json(nullptr) : Json(record.list)},
               {"type", record.type},
               {"op", record.op},
               {"root", record.root},
               {"in_place", record.placement == Placement::in_place},
               {"iters", record.calls},
               {"rounds", record.rounds},
               {"time_us", to_json(record.time_us)},
               {"rounds_us", record.rounds_us},
               {"load", record.load},
               {"algbw_GBps", record.algbw},
               {"busbw_GBps", record.busbw},
               {"wrong", record.wrong},
               {"peer", nullptr},
               {"device", nullptr}};
  if (const auto& peer = record.peer) {
    Json its{{"name", peer->name},
             {"mode", peer->mode},
             {"algorithm", peer->algorithm.empty() ? Json(nullptr) : Json(peer->algorithm)},
             {"time_us", to_json(peer->time_us)},
             {"rounds_us", peer->rounds_us}};
    its.update(to_json(peer->ratio));
    its.set("overlap", overlap_json(peer->overlap));
    json.set("peer", std::move(its));
  }
  json.set("overlap", overlap_json(record.overlap));
  if (record.device) json.set("device", object_of(*record.device));
  return json;
}

Json to_json(const Summary& summary) {
  return {{"collective", summary.collective},
          {"ranks", summary.ranks},
          {"algorithm", summary.algorithm},
          {"geometric_mean_ratio", {{"out_of_place", summary.out_of_place}, {"in_place", summary.in_place}}},
          {"ratios", summary.ratios},
          {"unresolved", summary.unresolved},
          {"wrong", summary.wrong}};
}

namespace {

std::string csv_of(const Spread& spread) {
  return fmt::format("{},{},{},{},{}", spread.min, spread.p10, spread.median, spread.p90, spread.max);
}

}  // namespace

std::string to_csv(std::span<const Record> records) {
  std::string text =
      "collective,algorithm,auto,transport,memory,mode,ranks,nodes,bytes,count,list,type,op,root,in_place,iters,rounds,"
      "min_us,p10_us,median_us,p90_us,max_us,algbw_GBps,busbw_GBps,wrong,peer,peer_mode,peer_min_us,peer_p10_us,"
      "peer_median_us,peer_p90_us,peer_max_us,ratio,resolved";
  for (const auto& [name, value] : fields(DeviceWork{})) {
    text += fmt::format(",device_{}", name);
  }
  text += '\n';
  for (const Record& r : records) {
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},", r.collective, r.algorithm,
                        r.is_auto, r.transport, r.memory, r.mode, r.ranks, r.nodes, r.bytes, r.count,
                        r.list == 0 ? "" : fmt::to_string(r.list), r.type, r.op, r.root ? fmt::to_string(*r.root) : "",
                        r.placement == Placement::in_place, r.calls, r.rounds, csv_of(r.time_us), r.algbw, r.busbw,
                        r.wrong ? fmt::to_string(*r.wrong) : "");
    const auto& peer = r.peer;
    text += peer ? fmt::format("{},{},{},{},{}", peer->name, peer->mode, csv_of(peer->time_us), peer->ratio.value,
                               peer->ratio.is_resolved())
                 : ",,,,,,,,";
    for (const auto& [name, value] : fields(r.device.value_or(DeviceWork{}))) {
      text += r.device && value ? fmt::format(",{}", *value) : ",";
    }
    text += '\n';
  }
  return text;
}

}  // namespace tutti::bench
