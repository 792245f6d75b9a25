// Entry points: graphs.
#include <algorithm>
#include <functional>

#include "tests/fake_cuda/driver/call.hpp"
#include "tests/fake_cuda/driver/capture.hpp"
#include "tests/fake_cuda/driver/graph.hpp"
#include "tests/fake_cuda/driver/posting.hpp"

using namespace fake_cuda;

namespace {

/// The graph of a handle, or the end of the entry point.
#define FAKE_CUDA_GRAPH(handle)                          \
  const GraphPointer graph = Graphs::get().find(handle); \
  FAKE_CUDA_REQUIRE(graph != nullptr)
#define FAKE_CUDA_EXECUTABLE(handle)                               \
  const ExecutablePointer executable = Graphs::get().find(handle); \
  FAKE_CUDA_REQUIRE(executable != nullptr)

CUresult instantiate(CUgraphExec* handle, CUgraph graph_handle) {
  FAKE_CUDA_GRAPH(graph_handle);
  FAKE_CUDA_REQUIRE(handle != nullptr);
  *handle = Graphs::get().add(std::make_shared<Executable>(*graph));
  return CUDA_SUCCESS;
}

/// Handles of nodes: as many as there is room for, and null for the rest of it; without an array, how many there are.
CUresult tell(const Graph& graph, const NodeSet& numbers, CUgraphNode* nodes, std::size_t* count) {
  FAKE_CUDA_REQUIRE(count != nullptr);
  if (nodes == nullptr) {
    *count = numbers.size();
    return CUDA_SUCCESS;
  }
  std::fill_n(nodes, *count, nullptr);
  *count = std::min(*count, numbers.size());
  std::transform(numbers.begin(), std::next(numbers.begin(), static_cast<std::ptrdiff_t>(*count)), nodes,
                 [&](std::size_t number) { return graph.nodes[number].handle; });
  return CUDA_SUCCESS;
}

NodeSet nodes_of(const Graph& graph, const std::function<bool(const Node&)>& is_one) {
  NodeSet found;
  for (std::size_t number = 0; number < graph.nodes.size(); ++number)
    if (is_one(graph.nodes[number])) found.insert(number);
  return found;
}

}  // namespace

FAKE_CUDA_EXPORT CUresult cuGraphCreate(CUgraph* handle, unsigned flags) {
  FAKE_CUDA_CALL("cuGraphCreate");
  FAKE_CUDA_REQUIRE(handle != nullptr && flags == 0);
  *handle = Graphs::get().add(std::make_shared<Graph>());
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuGraphClone(CUgraph* handle, CUgraph original) {
  FAKE_CUDA_CALL("cuGraphClone");
  FAKE_CUDA_GRAPH(original);
  FAKE_CUDA_REQUIRE(handle != nullptr);
  const auto clone = std::make_shared<Graph>();
  clone->add(*graph, {});
  *handle = Graphs::get().add(clone);
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuGraphDestroy(CUgraph handle) {
  FAKE_CUDA_CALL("cuGraphDestroy");
  return Graphs::get().remove(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
FAKE_CUDA_EXPORT CUresult cuGraphGetNodes(CUgraph handle, CUgraphNode* nodes, std::size_t* count) {
  FAKE_CUDA_CALL("cuGraphGetNodes");
  FAKE_CUDA_GRAPH(handle);
  return tell(*graph, nodes_of(*graph, [](const Node&) { return true; }), nodes, count);
}
FAKE_CUDA_EXPORT CUresult cuGraphGetRootNodes(CUgraph handle, CUgraphNode* nodes, std::size_t* count) {
  FAKE_CUDA_CALL("cuGraphGetRootNodes");
  FAKE_CUDA_GRAPH(handle);
  return tell(*graph, nodes_of(*graph, [](const Node& node) { return node.after.empty(); }), nodes, count);
}
FAKE_CUDA_EXPORT CUresult cuGraphNodeGetType(CUgraphNode handle, CUgraphNodeType* type) {
  FAKE_CUDA_CALL("cuGraphNodeGetType");
  std::size_t number = 0;
  const GraphPointer graph = Graphs::get().find(handle, number);
  FAKE_CUDA_REQUIRE(graph != nullptr && type != nullptr);
  *type = graph->type(number);
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuGraphNodeGetDependencies(CUgraphNode handle, CUgraphNode* nodes, CUgraphEdgeData* edges,
                                                     std::size_t* count) {
  FAKE_CUDA_CALL("cuGraphNodeGetDependencies");
  std::size_t number = 0;
  const GraphPointer graph = Graphs::get().find(handle, number);
  FAKE_CUDA_REQUIRE(graph != nullptr && count != nullptr && (edges == nullptr || nodes != nullptr));
  if (edges != nullptr) std::fill_n(edges, *count, CUgraphEdgeData{});
  return tell(*graph, graph->nodes[number].after, nodes, count);
}
#undef cuGraphNodeGetDependencies
FAKE_CUDA_EXPORT CUresult cuGraphNodeGetDependencies(CUgraphNode handle, CUgraphNode* nodes, std::size_t* count) {
  return cuGraphNodeGetDependencies_v2(handle, nodes, nullptr, count);
}

FAKE_CUDA_EXPORT CUresult cuGraphInstantiateWithFlags(CUgraphExec* handle, CUgraph graph, unsigned long long flags) {
  FAKE_CUDA_CALL("cuGraphInstantiate");
  if ((flags & CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH) != 0) return CUDA_ERROR_NOT_SUPPORTED;
  return instantiate(handle, graph);
}
FAKE_CUDA_EXPORT CUresult cuGraphInstantiateWithParams(CUgraphExec* handle, CUgraph graph,
                                                       CUDA_GRAPH_INSTANTIATE_PARAMS* parameters) {
  FAKE_CUDA_REQUIRE(parameters != nullptr);
  const CUresult result = cuGraphInstantiateWithFlags(handle, graph, parameters->flags);
  parameters->hErrNode_out = nullptr;
  parameters->result_out = result == CUDA_SUCCESS ? CUDA_GRAPH_INSTANTIATE_SUCCESS : CUDA_GRAPH_INSTANTIATE_ERROR;
  if (result != CUDA_SUCCESS || (parameters->flags & CUDA_GRAPH_INSTANTIATE_FLAG_UPLOAD) == 0) return result;
  return cuGraphUpload(*handle, parameters->hUploadStream);
}
FAKE_CUDA_EXPORT CUresult cuGraphInstantiate_v2(CUgraphExec* handle, CUgraph graph, CUgraphNode* failed, char* log,
                                                std::size_t room) {
  if (failed != nullptr) *failed = nullptr;
  if (log != nullptr && room > 0) *log = 0;
  return cuGraphInstantiateWithFlags(handle, graph, 0);
}
#undef cuGraphInstantiate
FAKE_CUDA_EXPORT CUresult cuGraphInstantiate(CUgraphExec* handle, CUgraph graph, CUgraphNode* failed, char* log,
                                             std::size_t room) {
  return cuGraphInstantiate_v2(handle, graph, failed, log, room);
}
FAKE_CUDA_EXPORT CUresult cuGraphExecDestroy(CUgraphExec handle) {
  FAKE_CUDA_CALL("cuGraphExecDestroy");
  return Graphs::get().remove(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
FAKE_CUDA_EXPORT CUresult cuGraphUpload(CUgraphExec handle, CUstream stream_handle) {
  FAKE_CUDA_CONTEXT_CALL("cuGraphUpload");
  FAKE_CUDA_EXECUTABLE(handle);
  StreamPointer stream;
  if (const CUresult bad = find_stream(context, stream_handle, stream); bad != CUDA_SUCCESS) return bad;
  if (const CUresult bad = Captures::get().refuse(stream); bad != CUDA_SUCCESS) return bad;
  Streams::get().push(stream, {.what = {"upload-graph"}});
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuGraphLaunch(CUgraphExec handle, CUstream stream_handle) {
  FAKE_CUDA_CONTEXT_CALL("cuGraphLaunch");
  FAKE_CUDA_EXECUTABLE(handle);
  StreamPointer stream;
  if (const CUresult bad = find_stream(context, stream_handle, stream); bad != CUDA_SUCCESS) return bad;
  if (const auto captured = Captures::get().take(stream, executable->graph())) return *captured;
  executable->launch(stream);
  return CUDA_SUCCESS;
}

FAKE_CUDA_EXPORT CUresult cuUserObjectCreate(CUuserObject* handle, void* data, CUhostFn destroy, unsigned references,
                                             unsigned flags) {
  FAKE_CUDA_CALL("cuUserObjectCreate");
  FAKE_CUDA_REQUIRE(handle != nullptr && destroy != nullptr && references > 0 &&
                    flags == CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
  *handle = UserObjects::get().add(std::make_shared<UserObject>(data, destroy), references);
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuUserObjectRetain(CUuserObject handle, unsigned count) {
  FAKE_CUDA_CALL("cuUserObjectRetain");
  return UserObjects::get().retain(handle, count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
FAKE_CUDA_EXPORT CUresult cuUserObjectRelease(CUuserObject handle, unsigned count) {
  FAKE_CUDA_CALL("cuUserObjectRelease");
  return UserObjects::get().release(handle, count) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
FAKE_CUDA_EXPORT CUresult cuGraphRetainUserObject(CUgraph graph_handle, CUuserObject handle, unsigned count,
                                                  unsigned flags) {
  FAKE_CUDA_CALL("cuGraphRetainUserObject");
  FAKE_CUDA_GRAPH(graph_handle);
  const bool moves = flags == CU_GRAPH_USER_OBJECT_MOVE;
  const UserObjectPointer object = UserObjects::get().find(handle, moves ? count : 1);
  FAKE_CUDA_REQUIRE(object != nullptr && count > 0 && (moves || flags == 0));
  graph->objects.insert(graph->objects.end(), count, object);
  if (moves) UserObjects::get().release(handle, count);
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuGraphReleaseUserObject(CUgraph graph_handle, CUuserObject handle, unsigned count) {
  FAKE_CUDA_CALL("cuGraphReleaseUserObject");
  FAKE_CUDA_GRAPH(graph_handle);
  const UserObjectPointer object = UserObjects::get().find(handle);
  FAKE_CUDA_REQUIRE(object != nullptr && std::ranges::count(graph->objects, object) >= std::ptrdiff_t{count});
  for (unsigned i = 0; i < count; ++i)
    graph->objects.erase(std::ranges::find(graph->objects, object));
  return CUDA_SUCCESS;
}
