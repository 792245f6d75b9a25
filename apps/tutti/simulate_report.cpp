#include "apps/tutti/simulate_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "apps/json.hpp"
#include "apps/tutti/table.hpp"
#include "tutti/version.hpp"

namespace tutti::tool {
namespace {

constexpr std::size_t most_path_steps = 24;

bool was_simulated(const SimulatedRow& row) { return row.why_not.empty(); }

double ratio(const SimulatedRow& row) { return row.bound > 0 ? row.time / row.bound : 1; }

/// The kind of link that is the busiest.
const LinkUse* busiest_of(const SimulatedRow& row) {
  const auto found = std::ranges::max_element(row.links, {}, &LinkUse::share);
  return found == row.links.end() ? nullptr : &*found;
}

/// "latency 12 %, transfer 80 %": the parts that are a hundredth of the time or more.
std::string parts_text(const SimulatedRow& row) {
  std::vector<std::string> texts;
  for (std::size_t part = 0; part < row.parts.size(); ++part)
    if (const double share = row.time > 0 ? row.parts[part] / row.time : 0; share >= 0.01)
      texts.push_back(fmt::format("{} {:.0f} %", simulator::part_names[part], share * 100));
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string rates_text(const SimulatedMachine& machine) {
  const simulator::Rates& rates = machine.rates;
  std::string text = fmt::format(
      "rates of {}: overhead {} us, gap {} us, eager to {} bytes, then handshake {} us; a reduction {} us/byte, a copy "
      "{}\n",
      rates.source, rates.overhead, rates.gap, rates.eager, rates.handshake, rates.reduced, rates.copied);
  const auto level = [](const char* name, const simulator::LinkRates& its) {
    return fmt::format("{} {} us{}", name, its.latency,
                       its.bandwidth > 0 ? fmt::format(" and {} GB/s", its.bandwidth) : "");
  };
  return text +
         fmt::format("{}, {}, {}, {}\n", level("socket", rates.socket), level("node", rates.node),
                     level("network", rates.network),
                     level(machine.has_topology_file ? "each link without rates of its own" : "each link", rates.link));
}

std::string table_of(std::span<const SimulatedRow> rows) {
  double best = 0;
  for (const SimulatedRow& row : rows)
    if (was_simulated(row) && (best == 0 || row.time < best)) best = row.time;
  std::vector<Cells> cells{{"algorithm", "time (us)", "to bound", "contention", "busiest links", "critical path"}};
  for (const SimulatedRow& row : rows) {
    if (!was_simulated(row)) {
      cells.push_back({row.name, "-", "-", "-", "-", "not simulated: " + row.why_not});
      continue;
    }
    const LinkUse* busiest = busiest_of(row);
    cells.push_back({row.name, fmt::format("{:.3f}{}", row.time, row.time == best ? " *" : ""),
                     fmt::format("{:.2f}", ratio(row)), fmt::format("{:.2f}", row.contention),
                     busiest == nullptr ? "" : fmt::format("{} {:.0f} %", busiest->kind, busiest->share * 100),
                     parts_text(row)});
  }
  return aligned(cells, "  ");
}

std::string links_text(const SimulatedRow& row) {
  std::vector<Cells> cells{{"links", "the busiest", "bytes", "busy", "all, mean"}};
  for (const LinkUse& use : row.links)
    cells.push_back({use.kind, use.busiest, fmt::format("{:.0f}", use.bytes), fmt::format("{:.1f} %", use.share * 100),
                     fmt::format("{:.1f} %", use.mean * 100)});
  return aligned(cells, "    ");
}

Cells path_cells(const ShownStep& step) {
  std::vector<std::string> parts;
  for (std::size_t part = 0; part < step.parts.size(); ++part)
    if (step.parts[part] > 0) parts.push_back(fmt::format("{} {:.3f}", simulator::part_names[part], step.parts[part]));
  const std::string who = step.peer < 0         ? fmt::format("rank {}", step.rank)
                          : step.what == "send" ? fmt::format("{} > {}", step.rank, step.peer)
                                                : fmt::format("{} > {}", step.peer, step.rank);
  if (step.what == "start")
    return {
        fmt::format("{:.3f}", step.begin), fmt::format("{:.3f}", step.end), "start", who, "", "waiting for its start"};
  return {fmt::format("{:.3f}", step.begin),     fmt::format("{:.3f}", step.end),
          step.peer < 0 ? step.what : "message", who,
          fmt::format("{}", step.bytes),         fmt::format("{}", fmt::join(parts, ", "))};
}

std::string path_text(const SimulatedRow& row) {
  std::vector<Cells> cells{{"from", "to", "step", "ranks", "bytes", "parts (us)"}};
  const std::size_t shown = std::min(row.path.size(), most_path_steps);
  for (std::size_t step = 0; step < shown; ++step)
    cells.push_back(path_cells(row.path[row.path.size() - shown + step]));
  std::string text = aligned(cells, "    ");
  if (shown < row.path.size()) text = fmt::format("    the last {} of {} steps\n", shown, row.path.size()) + text;
  return text;
}

apps::Json json_of(const ShownStep& step) {
  apps::Json parts = apps::Json::object();
  for (std::size_t part = 0; part < step.parts.size(); ++part)
    if (step.parts[part] > 0) parts.set(simulator::part_names[part], step.parts[part]);
  return {{"rank", step.rank},   {"peer", step.peer < 0 ? apps::Json{} : apps::Json{step.peer}},
          {"step", step.what},   {"bytes", step.bytes},
          {"begin", step.begin}, {"end", step.end},
          {"parts", parts}};
}

apps::Json json_of(const SimulatedRow& row) {
  apps::Json json{{"bytes", row.bytes},
                  {"algorithm", row.name},
                  {"bound", apps::Json{{"us", row.bound}, {"reason", row.bound_reason}}}};
  if (!was_simulated(row)) {
    json.set("not_simulated", row.why_not);
    return json;
  }
  apps::Json links = apps::Json::array(), path = apps::Json::array(), parts = apps::Json::object();
  for (const LinkUse& use : row.links)
    links.push_back({{"kind", use.kind},
                     {"busiest", use.busiest},
                     {"bytes", use.bytes},
                     {"busy", use.share},
                     {"mean_busy", use.mean}});
  for (const ShownStep& step : row.path)
    path.push_back(json_of(step));
  for (std::size_t part = 0; part < row.parts.size(); ++part)
    parts.set(simulator::part_names[part], row.parts[part]);
  json.update({{"us", row.time},
               {"to_bound", ratio(row)},
               {"contention", row.contention},
               {"messages", row.messages},
               {"links", links},
               {"critical_path", apps::Json{{"parts", parts}, {"steps", path}}}});
  return json;
}

}  // namespace

std::string simulation_title(const SimulationSettings& settings, const SimulatedMachine& machine) {
  std::string text = settings.collective;
  for (const SimulatedCall& call : settings.then)
    text += fmt::format(", then {} {}", call.collective, call.algorithm);
  if (settings.calls > 1) text += fmt::format(", {} times", settings.calls);
  const std::string on_host = machine.least_on_host == machine.most_on_host
                                  ? fmt::format("{}", machine.most_on_host)
                                  : fmt::format("{} to {}", machine.least_on_host, machine.most_on_host);
  text += fmt::format(", {} ranks, {} a host, {}, placement {}", settings.ranks, on_host, settings.topology,
                      settings.placement);
  if (!settings.late.empty()) text += fmt::format(", late {}", settings.late);
  if (settings.noise > 0) text += fmt::format(", noise {} with seed {}", settings.noise, settings.seed);
  return text;
}

std::string bound_text(const SimulatedRow& row, const SimulationSettings& settings) {
  return fmt::format("lower bound{} {:.3f} us, of {}", settings.is_sequence() ? " of the longest call" : "", row.bound,
                     row.bound_reason);
}

std::string simulation_head(const SimulationSettings& settings, const SimulatedMachine& machine) {
  return simulation_title(settings, machine) + '\n' + rates_text(machine);
}

std::string simulation_text(std::span<const SimulatedRow> rows, const SimulationSettings& settings, bool is_single) {
  std::string text =
      fmt::format("\n{} bytes; {}\n", rows.front().bytes, bound_text(rows.front(), settings)) + table_of(rows);
  for (const SimulatedRow& row : rows) {
    if (!was_simulated(row) || !(settings.shows_details || is_single)) continue;
    text +=
        fmt::format("\n  {}: {} message{}\n", row.name, row.messages, row.messages == 1 ? "" : "s") + links_text(row);
    text += "  critical path\n" + path_text(row);
  }
  return text;
}

std::string simulation_json(const std::vector<SimulatedRow>& rows, const SimulationSettings& settings,
                            const SimulatedMachine& machine) {
  apps::Json results = apps::Json::array(), rates = apps::Json::object();
  for (const SimulatedRow& row : rows)
    results.push_back(json_of(row));
  simulator::Rates copy = machine.rates;
  for (const auto& [name, value] : simulator::named_rates(copy))
    rates.set(name, *value);
  rates.set("eager", copy.eager);
  apps::Json then = apps::Json::array();
  for (const SimulatedCall& call : settings.then)
    then.push_back({{"collective", call.collective},
                    {"algorithm", call.algorithm},
                    {"bytes", call.bytes > 0 ? apps::Json{call.bytes} : apps::Json{}}});
  const apps::Json json{
      {"tutti", TUTTI_VERSION},
      {"collective", settings.collective},
      {"ranks", settings.ranks},
      {"root", settings.root},
      {"element", settings.element},
      {"ppn", settings.ppn},
      {"ranks_on_hosts", apps::Json{{"least", machine.least_on_host}, {"most", machine.most_on_host}}},
      {"sockets", settings.sockets},
      {"topology", settings.topology},
      {"placement", settings.placement},
      {"calls", settings.calls},
      {"then", then},
      {"sharing", settings.sharing},
      {"noise", settings.noise},
      {"seed", settings.seed},
      {"late", settings.late},
      {"limit", settings.limit},
      {"rates_of", machine.rates.source},
      {"rates", rates},
      {"results", results}};
  return json.text(2) + '\n';
}

namespace {

std::string csv_quoted(std::string_view text) {
  std::string quoted{'"'};
  for (const char each : text)
    quoted += each == '"' ? std::string{"\"\""} : std::string{each};
  return quoted + '"';
}
/// Names of algorithms are plain; paths may hold anything.
std::string csv_field(std::string_view text) {
  return text.find_first_of("\",\r\n") == std::string_view::npos ? std::string{text} : csv_quoted(text);
}

}  // namespace

std::string simulation_csv(const std::vector<SimulatedRow>& rows) {
  std::string text =
      "bytes,algorithm,us,bound_us,to_bound,contention,messages,busiest_kind,busiest_link,busiest_bytes,busy";
  for (const std::string_view part : simulator::part_names)
    text += fmt::format(",{}_us", part);
  text += ",not_simulated\n";
  for (const SimulatedRow& row : rows) {
    if (!was_simulated(row)) {
      text += fmt::format("{},{},,{:.6f},,,,,,,{},{}\n", row.bytes, csv_field(row.name), row.bound,
                          std::string(simulator::part_names.size(), ','), csv_quoted(row.why_not));
      continue;
    }
    const LinkUse* busiest = busiest_of(row);
    text += fmt::format("{},{},{:.6f},{:.6f},{:.4f},{:.4f},{},", row.bytes, csv_field(row.name), row.time, row.bound,
                        ratio(row), row.contention, row.messages);
    text += busiest == nullptr ? ",,,"
                               : fmt::format("{},{},{:.0f},{:.4f}", csv_field(busiest->kind),
                                             csv_quoted(busiest->busiest), busiest->bytes, busiest->share);
    for (const double part : row.parts)
      text += fmt::format(",{:.6f}", part);
    text += ",\n";
  }
  return text;
}

}  // namespace tutti::tool
