#pragma once
// Streams that are captured: their work becomes nodes of a graph. What a program must not do meanwhile is an error,
// ends the capture, and is a fault by name (`illegal-in-capture`).

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "tests/fake_cuda/driver/graph.hpp"
#include "tests/fake_cuda/driver/stream.hpp"

/// At the head of an entry point that does something which no graph sees.
#define FAKE_CUDA_UNSAFE_IN_CAPTURE() \
  if (const CUresult unsafe = fake_cuda::Captures::get().refuse_unsafe(); unsafe != CUDA_SUCCESS) return unsafe

namespace fake_cuda {

struct Capture {
  std::uint64_t id = 0;
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  int thread = 0;  ///< That began it.
  StreamPointer origin{};
  GraphPointer graph{};
  CUgraph handle = nullptr;
  bool is_valid = true;
  bool owns_graph = true;
  /// The streams in it, and what the next node of each comes after.
  std::map<StreamPointer, NodeSet> ends{};
  std::vector<CUgraphNode> told{};  ///< The dependencies that a caller was told of last.
};
using CapturePointer = std::shared_ptr<Capture>;

/// What an event stands for that was recorded in a captured stream.
struct CapturedPoint {
  CapturePointer capture{};
  NodeSet nodes{};
};

/// The captures of the process. Answers without a value: nothing is captured here, so it is ordinary work.
class Captures {
 public:
  using Answer = std::optional<CUresult>;
  static Captures& get();

  /// Into a new graph, or into one that is there, after some of its nodes.
  CUresult begin(const StreamPointer& stream, CUstreamCaptureMode mode, CUgraph into, const NodeSet& after);
  CUresult end(const StreamPointer& stream, CUgraph& graph);
  /// nullptr: the stream is not captured.
  [[nodiscard]] CapturePointer of(const StreamPointer& stream);
  /// A stream that is destroyed; it ends a capture that began there.
  void forget(const StreamPointer& stream);
  /// A context of which everything goes.
  void forget(const Context* context);

  // Work of a stream.
  Answer take(const StreamPointer& stream, const Operation& operation);
  Answer take(const StreamPointer& stream, const Graph& graph);
  Answer record(const StreamPointer& stream, CapturedPoint& point);
  Answer wait(const StreamPointer& stream, const CapturedPoint& point);
  CUresult update(const StreamPointer& stream, const NodeSet& nodes, bool replaces);

  // Calls that do not go with captures: their errors, and CUDA_SUCCESS where there is no conflict.
  CUresult refuse_unsafe();
  CUresult refuse_legacy(const Context* context);
  /// A wait for all streams of a context, or a question about them.
  CUresult refuse_all_of(const Context* context);
  CUresult refuse(const StreamPointer& stream);
  CUresult refuse(const CapturedPoint& point);
  /// Work that real drivers capture: no fault.
  CUresult not_modelled(const StreamPointer& stream);
  /// Whether the legacy stream would wait for a captured stream of the context.
  [[nodiscard]] bool has_blocking(const Context* context);

 private:
  using IsOne = std::function<bool(const Capture&)>;
  CapturePointer of_locked(const StreamPointer& stream);
  void erase(const CapturePointer& capture);
  /// Ends those captures that conflict with a call, if there is any.
  CUresult refuse_beside(const IsOne& conflicts, CUresult error, const char* why);

  std::mutex mutex_;
  std::vector<CapturePointer> active_;
  std::atomic<std::size_t> count_{0};  ///< Most programs capture nothing.
  std::uint64_t next_ = 1;
};

/// Which captures keep the calling thread from unsafe calls.
extern thread_local CUstreamCaptureMode thread_capture_mode;

}  // namespace fake_cuda
