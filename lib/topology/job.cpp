#include "lib/topology/job.hpp"

#include <algorithm>
#include <map>

namespace tutti::topology {
namespace {

/// The machine without the names that tell it from another one of its kind.
Machine nameless(Machine machine) {
  machine.host.clear();
  for (Gpu& gpu : machine.gpus)
    gpu.uuid.clear();
  return machine;
}

}  // namespace

Job job_of(const std::vector<Report>& reports) {
  Job job;
  std::map<int, int> numbers;  // of nodes, by their lowest rank
  for (int rank = 0; rank < static_cast<int>(reports.size()); ++rank) {
    const auto& [lowest, why_not, survey] = reports[static_cast<std::size_t>(rank)];
    const auto [known, is_new] = numbers.emplace(lowest, static_cast<int>(job.nodes.size()));
    if (is_new) job.nodes.push_back({survey.machine, {}, {}});
    Node& node = job.nodes[static_cast<std::size_t>(known->second)];
    node.ranks.push_back(rank);
    if (node.why_not.empty()) node.why_not = why_not;
    job.bindings.push_back(survey.binding);
    job.node_of.push_back(known->second);
  }
  return job;
}

Distance distance(const Job& job, int a, int b) {
  const auto first = static_cast<std::size_t>(a), second = static_cast<std::size_t>(b);
  if (a == b) return Distance::self;
  if (job.node_of[first] != job.node_of[second]) return Distance::other_node;
  return distance(job.bindings[first], job.bindings[second]);
}

std::vector<std::vector<int>> alike(const Job& job) {
  std::vector<std::vector<int>> groups;
  for (int node = 0; node < static_cast<int>(job.nodes.size()); ++node) {
    const Machine machine = nameless(job.nodes[static_cast<std::size_t>(node)].machine);
    const auto same = std::find_if(groups.begin(), groups.end(), [&](const std::vector<int>& group) {
      return nameless(job.nodes[static_cast<std::size_t>(group.front())].machine) == machine;
    });
    if (same == groups.end())
      groups.push_back({node});
    else
      same->push_back(node);
  }
  return groups;
}

}  // namespace tutti::topology
