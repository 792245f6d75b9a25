#pragma once
// All processes of a job, and the nodes they are on.

#include <string>
#include <vector>

#include "lib/topology/distance.hpp"
#include "lib/topology/topology.hpp"
#include "tutti/environment.hpp"

namespace tutti::topology {

/// The report of a process to the one that prints.
struct Report {
  int node = 0;           ///< The lowest rank of its node.
  std::string why_not{};  ///< Why it does not share memory with all ranks of its node; empty: it does.
  Survey survey{};
};

struct Node {
  Machine machine;         ///< As its lowest rank sees it.
  std::vector<int> ranks;  ///< Ascending.
  std::string why_not;     ///< Why its ranks do not all share memory; empty: they do.
};

struct Job {
  std::vector<Component> components;
  std::vector<std::string> notes;
  std::vector<Node> nodes;        ///< Numbered by their lowest rank.
  std::vector<Binding> bindings;  ///< By rank.
  std::vector<int> node_of;       ///< By rank.
};

/// The job of these processes, by rank. Their ranks need not be contiguous on a node, nor evenly spread.
[[nodiscard]] Job job_of(const std::vector<Report>& reports);

/// Between any two ranks.
[[nodiscard]] Distance distance(const Job& job, int a, int b);

/// The nodes whose machines differ in nothing but names, together.
[[nodiscard]] std::vector<std::vector<int>> alike(const Job& job);

}  // namespace tutti::topology
