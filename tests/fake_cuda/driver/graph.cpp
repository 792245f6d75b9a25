#include "tests/fake_cuda/driver/graph.hpp"

#include <algorithm>
#include <atomic>
#include <functional>
#include <string_view>
#include <utility>

namespace fake_cuda {
namespace {

CUgraphNode new_node() {
  static std::atomic<std::uint64_t> next{0x80000};
  return reinterpret_cast<CUgraphNode>(next += 16);
}

/// For each node, a branch where it waits for none but nodes that come before it in the graph: one whose last node
/// does, or a new one. So a node that waits for a value holds up those alone that depend on it.
class Branches {
 public:
  std::size_t of(const Graph& graph, std::size_t node) {
    Before before(node, false);
    for (const std::size_t other : graph.nodes[node].after) {
      std::transform(before_[other].begin(), before_[other].end(), before.begin(), before.begin(), std::logical_or<>{});
      before[other] = true;
    }
    before_.push_back(before);
    const auto follows = [&](std::size_t last) {
      return before[last] && graph.nodes[last].context == graph.nodes[node].context;
    };
    const auto found = std::ranges::find_if(last_, follows);
    const auto branch = static_cast<std::size_t>(found - last_.begin());
    if (found == last_.end())
      last_.push_back(node);
    else
      *found = node;
    return branch;
  }

 private:
  using Before = std::vector<bool>;
  std::vector<Before> before_{};
  std::vector<std::size_t> last_{};  ///< The last node of each branch.
};

}  // namespace

std::size_t Graph::add(const Operation& operation, Context* context, const NodeSet& after) {
  nodes.push_back({operation, context, after, new_node()});
  return nodes.size() - 1;
}

NodeSet Graph::add(const Graph& other, const NodeSet& after) {
  objects.insert(objects.end(), other.objects.begin(), other.objects.end());
  const std::size_t first = nodes.size();
  NodeSet last;
  for (const Node& node : other.nodes) {
    NodeSet moved;
    for (const std::size_t number : node.after) {
      moved.insert(first + number);
      last.erase(first + number);
    }
    last.insert(add(node.operation, node.context, moved.empty() ? after : moved));
  }
  return last.empty() ? after : last;
}

NodeSet Graph::closure(const NodeSet& of) const {
  NodeSet all = of;
  for (std::size_t node = nodes.size(); node-- > 0;)
    if (all.contains(node)) all.insert(nodes[node].after.begin(), nodes[node].after.end());
  return all;
}

CUgraphNodeType Graph::type(std::size_t node) const {
  const std::string_view kind = nodes[node].operation.what.kind;
  if (kind == "kernel") return CU_GRAPH_NODE_TYPE_KERNEL;
  if (kind == "fill") return CU_GRAPH_NODE_TYPE_MEMSET;
  if (kind == "host-function") return CU_GRAPH_NODE_TYPE_HOST;
  if (kind == "record-event") return CU_GRAPH_NODE_TYPE_EVENT_RECORD;
  if (kind == "wait-event") return CU_GRAPH_NODE_TYPE_WAIT_EVENT;
  return kind.ends_with("-value") ? CU_GRAPH_NODE_TYPE_BATCH_MEM_OP : CU_GRAPH_NODE_TYPE_MEMCPY;
}

Executable::Executable(const Graph& graph) : graph_(graph) {
  Branches branches;
  for (std::size_t node = 0; node < graph.nodes.size(); ++node) {
    branches_.push_back(branches.of(graph, node));
    if (branches_.back() == streams_.size()) streams_.push_back(Streams::get().borrow(graph.nodes[node].context));
  }
}

Executable::~Executable() {
  for (const StreamPointer& stream : streams_)
    Streams::get().give_back(stream);
}

void Executable::launch(const StreamPointer& stream) {
  std::vector<Step> steps;
  for (std::size_t number = 0; number < graph_.nodes.size(); ++number) {
    const Node& node = graph_.nodes[number];
    const Operation& operation = node.operation;
    if (operation.count) operation.count();
    steps.push_back({streams_[branches_[number]], operation.renewed ? operation.renewed() : operation, node.after});
  }
  Streams::get().push(
      stream, std::move(steps), [objects = graph_.objects] {}, last_);
}

UserObjects& UserObjects::get() {
  static UserObjects* const objects = new UserObjects;
  return *objects;
}

CUuserObject UserObjects::add(UserObjectPointer object, unsigned references) {
  const std::lock_guard lock{mutex_};
  next_ += 16;
  const auto handle = reinterpret_cast<CUuserObject>(next_);
  all_.emplace(handle, Kept{std::move(object), references});
  return handle;
}

UserObjectPointer UserObjects::find(CUuserObject handle, unsigned references) {
  const std::lock_guard lock{mutex_};
  const auto found = all_.find(handle);
  return found == all_.end() || found->second.references < references ? nullptr : found->second.object;
}

bool UserObjects::retain(CUuserObject handle, unsigned references) {
  const std::lock_guard lock{mutex_};
  const auto found = all_.find(handle);
  if (found == all_.end()) return false;
  found->second.references += references;
  return true;
}

bool UserObjects::release(CUuserObject handle, unsigned references) {
  UserObjectPointer last;  // is destroyed without the lock
  const std::lock_guard lock{mutex_};
  const auto found = all_.find(handle);
  if (found == all_.end() || found->second.references < references) return false;
  found->second.references -= references;
  if (found->second.references > 0) return true;
  last = std::move(found->second.object);
  all_.erase(found);
  return true;
}

Graphs& Graphs::get() {
  static Graphs* const graphs = new Graphs;  // used by the destructors of libraries, too
  return *graphs;
}

CUgraph Graphs::add(GraphPointer graph) {
  const std::lock_guard lock{mutex_};
  next_ += 16;
  const auto handle = reinterpret_cast<CUgraph>(next_);
  graphs_.emplace(handle, std::move(graph));
  return handle;
}

CUgraphExec Graphs::add(ExecutablePointer executable) {
  const std::lock_guard lock{mutex_};
  next_ += 16;
  const auto handle = reinterpret_cast<CUgraphExec>(next_);
  executables_.emplace(handle, std::move(executable));
  return handle;
}

GraphPointer Graphs::find(CUgraph handle) {
  const std::lock_guard lock{mutex_};
  const auto found = graphs_.find(handle);
  return found == graphs_.end() ? nullptr : found->second;
}

ExecutablePointer Graphs::find(CUgraphExec handle) {
  const std::lock_guard lock{mutex_};
  const auto found = executables_.find(handle);
  return found == executables_.end() ? nullptr : found->second;
}

GraphPointer Graphs::find(CUgraphNode handle, std::size_t& number) {
  const std::lock_guard lock{mutex_};
  for (const auto& [graph_handle, graph] : graphs_) {
    const auto found = std::ranges::find(graph->nodes, handle, &Node::handle);
    if (found == graph->nodes.end()) continue;
    number = static_cast<std::size_t>(found - graph->nodes.begin());
    return graph;
  }
  return nullptr;
}

bool Graphs::remove(CUgraph handle) {
  const GraphPointer graph = find(handle);  // its user objects are destroyed without the lock
  const std::lock_guard lock{mutex_};
  return graphs_.erase(handle) > 0;
}

bool Graphs::remove(CUgraphExec handle) {
  const ExecutablePointer executable = find(handle);
  const std::lock_guard lock{mutex_};
  return executables_.erase(handle) > 0;
}

std::uint64_t Graphs::live_graphs() {
  const std::lock_guard lock{mutex_};
  return graphs_.size();
}

std::uint64_t Graphs::live_executables() {
  const std::lock_guard lock{mutex_};
  return executables_.size();
}

}  // namespace fake_cuda
