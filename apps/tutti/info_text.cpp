#include "apps/tutti/info_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "apps/ranges.hpp"
#include "apps/tutti/table.hpp"

namespace tutti::tool {
namespace {

using namespace topology;

constexpr std::size_t small_node = 16;  // ranks

std::string counted(std::size_t count, const std::string& what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}
std::string or_dash(const std::string& text) { return text.empty() ? "-" : text; }

std::string head(const Job& job) {
  std::string text;
  std::vector<Cells> rows;
  for (const auto& [name, description] : job.components)
    rows.push_back({name, description});
  text += aligned(rows, "");
  for (const std::string& note : job.notes)
    text += fmt::format("note: {}\n", note);
  const auto size = [](const Node& node) { return node.ranks.size(); };
  const auto [least, most] = std::minmax_element(job.nodes.begin(), job.nodes.end(),
                                                 [&](const Node& a, const Node& b) { return size(a) < size(b); });
  const std::string each =
      size(*least) == size(*most) ? fmt::to_string(size(*least)) : fmt::format("{} to {}", size(*least), size(*most));
  text += fmt::format("\n{} on {}", counted(job.bindings.size(), "rank"), counted(job.nodes.size(), "node"));
  return text + (job.nodes.size() > 1 ? fmt::format(", {} on each\n", each) : "\n");
}

std::string speed_of(double gbit_per_s) {
  return gbit_per_s > 0 ? fmt::format("{:g} Gbit/s", gbit_per_s) : "speed not known";
}
std::string numa_text(int numa) { return numa == unknown_numa ? "" : fmt::format("NUMA node {}", numa); }

std::string parts_text(const Machine& machine) {
  const auto& [cores, l3s, numas, sockets] = machine.parts;
  std::vector<std::string> parts;
  for (const auto& [count, name] :
       {std::pair{sockets, "socket"}, std::pair{numas, "NUMA node"}, std::pair{l3s, "L3 cache"},
        std::pair{cores, "core"}, std::pair{machine.processors, "processor"}})
    if (count > 0) parts.push_back(counted(static_cast<std::size_t>(count), name));
  return fmt::format("{}", fmt::join(parts, ", "));
}

/// "GPU0", "eth0": GPUs as the driver numbers them.
std::vector<std::string> device_names(const Machine& machine) {
  std::vector<std::string> names;
  for (std::size_t gpu = 0; gpu < machine.gpus.size(); ++gpu)
    names.push_back(fmt::format("GPU{}", gpu));
  for (const Nic& nic : machine.nics)
    names.push_back(nic.name);
  return names;
}

std::string devices(const Machine& machine) {
  std::vector<Cells> rows;
  for (std::size_t gpu = 0; gpu < machine.gpus.size(); ++gpu) {
    const Gpu& each = machine.gpus[gpu];
    rows.push_back({fmt::format("GPU{}", gpu), each.name, fmt::format("{:.0f} GiB", each.gibibytes), each.bus_id,
                    numa_text(each.numa)});
  }
  for (const Nic& nic : machine.nics)
    rows.push_back({nic.name, nic.kind, nic.is_up ? speed_of(nic.gbit_per_s) : "down",
                    nic.path.empty() ? "-" : nic.path.back(), numa_text(nic.numa)});
  return aligned(rows, "  ");
}

std::string links(const Machine& machine) {
  if (machine.gpus.empty() || machine.links.size() < 2) return {};
  const std::vector<std::string> names = device_names(machine);
  std::vector<Cells> rows{{""}};
  rows[0].insert(rows[0].end(), names.begin(), names.end());
  for (std::size_t a = 0; a < names.size(); ++a) {
    rows.push_back({names[a]});
    for (const Link& link : machine.links[a])
      rows.back().push_back(to_string(link));
  }
  return aligned(rows, "  ");
}

/// Nodes of the same make once.
std::string machines(const Job& job) {
  std::string text;
  for (const std::vector<int>& group : alike(job)) {
    std::vector<std::string> hosts;  // the first few: the table of ranks has all
    for (const int node : group)
      if (hosts.size() < 4) hosts.push_back(job.nodes[static_cast<std::size_t>(node)].machine.host);
    if (hosts.size() < group.size()) hosts.emplace_back("...");
    const Machine& machine = job.nodes[static_cast<std::size_t>(group.front())].machine;
    text += fmt::format("\nnode{} {} ({}): {}\n", group.size() > 1 ? "s" : "", apps::ranges_text(group),
                        fmt::join(hosts, ", "), parts_text(machine));
    text += devices(machine) + links(machine);
    for (const std::string& what : machine.missing)
      text += fmt::format("  not known: {}\n", what);
  }
  return text;
}

/// The numbers of a rank's GPUs on its node; bus ids of those that only it sees.
std::string gpus_of(const Binding& binding, const Machine& machine) {
  std::vector<int> numbers;
  std::vector<std::string> others;
  for (const std::string& bus_id : binding.gpus) {
    const auto found =
        std::find_if(machine.gpus.begin(), machine.gpus.end(), [&](const Gpu& gpu) { return gpu.bus_id == bus_id; });
    if (found != machine.gpus.end())
      numbers.push_back(static_cast<int>(found - machine.gpus.begin()));
    else
      others.push_back(bus_id);
  }
  if (!numbers.empty()) others.insert(others.begin(), apps::ranges_text(numbers));
  return fmt::format("{}", fmt::join(others, ","));
}

std::string places(const Job& job) {
  std::vector<Cells> rows{{"rank", "node", "host", "socket", "NUMA", "L3", "cores", "processors", "GPU", "NIC"}};
  for (std::size_t number = 0; number < job.nodes.size(); ++number)
    for (const int rank : job.nodes[number].ranks) {
      const Binding& binding = job.bindings[static_cast<std::size_t>(rank)];
      const auto& [cores, l3s, numas, sockets] = binding.parts;
      const Machine& machine = job.nodes[number].machine;
      rows.push_back({fmt::to_string(rank), fmt::to_string(number), machine.host});
      for (const Numbers* numbers : {&sockets, &numas, &l3s, &cores, &binding.processors})
        rows.back().push_back(or_dash(apps::ranges_text(*numbers)));
      rows.back().push_back(or_dash(gpus_of(binding, machine)));
      rows.back().push_back(or_dash(fmt::format("{}", fmt::join(binding.nics, ","))));
    }
  return fmt::format("\n{}", aligned(rows, ""));
}

/// How many pairs of a node's ranks there are at each distance.
std::map<Distance, int> pairs_in(const Job& job, const Node& node) {
  std::map<Distance, int> pairs;
  for (std::size_t a = 0; a < node.ranks.size(); ++a)
    for (std::size_t b = 0; b < a; ++b)
      ++pairs[distance(job, node.ranks[a], node.ranks[b])];
  return pairs;
}

std::string matrix(const Job& job, const Node& node) {
  std::vector<Cells> rows{{""}};
  for (const int a : node.ranks) {
    rows[0].push_back(fmt::to_string(a));
    rows.push_back({fmt::to_string(a)});
    for (const int b : node.ranks)
      rows.back().emplace_back(to_string(distance(job, a, b)));
  }
  return aligned(rows, "  ");
}

std::string distances(const Job& job, Pairs shown) {
  std::string text;
  for (std::size_t number = 0; number < job.nodes.size(); ++number) {
    const Node& node = job.nodes[number];
    if (node.ranks.size() < 2) continue;
    text += fmt::format("node {}, ranks {}: ", number, apps::ranges_text(node.ranks));
    const std::map<Distance, int> pairs = pairs_in(job, node);
    std::vector<std::string> counts;
    counts.reserve(pairs.size());
    for (const auto& [distance, count] : pairs)
      counts.push_back(fmt::format("{} {}", count, to_string(distance)));
    text += pairs.size() == 1 ? fmt::format("all pairs {}", to_string(pairs.begin()->first))
                              : fmt::format("pairs: {}", fmt::join(counts, ", "));
    text += node.why_not.empty() ? "; share memory\n" : fmt::format("; do not all share memory: {}\n", node.why_not);
    const bool is_small = node.ranks.size() <= small_node && pairs.size() > 1;
    if (shown == Pairs::of_all_nodes || is_small) text += matrix(job, node);
  }
  return text.empty() ? "" : fmt::format("\n{}", text);
}

std::string legend(const Job& job) {
  const bool has_pairs =
      std::any_of(job.nodes.begin(), job.nodes.end(), [](const Node& n) { return n.ranks.size() > 1; });
  const bool has_links =
      std::any_of(job.nodes.begin(), job.nodes.end(), [](const Node& n) { return !n.machine.gpus.empty(); });
  std::string text;
  if (has_pairs)
    text += "pairs: the smallest of core, L3, NUMA, socket and node that has all processors of both ranks\n";
  if (has_links)
    text +=
        "devices: NV#, # NVLinks; PIX, one PCIe switch; PXB, several; PHB, a host bridge; NODE, within a NUMA node; "
        "SYS, between them\n";
  return text.empty() ? "" : fmt::format("\n{}", text);
}

}  // namespace

std::string to_text(const Job& job, Pairs pairs) {
  return head(job) + machines(job) + places(job) + distances(job, pairs) + legend(job);
}

std::string to_text(std::span<const CounterRow> counters) {
  std::vector<Cells> rows{{"counter", "all ranks", "meaning"}};
  for (const CounterRow& each : counters)
    rows.push_back({each.name, fmt::to_string(each.value), each.meaning});
  return fmt::format("\ncounters of allreduce and broadcast, 8 bytes to 2 MiB, in ordinary and in Tutti memory\n{}",
                     aligned(rows, ""));
}

}  // namespace tutti::tool
