#include "lib/device/stream/stream_order.hpp"

#include "lib/device/driver/check.hpp"
#include "lib/device/driver/driver.hpp"
#include "lib/device/driver/relaxed_capture.hpp"

namespace tutti::stream {

using cuda::check;
using cuda::driver;

StreamOrder::StreamOrder(cuda::Device& device) : device_(&device) {
  device.prepare_events(2);
  const cuda::ScopedContext scope{device.context()};
  plain_.event = device.take_event();
  captured_.event = device.take_event();
}

StreamOrder::~StreamOrder() {
  device_->give_back(plain_.event);
  device_->give_back(captured_.event);
}

unsigned long long StreamOrder::id_of(CUstream stream) {
  unsigned long long id = 0;
  check(driver()->StreamGetId(stream, &id), "cuStreamGetId");
  return id;
}

StreamOrder::Last& StreamOrder::last_of(CUstream stream) {
  CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
  cuuint64_t capture = 0;
  CUgraph graph = nullptr;
  check(driver()->StreamGetCaptureInfo(stream, &status, &capture, &graph, nullptr, nullptr), "cuStreamGetCaptureInfo");
  if (status == CU_STREAM_CAPTURE_STATUS_NONE) return plain_;
  if (capture == capture_) return captured_;
  count(graph);
  captured_.stream.reset();
  capture_ = capture;
  return captured_;
}

/// A user object of the graph, which all that is made of the graph keeps too. Where there are none, it counts for ever.
void StreamOrder::count(CUgraph graph) {
  using Counter = std::shared_ptr<std::atomic<int>>;
  ++*graphs_;
  if (driver()->UserObjectCreate == nullptr || driver()->UserObjectRelease == nullptr ||
      driver()->GraphRetainUserObject == nullptr)
    return;
  const auto count_down = [](void* mine) {  // on a thread of the driver's, which must not be called there
    const std::unique_ptr<Counter> counter{static_cast<Counter*>(mine)};
    --**counter;
  };
  auto mine = std::make_unique<Counter>(graphs_);
  CUuserObject object = nullptr;
  if (driver()->UserObjectCreate(&object, mine.get(), count_down, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC) != CUDA_SUCCESS)
    return;
  const CUresult kept = driver()->GraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE);
  static_cast<void>(mine.release());  // the object has it
  if (kept == CUDA_SUCCESS) return;
  ++*graphs_;  // which the object takes back
  static_cast<void>(driver()->UserObjectRelease(object, 1));
}

void StreamOrder::enter(CUstream stream) {
  current_ = &last_of(stream);
  stream_id_ = id_of(stream);
  if (current_->stream && *current_->stream != stream_id_)
    check(driver()->StreamWaitEvent(stream, current_->event, 0), "cuStreamWaitEvent");
}

void StreamOrder::leave(CUstream stream) {
  check(driver()->EventRecord(current_->event, stream), "cuEventRecord");
  current_->stream = stream_id_;
  is_over_ = false;
}

bool StreamOrder::is_busy() const {
  if (!plain_.stream || is_over_ || !device_->is_there()) return false;
  const cuda::ScopedContext scope{device_->context()};
  const cuda::RelaxedCapture relaxed;
  const CUresult result = driver()->EventQuery(plain_.event);
  if (result != CUDA_ERROR_NOT_READY) check(result, "cuEventQuery");
  is_over_ = result == CUDA_SUCCESS;
  return !is_over_;
}

}  // namespace tutti::stream
