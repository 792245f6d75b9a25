// The machine of tutti simulate: topology, rates, and the places of ranks.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <sstream>

#include "apps/files.hpp"
#include "apps/options.hpp"
#include "apps/tutti/input.hpp"
#include "apps/tutti/simulate_settings.hpp"
#include "lib/core/schedule/near_names.hpp"
#include "tutti/error.hpp"

namespace tutti::tool {
namespace {

using apps::InputError;

/// What the simulator complains of, as a complaint about the input.
template <class Make>
auto without_argument_errors(const Make& make) try {
  return make();
} catch (const ArgumentError& error) {
  throw InputError(error.what());
}

/// "overhead=0": changes one of the rates.
void change(simulator::Rates& rates, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos) throw InputError(fmt::format("--set: '{}' is not NAME=VALUE", text));
  const std::string name = text.substr(0, equals), value = text.substr(equals + 1);
  std::vector<std::string> names{"eager"};
  for (const auto& [known, place] : simulator::named_rates(rates)) {
    names.emplace_back(known);
    if (known != name) continue;
    *place = apps::parse_number(value, 0, simulator::most_rate);
    return;
  }
  if (name != "eager") throw InputError(fmt::format("--set: '{}' is no rate; {}", name, allowed(name, names)));
  rates.eager = apps::parse_bytes(value).value();
}

simulator::Rates rates_of(const SimulationSettings& settings) {
  simulator::Rates rates;
  if (!settings.rates_file.empty())
    rates = without_argument_errors(
        [&] { return simulator::read_rates(apps::read_file(settings.rates_file), settings.rates_file); });
  for (const std::string& text : settings.changed_rates)
    change(rates, text);
  return rates;
}

int hosts_needed(const SimulationSettings& settings) { return (settings.ranks + settings.ppn - 1) / settings.ppn; }

std::unique_ptr<simulator::Topology> topology_of(const SimulationSettings& settings, const simulator::Rates& rates) {
  return without_argument_errors([&] {
    const std::string& text = settings.topology;
    const bool is_path = !simulator::is_generated(text) &&
                         (text.find('/') != std::string::npos || text.find(".json") != std::string::npos);
    auto topology = is_path ? simulator::topology_of_file(apps::read_file(text), text)
                            : simulator::topology_of(text, hosts_needed(settings), rates.link);
    if (topology->hosts() < hosts_needed(settings))
      throw InputError(fmt::format("--topology {}: it has {} hosts, and {} ranks of {} a node need {}", text,
                                   topology->hosts(), settings.ranks, settings.ppn, hosts_needed(settings)));
    return topology;
  });
}

/// Numbers of hosts between blanks or commas, one for each rank.
std::vector<int> hosts_in_file(const std::string& path, int ranks, int hosts) {
  std::string text = apps::read_file(path);
  std::ranges::replace(text, ',', ' ');
  std::istringstream words{text};
  std::vector<int> host_of;
  for (std::string word; words >> word;)
    host_of.push_back(static_cast<int>(apps::parse_integer(word, 0, hosts - 1)));
  if (host_of.size() != static_cast<std::size_t>(ranks))
    throw InputError(
        fmt::format("--placement {}: it has {} hosts; needed: one for each of {} ranks", path, host_of.size(), ranks));
  return host_of;
}

/// The hosts in an order that the seed says: the same with every compiler.
std::vector<int> shuffled_hosts(int hosts, std::uint64_t seed) {
  std::vector<int> order(static_cast<std::size_t>(hosts));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random{seed};
  for (std::size_t last = order.size(); last > 1; --last)
    std::swap(order[last - 1], order[static_cast<std::size_t>(random() % last)]);
  return order;
}

std::vector<int> hosts_of_ranks(const SimulationSettings& settings, int hosts) {
  const std::string& how = settings.placement;
  const int used = hosts_needed(settings);
  std::vector<int> host_of;
  if (how == "block" || how == "cyclic") {
    for (int rank = 0; rank < settings.ranks; ++rank)
      host_of.push_back(how == "block" ? rank / settings.ppn : rank % used);
  } else if (how == "random" || how.starts_with("random:")) {
    constexpr std::int64_t most_seed = std::int64_t{1} << 53;
    const std::int64_t seed =
        how == "random" ? 1 : apps::parse_integer(how.substr(std::string_view{"random:"}.size()), 0, most_seed);
    const std::vector<int> order = shuffled_hosts(hosts, static_cast<std::uint64_t>(seed));
    for (int rank = 0; rank < settings.ranks; ++rank)
      host_of.push_back(order[static_cast<std::size_t>(rank / settings.ppn)]);
  } else if (how.find('/') != std::string::npos || how.find('.') != std::string::npos) {
    host_of = hosts_in_file(how, settings.ranks, hosts);
  } else {
    throw InputError(fmt::format("--placement '{}': allowed: block, cyclic, random:SEED, or the path of a file{}", how,
                                 suggestion(how, std::vector<std::string>{"block", "cyclic", "random"})));
  }
  return host_of;
}

/// The ranks of a host are on its sockets one after the other, as evenly as can be.
simulator::Placement placement_of(const SimulationSettings& settings, int hosts) {
  simulator::Placement placement{hosts_of_ranks(settings, hosts), {}};
  std::vector<int> on_host(static_cast<std::size_t>(hosts)), next(static_cast<std::size_t>(hosts));
  for (const int host : placement.host_of)
    ++on_host[static_cast<std::size_t>(host)];
  for (const int host : placement.host_of) {
    const auto at = static_cast<std::size_t>(host);
    placement.socket_of.push_back(host * settings.sockets + next[at]++ * settings.sockets / on_host[at]);
  }
  return placement;
}

}  // namespace

std::vector<simulator::Time> late_starts(const std::string& text, int ranks) {
  if (text.empty()) return {};
  std::vector<simulator::Time> late(static_cast<std::size_t>(ranks));
  for (const std::string& item : apps::split_list(text)) {
    const std::size_t colon = item.find(':');
    if (colon == std::string::npos)
      throw InputError(fmt::format("'{}' is not RANK:MICROSECONDS, as in 3:10 or 8-15:2.5", item));
    const std::string who = item.substr(0, colon);
    const std::size_t dash = who.find('-');
    const auto first = apps::parse_integer(who.substr(0, dash), 0, ranks - 1);
    const auto last = dash == std::string::npos ? first : apps::parse_integer(who.substr(dash + 1), first, ranks - 1);
    const double time = apps::parse_number(item.substr(colon + 1), 0, simulator::most_rate);
    std::fill(late.begin() + first, late.begin() + last + 1, simulator::in_time(time));
  }
  return late;
}

SimulatedMachine::SimulatedMachine(const SimulationSettings& settings)
    : rates(rates_of(settings)),
      topology(topology_of(settings, rates)),
      machine(without_argument_errors([&] {
        return simulator::Machine{*topology, placement_of(settings, topology->hosts()), rates};
      })),
      conditions{settings.element, late_starts(settings.late, settings.ranks), settings.noise, settings.seed,
                 settings.sharing == "latency"},
      nodes(machine.nodes()),
      sockets(machine.sockets()) {}

}  // namespace tutti::tool
