// The machine of tutti simulate: topology, rates, and the places of ranks.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <random>
#include <sstream>
#include <system_error>
#include <utility>

#include "apps/files.hpp"
#include "apps/options.hpp"
#include "apps/tutti/input.hpp"
#include "apps/tutti/simulate_settings.hpp"
#include "lib/core/schedule/near_names.hpp"
#include "tutti/error.hpp"

namespace tutti::tool {
namespace {

using apps::InputError;

constexpr std::size_t longest_file = std::size_t{64} << 20;

/// What the simulator complains of, as a complaint about the input.
template <class Make>
auto without_argument_errors(const Make& make) try {
  return make();
} catch (const ArgumentError& error) {
  throw InputError(error.what());
}

/// Puts the place of a part of the input before complaints about it: "--late '64:100': ...".
template <class Read>
auto at_place(const std::string& place, const Read& read) try {
  return read();
} catch (const InputError& error) {
  throw InputError(fmt::format("{}: {}", place, error.what()));
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
    *place =
        at_place(fmt::format("--set '{}'", text), [&] { return apps::parse_number(value, 0, simulator::most_rate); });
    return;
  }
  if (name != "eager") throw InputError(fmt::format("--set: '{}' is no rate; {}", name, allowed(name, names)));
  rates.eager = at_place(fmt::format("--set '{}'", text), [&] { return apps::parse_bytes(value).value(); });
}

simulator::Rates rates_of(const SimulationSettings& settings) {
  simulator::Rates rates;
  if (!settings.rates_file.empty())
    rates = without_argument_errors(
        [&] { return simulator::read_rates(apps::read_file(settings.rates_file, longest_file), settings.rates_file); });
  for (const std::string& text : settings.changed_rates)
    change(rates, text);
  return rates;
}

int hosts_needed(const SimulationSettings& settings) { return (settings.ranks + settings.ppn - 1) / settings.ppn; }

/// Whether a text that names nothing else is the path of a file: by its letters, or as there is one.
bool is_path(const std::string& text, std::string_view letter) {
  std::error_code ignored;
  return text.find('/') != std::string::npos || text.find(letter) != std::string::npos ||
         std::filesystem::is_regular_file(text, ignored);
}
bool is_topology_file(const SimulationSettings& settings) {
  return !simulator::is_generated(settings.topology) && is_path(settings.topology, ".json");
}
bool is_random(const std::string& placement) { return placement == "random" || placement.starts_with("random:"); }
bool is_placement_file(const SimulationSettings& settings) {
  const std::string& how = settings.placement;
  return how != "block" && how != "cyclic" && !is_random(how) && is_path(how, ".");
}

std::unique_ptr<simulator::Topology> topology_of(const SimulationSettings& settings, const simulator::Rates& rates) {
  return without_argument_errors([&] {
    const std::string& text = settings.topology;
    auto topology = is_topology_file(settings)
                        ? simulator::topology_of_file(apps::read_file(text, longest_file), text, rates.link)
                        : simulator::topology_of(text, hosts_needed(settings), rates.link);
    if (topology->hosts() < hosts_needed(settings) && !is_placement_file(settings))
      throw InputError(fmt::format("--topology {}: it has {} hosts, and {} ranks of {} a node need {}", text,
                                   topology->hosts(), settings.ranks, settings.ppn, hosts_needed(settings)));
    return topology;
  });
}

/// Hosts as people write them: names of the topology, or numbers.
class HostNames {
 public:
  explicit HostNames(const simulator::Topology& topology) {
    for (int host = 0; host < topology.hosts(); ++host)
      names_.push_back(topology.name_of_vertex(host)), hosts_.emplace(names_.back(), host);
  }
  [[nodiscard]] std::optional<int> find(const std::string& name) const {
    const auto found = hosts_.find(name);
    return found == hosts_.end() ? std::nullopt : std::optional{found->second};
  }
  /// `place`: for complaints.
  [[nodiscard]] int host(const std::string& word, const std::string& place) const {
    if (const auto named = find(word)) return *named;
    const auto last = static_cast<std::int64_t>(names_.size()) - 1;
    try {
      return static_cast<int>(apps::parse_integer(word, 0, last));
    } catch (const InputError&) {
      throw InputError(
          fmt::format("{}: '{}' is no host of the topology; allowed: a number from 0 to {}, or a name, as '{}'{}",
                      place, word, last, names_.front(), suggestion(word, names_)));
    }
  }

 private:
  std::vector<std::string> names_;
  std::map<std::string, int> hosts_;
};

std::string without_blanks_around(const std::string& text) {
  constexpr std::string_view blanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(blanks);
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// The hosts that a file names, between blanks, commas or ends of lines; a name with blanks has a line of its own. What
/// follows a # is a comment.
std::vector<int> hosts_in_file(const std::string& path, const HostNames& names) {
  std::vector<int> hosts;
  std::istringstream lines{apps::read_file(path, longest_file)};
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string place = fmt::format("--placement {}:{}", path, ++number);
    line = without_blanks_around(line.substr(0, line.find('#')));
    if (const auto whole = names.find(line)) {
      hosts.push_back(*whole);
      continue;
    }
    std::ranges::replace(line, ',', ' ');
    std::istringstream words{line};
    for (std::string word; words >> word;)
      hosts.push_back(names.host(word, place));
  }
  return hosts;
}

/// By a file that has a host for each rank, or for every --ppn ranks: those that are there are block by block.
std::vector<int> hosts_by_file(const SimulationSettings& settings, const simulator::Topology& topology) {
  std::vector<int> hosts = hosts_in_file(settings.placement, HostNames{topology});
  const auto ranks = static_cast<std::size_t>(settings.ranks), used = static_cast<std::size_t>(hosts_needed(settings));
  if (hosts.size() == ranks) return hosts;
  if (hosts.size() != used)
    throw InputError(fmt::format("--placement {}: it has {} hosts; needed: one for each of {} ranks{}",
                                 settings.placement, hosts.size(), ranks,
                                 used == ranks ? "; or --ppn, and one for as many ranks"
                                               : fmt::format(", or {}, one for every {} of them", used, settings.ppn)));
  std::vector<int> host_of;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    host_of.push_back(hosts[rank / static_cast<std::size_t>(settings.ppn)]);
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

std::vector<int> hosts_of_ranks(const SimulationSettings& settings, const simulator::Topology& topology) {
  const std::string& how = settings.placement;
  const int used = hosts_needed(settings);
  std::vector<int> host_of;
  if (how == "block" || how == "cyclic") {
    for (int rank = 0; rank < settings.ranks; ++rank)
      host_of.push_back(how == "block" ? rank / settings.ppn : rank % used);
  } else if (is_random(how)) {
    constexpr std::int64_t most_seed = std::int64_t{1} << 53;
    const std::int64_t seed = how == "random" ? 1 : at_place(fmt::format("--placement {}", how), [&] {
      return apps::parse_integer(how.substr(std::string_view{"random:"}.size()), 0, most_seed);
    });
    const std::vector<int> order = shuffled_hosts(topology.hosts(), static_cast<std::uint64_t>(seed));
    for (int rank = 0; rank < settings.ranks; ++rank)
      host_of.push_back(order[static_cast<std::size_t>(rank / settings.ppn)]);
  } else if (is_placement_file(settings)) {
    host_of = hosts_by_file(settings, topology);
  } else {
    throw InputError(fmt::format("--placement '{}': allowed: block, cyclic, random:SEED, or the path of a file{}", how,
                                 suggestion(how, std::vector<std::string>{"block", "cyclic", "random"})));
  }
  return host_of;
}

/// The ranks of a host are on its sockets one after the other, as evenly as can be.
simulator::Placement placement_of(const SimulationSettings& settings, const simulator::Topology& topology) {
  simulator::Placement placement{hosts_of_ranks(settings, topology), {}};
  const auto hosts = static_cast<std::size_t>(topology.hosts());
  std::vector<int> on_host(hosts), next(hosts);
  for (const int host : placement.host_of)
    ++on_host[static_cast<std::size_t>(host)];
  std::map<std::pair<int, std::int64_t>, int> numbers;  // of sockets, by host and place on it
  for (const int host : placement.host_of) {
    const auto at = static_cast<std::size_t>(host);
    const std::int64_t place = std::int64_t{next[at]++} * settings.sockets / on_host[at];
    placement.socket_of.push_back(numbers.try_emplace({host, place}, static_cast<int>(numbers.size())).first->second);
  }
  return placement;
}

/// A rank or a range of them, and a time: "3:10,8-15:2.5", in microseconds. The start of each rank.
std::vector<simulator::Time> late_starts(const std::string& text, int ranks) {
  if (text.empty()) return {};
  std::vector<simulator::Time> late(static_cast<std::size_t>(ranks));
  for (const std::string& item : apps::split_list(text)) {
    const std::size_t colon = item.find(':');
    if (colon == std::string::npos)
      throw InputError(fmt::format("--late: '{}' is not RANK:MICROSECONDS, as in 3:10 or 8-15:2.5", item));
    at_place(fmt::format("--late '{}'", item), [&] {
      const std::string who = item.substr(0, colon);
      const std::size_t dash = who.find('-');
      const auto first = apps::parse_integer(who.substr(0, dash), 0, ranks - 1);
      const auto last = dash == std::string::npos ? first : apps::parse_integer(who.substr(dash + 1), first, ranks - 1);
      const double time = apps::parse_number(item.substr(colon + 1), 0, simulator::most_rate);
      std::fill(late.begin() + first, late.begin() + last + 1, simulator::in_time(time));
    });
  }
  return late;
}

}  // namespace

SimulatedMachine::SimulatedMachine(const SimulationSettings& settings)
    : has_topology_file(is_topology_file(settings)),
      rates(rates_of(settings)),
      topology(topology_of(settings, rates)),
      machine(without_argument_errors([&] {
        return simulator::Machine{*topology, placement_of(settings, *topology), rates};
      })),
      conditions{settings.element, late_starts(settings.late, settings.ranks), settings.noise, settings.seed,
                 settings.sharing == "latency"},
      nodes(machine.nodes()),
      sockets(machine.sockets()) {
  std::map<int, int> on;
  for (int rank = 0; rank < settings.ranks; ++rank)
    ++on[machine.host_of(rank)];
  least_on_host = most_on_host = on.begin()->second;
  for (const auto& [host, ranks] : on)
    least_on_host = std::min(least_on_host, ranks), most_on_host = std::max(most_on_host, ranks);
}

}  // namespace tutti::tool
