// Entry points: the capture of streams into graphs.
#include <algorithm>

#include "tests/fake_cuda/driver/call.hpp"
#include "tests/fake_cuda/driver/capture.hpp"

using namespace fake_cuda;

namespace {

/// The stream of a handle, which may be of any context; or the end of the entry point.
#define FAKE_CUDA_STREAM_CALL(name, handle)                          \
  FAKE_CUDA_CALL(name);                                              \
  Context* const context = current_contexts.top();                   \
  const StreamPointer stream = Streams::get().find(context, handle); \
  if (stream == nullptr) return context == nullptr ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_HANDLE

/// The numbers of a graph's nodes; false: one is of another graph, or of none.
bool find_nodes(const Graph& graph, const CUgraphNode* handles, std::size_t count, NodeSet& nodes) {
  for (std::size_t i = 0; i < count; ++i) {
    std::size_t number = 0;
    if (Graphs::get().find(handles[i], number).get() != &graph) return false;
    nodes.insert(number);
  }
  return true;
}

CUstreamCaptureStatus status_of(const CapturePointer& capture) {
  if (capture == nullptr) return CU_STREAM_CAPTURE_STATUS_NONE;
  return capture->is_valid ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_INVALIDATED;
}

CUresult begin(CUstream handle, const StreamPointer& stream, CUstreamCaptureMode mode, CUgraph into,
               const NodeSet& after) {
  FAKE_CUDA_REQUIRE(mode <= CU_STREAM_CAPTURE_MODE_RELAXED);
  if (is_legacy(handle)) return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  return Captures::get().begin(stream, mode, into, after);
}

/// What a caller does not ask for is null.
struct Wanted {
  CUstreamCaptureStatus* status;
  cuuint64_t* id;
  CUgraph* graph;
  const CUgraphNode** nodes;
  std::size_t* count;
};

CUresult tell(CUstream handle, const StreamPointer& stream, const Wanted& wanted) {
  FAKE_CUDA_REQUIRE(wanted.status != nullptr);
  if (is_legacy(handle) && Captures::get().has_blocking(stream->context)) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  const CapturePointer capture = Captures::get().of(stream);
  *wanted.status = status_of(capture);
  if (*wanted.status != CU_STREAM_CAPTURE_STATUS_ACTIVE) return CUDA_SUCCESS;
  capture->told.clear();
  for (const std::size_t node : capture->ends.at(stream))
    capture->told.push_back(capture->graph->nodes[node].handle);
  if (wanted.id != nullptr) *wanted.id = capture->id;
  if (wanted.graph != nullptr) *wanted.graph = capture->handle;
  if (wanted.nodes != nullptr) *wanted.nodes = capture->told.data();
  if (wanted.count != nullptr) *wanted.count = capture->told.size();
  return CUDA_SUCCESS;
}

CUresult update(const StreamPointer& stream, const CUgraphNode* handles, std::size_t count, unsigned flags) {
  const CapturePointer capture = Captures::get().of(stream);
  if (capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  NodeSet nodes;
  FAKE_CUDA_REQUIRE(flags <= CU_STREAM_SET_CAPTURE_DEPENDENCIES && find_nodes(*capture->graph, handles, count, nodes));
  return Captures::get().update(stream, nodes, flags == CU_STREAM_SET_CAPTURE_DEPENDENCIES);
}

}  // namespace

FAKE_CUDA_EXPORT CUresult cuStreamBeginCapture(CUstream handle, CUstreamCaptureMode mode) {
  FAKE_CUDA_STREAM_CALL("cuStreamBeginCapture", handle);
  return begin(handle, stream, mode, nullptr, {});
}
#undef cuStreamBeginCapture
/// The function of CUDA 10.0.
FAKE_CUDA_EXPORT CUresult cuStreamBeginCapture(CUstream handle) {
  return cuStreamBeginCapture_v2(handle, CU_STREAM_CAPTURE_MODE_GLOBAL);
}
FAKE_CUDA_EXPORT CUresult cuStreamBeginCaptureToGraph(CUstream handle, CUgraph graph, const CUgraphNode* nodes,
                                                      const CUgraphEdgeData*, std::size_t count,
                                                      CUstreamCaptureMode mode) {
  FAKE_CUDA_STREAM_CALL("cuStreamBeginCaptureToGraph", handle);
  const GraphPointer into = Graphs::get().find(graph);
  NodeSet after;
  FAKE_CUDA_REQUIRE(into != nullptr && find_nodes(*into, nodes, count, after));
  return begin(handle, stream, mode, graph, after);
}
FAKE_CUDA_EXPORT CUresult cuStreamEndCapture(CUstream handle, CUgraph* graph) {
  FAKE_CUDA_STREAM_CALL("cuStreamEndCapture", handle);
  FAKE_CUDA_REQUIRE(graph != nullptr);
  return Captures::get().end(stream, *graph);
}
FAKE_CUDA_EXPORT CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  FAKE_CUDA_STREAM_CALL("cuStreamIsCapturing", handle);
  return tell(handle, stream, {status, nullptr, nullptr, nullptr, nullptr});
}
FAKE_CUDA_EXPORT CUresult cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id,
                                                 CUgraph* graph, const CUgraphNode** nodes,
                                                 const CUgraphEdgeData** edges, std::size_t* count) {
  FAKE_CUDA_STREAM_CALL("cuStreamGetCaptureInfo", handle);
  FAKE_CUDA_REQUIRE(edges == nullptr || nodes != nullptr);
  std::size_t there = 0;
  const CUresult result = tell(handle, stream, {status, id, graph, nodes, &there});
  if (count != nullptr) *count = there;
  static thread_local std::vector<CUgraphEdgeData> zeros;
  zeros.assign(std::max<std::size_t>(there, 1), {});
  if (edges != nullptr) *edges = zeros.data();
  return result;
}
#undef cuStreamGetCaptureInfo
FAKE_CUDA_EXPORT CUresult cuStreamGetCaptureInfo_v2(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id,
                                                    CUgraph* graph, const CUgraphNode** nodes, std::size_t* count) {
  return cuStreamGetCaptureInfo_v3(handle, status, id, graph, nodes, nullptr, count);
}
FAKE_CUDA_EXPORT CUresult cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus* status, cuuint64_t* id) {
  return cuStreamGetCaptureInfo_v3(handle, status, id, nullptr, nullptr, nullptr, nullptr);
}
FAKE_CUDA_EXPORT CUresult cuStreamUpdateCaptureDependencies(CUstream handle, CUgraphNode* nodes, const CUgraphEdgeData*,
                                                            std::size_t count, unsigned flags) {
  FAKE_CUDA_STREAM_CALL("cuStreamUpdateCaptureDependencies", handle);
  return update(stream, nodes, count, flags);
}
#undef cuStreamUpdateCaptureDependencies
FAKE_CUDA_EXPORT CUresult cuStreamUpdateCaptureDependencies(CUstream handle, CUgraphNode* nodes, std::size_t count,
                                                            unsigned flags) {
  return cuStreamUpdateCaptureDependencies_v2(handle, nodes, nullptr, count, flags);
}
FAKE_CUDA_EXPORT CUresult cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  FAKE_CUDA_CALL("cuThreadExchangeStreamCaptureMode");
  FAKE_CUDA_REQUIRE(mode != nullptr && *mode <= CU_STREAM_CAPTURE_MODE_RELAXED);
  std::swap(*mode, thread_capture_mode);
  return CUDA_SUCCESS;
}
