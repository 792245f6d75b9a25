#pragma once
// Graphs of operations, and those that can be launched.

#include <cuda.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "tests/fake_cuda/driver/stream.hpp"

namespace fake_cuda {

/// Nodes of a graph, by their numbers.
using NodeSet = std::set<std::size_t>;

struct Node {
  Operation operation;  ///< As every launch queues it.
  Context* context;
  NodeSet after;  ///< All of them come earlier in the graph.
  CUgraphNode handle;
};

/// What a program attaches to graphs, to learn when all of them are gone.
struct UserObject {
  void* data;
  CUhostFn destroy;
  UserObject(void* its_data, CUhostFn its_destroy) : data(its_data), destroy(its_destroy) {}
  UserObject(const UserObject&) = delete;
  UserObject& operator=(const UserObject&) = delete;
  ~UserObject() { destroy(data); }
};
using UserObjectPointer = std::shared_ptr<UserObject>;

/// By handle, with the references that the program has.
class UserObjects {
 public:
  static UserObjects& get();
  CUuserObject add(UserObjectPointer object, unsigned references);
  /// nullptr: there is no such, or too few references.
  UserObjectPointer find(CUuserObject handle, unsigned references = 1);
  bool retain(CUuserObject handle, unsigned references);
  bool release(CUuserObject handle, unsigned references);

 private:
  struct Kept {
    UserObjectPointer object;
    unsigned references;
  };
  std::mutex mutex_;
  std::map<CUuserObject, Kept> all_;
  std::uint64_t next_ = 0x70000;
};

struct Graph {
  std::vector<Node> nodes{};
  std::vector<UserObjectPointer> objects{};

  std::size_t add(const Operation& operation, Context* context, const NodeSet& after);
  /// Copies of another graph's nodes; those without a dependency there come after `after` here. Returns the last ones.
  NodeSet add(const Graph& other, const NodeSet& after);
  /// The nodes, and all that come before them.
  [[nodiscard]] NodeSet closure(const NodeSet& of) const;
  [[nodiscard]] CUgraphNodeType type(std::size_t node) const;
};
using GraphPointer = std::shared_ptr<Graph>;

/// A graph that was instantiated: nothing changes it any more.
class Executable {
 public:
  explicit Executable(const Graph& graph);
  /// The launches that are under way end nevertheless.
  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;

  [[nodiscard]] const Graph& graph() const { return graph_; }
  void launch(const StreamPointer& stream);

 private:
  Graph graph_;
  std::vector<StreamPointer> streams_{};  ///< The streams of the branches.
  std::vector<std::size_t> branches_{};   ///< The branch of each node.
  Point last_{};                          ///< The end of the last launch.
};
using ExecutablePointer = std::shared_ptr<Executable>;

/// By handle. What is looked up is nullptr where there is no such.
class Graphs {
 public:
  static Graphs& get();

  CUgraph add(GraphPointer graph);
  CUgraphExec add(ExecutablePointer executable);
  [[nodiscard]] GraphPointer find(CUgraph handle);
  [[nodiscard]] ExecutablePointer find(CUgraphExec handle);
  /// The graph of a node, and its number there.
  [[nodiscard]] GraphPointer find(CUgraphNode handle, std::size_t& number);
  bool remove(CUgraph handle);
  bool remove(CUgraphExec handle);
  [[nodiscard]] std::uint64_t live_graphs();
  [[nodiscard]] std::uint64_t live_executables();

 private:
  std::mutex mutex_;
  std::map<CUgraph, GraphPointer> graphs_;
  std::map<CUgraphExec, ExecutablePointer> executables_;
  std::uint64_t next_ = 0x60000;
};

}  // namespace fake_cuda
