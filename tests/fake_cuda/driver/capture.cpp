#include "tests/fake_cuda/driver/capture.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

#include "tests/fake_cuda/driver/call.hpp"
#include "tests/fake_cuda/driver/report.hpp"

namespace fake_cuda {

thread_local CUstreamCaptureMode thread_capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;

namespace {

bool is_blocking(const Stream& stream) { return (stream.flags & CU_STREAM_NON_BLOCKING) == 0; }

template <class Is>
bool has_stream(const Capture& capture, const Is& is_one) {
  return std::ranges::any_of(capture.ends, [&](const auto& each) { return is_one(*each.first); });
}

CUresult illegal(CUresult error, const char* why) {
  caught("illegal-in-capture", text("%s %s", entry_point, why));
  return error;
}
CUresult end_by(Capture& capture, CUresult error, const char* why) {
  if (!capture.is_valid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  capture.is_valid = false;
  return illegal(error, why);
}

/// Every stream that had work of its own must have been waited for by the one where the capture began.
bool is_joined(const Capture& capture) {
  const NodeSet seen = capture.graph->closure(capture.ends.at(capture.origin));
  return std::ranges::all_of(capture.ends, [&](const auto& each) { return std::ranges::includes(seen, each.second); });
}

}  // namespace

Captures& Captures::get() {
  static Captures* const captures = new Captures;  // used by the destructors of libraries, too
  return *captures;
}

CapturePointer Captures::of_locked(const StreamPointer& stream) {
  const auto found =
      std::ranges::find_if(active_, [&](const CapturePointer& capture) { return capture->ends.contains(stream); });
  return found == active_.end() ? nullptr : *found;
}

CapturePointer Captures::of(const StreamPointer& stream) {
  if (count_ == 0) return nullptr;
  const std::lock_guard lock{mutex_};
  return of_locked(stream);
}

void Captures::erase(const CapturePointer& capture) {
  std::erase(active_, capture);
  count_ = active_.size();
  capture->ends.clear();
  capture->graph.reset();  // events that were recorded in it may keep the capture
}

CUresult Captures::begin(const StreamPointer& stream, CUstreamCaptureMode mode, CUgraph into, const NodeSet& after) {
  const std::lock_guard lock{mutex_};
  if (of_locked(stream) != nullptr) return illegal(CUDA_ERROR_ILLEGAL_STATE, "in a stream that is captured already");
  const auto capture = std::make_shared<Capture>();
  capture->id = next_++;
  capture->mode = mode;
  capture->thread = ::gettid();
  capture->origin = stream;
  capture->owns_graph = into == nullptr;
  capture->graph = into == nullptr ? std::make_shared<Graph>() : Graphs::get().find(into);
  if (capture->graph == nullptr) return CUDA_ERROR_INVALID_VALUE;
  capture->handle = into == nullptr ? Graphs::get().add(capture->graph) : into;
  capture->ends[stream] = after;
  active_.push_back(capture);
  count_ = active_.size();
  return CUDA_SUCCESS;
}

CUresult Captures::end(const StreamPointer& stream, CUgraph& graph) {
  graph = nullptr;
  const std::lock_guard lock{mutex_};
  const CapturePointer capture = of_locked(stream);
  if (capture == nullptr) return illegal(CUDA_ERROR_ILLEGAL_STATE, "in a stream that is not captured");
  if (capture->origin != stream)
    return end_by(*capture, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "in another stream than the capture began in");
  if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != ::gettid())
    return illegal(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD, "in another thread than the capture began in");
  CUresult result = capture->is_valid ? CUDA_SUCCESS : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (capture->is_valid && !is_joined(*capture))
    result = end_by(*capture, CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "before all streams of the capture were joined");
  if (result == CUDA_SUCCESS)
    graph = capture->handle;
  else if (capture->owns_graph)
    Graphs::get().remove(capture->handle);
  erase(capture);
  return result;
}

void Captures::forget(const StreamPointer& stream) {
  const std::lock_guard lock{mutex_};
  const CapturePointer capture = of_locked(stream);
  if (capture == nullptr || capture->origin != stream) return;
  if (capture->owns_graph) Graphs::get().remove(capture->handle);
  erase(capture);
}

void Captures::forget(const Context* context) {
  const std::lock_guard lock{mutex_};
  const std::vector<CapturePointer> all = active_;
  for (const CapturePointer& capture : all) {
    if (!has_stream(*capture, [&](const Stream& stream) { return stream.context == context; })) continue;
    if (capture->owns_graph) Graphs::get().remove(capture->handle);
    erase(capture);
  }
}

Captures::Answer Captures::take(const StreamPointer& stream, const Operation& operation) {
  if (count_ == 0) return {};
  const std::lock_guard lock{mutex_};
  const CapturePointer capture = of_locked(stream);
  if (capture == nullptr) return {};
  if (!capture->is_valid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  NodeSet& ends = capture->ends[stream];
  ends = {capture->graph->add(operation, stream->context, ends)};
  return CUDA_SUCCESS;
}

Captures::Answer Captures::take(const StreamPointer& stream, const Graph& graph) {
  if (count_ == 0) return {};
  const std::lock_guard lock{mutex_};
  const CapturePointer capture = of_locked(stream);
  if (capture == nullptr) return {};
  if (!capture->is_valid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  NodeSet& ends = capture->ends[stream];
  ends = capture->graph->add(graph, ends);
  return CUDA_SUCCESS;
}

Captures::Answer Captures::record(const StreamPointer& stream, CapturedPoint& point) {
  point = {};
  if (count_ == 0) return {};
  const std::lock_guard lock{mutex_};
  const CapturePointer capture = of_locked(stream);
  if (capture == nullptr) return {};
  if (!capture->is_valid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  point = {capture, capture->ends[stream]};
  return CUDA_SUCCESS;
}

Captures::Answer Captures::wait(const StreamPointer& stream, const CapturedPoint& point) {
  const std::lock_guard lock{mutex_};
  const CapturePointer capture = of_locked(stream);
  if (capture == nullptr && point.capture == nullptr) return {};
  if (capture != nullptr && !capture->is_valid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (point.capture == nullptr)
    return end_by(*capture, CUDA_ERROR_STREAM_CAPTURE_ISOLATION, "for an event that was recorded outside the capture");
  if (point.capture->ends.empty()) {
    if (capture != nullptr) capture->is_valid = false;
    return illegal(CUDA_ERROR_CAPTURED_EVENT, "for an event of a capture that is over");
  }
  if (!point.capture->is_valid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  if (capture != nullptr && capture != point.capture) {
    capture->is_valid = false;
    return end_by(*point.capture, CUDA_ERROR_STREAM_CAPTURE_MERGE, "for an event of another capture");
  }
  point.capture->ends[stream].insert(point.nodes.begin(), point.nodes.end());
  return CUDA_SUCCESS;
}

CUresult Captures::update(const StreamPointer& stream, const NodeSet& nodes, bool replaces) {
  const std::lock_guard lock{mutex_};
  const CapturePointer capture = of_locked(stream);
  if (capture == nullptr) return CUDA_ERROR_ILLEGAL_STATE;
  if (!capture->is_valid) return CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  NodeSet& ends = capture->ends[stream];
  if (replaces) ends.clear();
  ends.insert(nodes.begin(), nodes.end());
  return CUDA_SUCCESS;
}

CUresult Captures::refuse_beside(const IsOne& conflicts, CUresult error, const char* why) {
  if (count_ == 0) return CUDA_SUCCESS;
  const std::lock_guard lock{mutex_};
  bool has_any = false, has_ended = false;
  for (const CapturePointer& capture : active_) {
    if (!conflicts(*capture)) continue;
    has_any = true;
    has_ended |= std::exchange(capture->is_valid, false);
  }
  if (has_ended) return illegal(error, why);
  return has_any ? error : CUDA_SUCCESS;
}

CUresult Captures::refuse_unsafe() {
  if (thread_capture_mode == CU_STREAM_CAPTURE_MODE_RELAXED) return CUDA_SUCCESS;
  const auto conflicts = [](const Capture& capture) {
    if (!capture.is_valid) return false;
    if (capture.thread == ::gettid()) return capture.mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    return thread_capture_mode == CU_STREAM_CAPTURE_MODE_GLOBAL && capture.mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
  };
  return refuse_beside(conflicts, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "beside a capture, which it is unsafe for");
}

CUresult Captures::refuse_legacy(const Context* context) {
  const auto conflicts = [&](const Capture& capture) {
    return has_stream(capture, [&](const Stream& stream) { return stream.context == context && is_blocking(stream); });
  };
  return refuse_beside(conflicts, CUDA_ERROR_STREAM_CAPTURE_IMPLICIT,
                       "in the legacy stream, beside the capture of a stream that it waits for");
}

bool Captures::has_blocking(const Context* context) {
  if (count_ == 0) return false;
  const std::lock_guard lock{mutex_};
  return std::ranges::any_of(active_, [&](const CapturePointer& capture) {
    return has_stream(*capture, [&](const Stream& stream) { return stream.context == context && is_blocking(stream); });
  });
}

CUresult Captures::refuse_all_of(const Context* context) {
  const auto conflicts = [&](const Capture& capture) {
    return has_stream(capture, [&](const Stream& stream) { return stream.context == context; });
  };
  return refuse_beside(conflicts, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "of a context with a captured stream");
}

CUresult Captures::refuse(const StreamPointer& stream) {
  if (count_ == 0) return CUDA_SUCCESS;
  const std::lock_guard lock{mutex_};
  const CapturePointer capture = of_locked(stream);
  if (capture == nullptr) return CUDA_SUCCESS;
  return end_by(*capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "of a stream that is captured");
}

CUresult Captures::not_modelled(const StreamPointer& stream) {
  const CapturePointer capture = of(stream);
  if (capture == nullptr) return CUDA_SUCCESS;
  const std::lock_guard lock{mutex_};
  log(0, "%s in a stream that is captured: the fake driver has no such nodes", entry_point);
  return std::exchange(capture->is_valid, false) ? CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED
                                                 : CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
}

CUresult Captures::refuse(const CapturedPoint& point) {
  if (point.capture == nullptr) return CUDA_SUCCESS;
  const std::lock_guard lock{mutex_};
  if (point.capture->ends.empty()) return illegal(CUDA_ERROR_CAPTURED_EVENT, "of an event of a capture that is over");
  point.capture->is_valid = false;
  return illegal(CUDA_ERROR_CAPTURED_EVENT, "of an event that is captured");
}

}  // namespace fake_cuda
