// Entry points: events, also between processes.
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>

#include "tests/fake_cuda/driver/call.hpp"
#include "tests/fake_cuda/driver/capture.hpp"
#include "tests/fake_cuda/driver/event.hpp"
#include "tests/fake_cuda/driver/posting.hpp"
#include "tests/fake_cuda/driver/settings.hpp"

using namespace fake_cuda;

namespace {

constexpr useconds_t between_looks_us = 20;

double now_ms() {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

bool is_complete(const Event::Shared& shared) { return shared.completed >= shared.recorded; }

/// The event of a handle, or the end of the entry point.
#define FAKE_CUDA_EVENT(handle)                  \
  const EventPointer event = find_event(handle); \
  if (event == nullptr) return CUDA_ERROR_INVALID_HANDLE
/// Begins calls for which no context needs to be current.
#define FAKE_CUDA_EVENT_CALL(name, handle) \
  FAKE_CUDA_CALL(name);                    \
  FAKE_CUDA_EVENT(handle);                 \
  if (const CUresult bad = state_of(*event->context); bad != CUDA_SUCCESS) return bad
/// Begins calls that ask the event itself.
#define FAKE_CUDA_NOT_CAPTURED(event)                                                                  \
  if (const CUresult bad = Captures::get().refuse((event)->captured); bad != CUDA_SUCCESS) return bad; \
  FAKE_CUDA_UNSAFE_IN_CAPTURE()

/// Ends of the work that an event of several processes stands for; called by the stream that recorded it.
void complete(Event::Shared& shared, std::uint64_t ticket) {
  if (settings().finds_races) {
    Clock clock = running->clock;
    clock.learn(running->stream, running->sequence);
    shared.clock.store(clock);
  }
  std::uint64_t before = shared.completed;
  while (before < ticket && !shared.completed.compare_exchange_weak(before, ticket)) {
  }
}

Operation record_of(const EventPointer& event) {
  const std::uint64_t ticket = event->shared == nullptr ? 0 : ++event->shared->recorded;
  return {.work =
              [event, ticket] {
                event->at_ms->store(now_ms());
                if (event->shared != nullptr) complete(*event->shared, ticket);
              },
          .what = {"record-event"},
          .even_if_lost = true,
          .queued = [event](const Point& point) { event->point = point; },
          .renewed = [event] { return record_of(event); }};
}

/// A wait for the event's last record before now.
Operation wait_for(const EventPointer& event) {
  Operation wait{.what = {"wait-event"}, .renewed = [event] { return wait_for(event); }};
  if (event->point.first != nullptr) wait.after.push_back(event->point);
  if (event->shared == nullptr) return wait;
  const std::uint64_t ticket = event->shared->recorded;
  wait.waits = event->is_imported;
  wait.work = [event, ticket] {
    while (event->shared->completed < ticket) {
      if (running->context->lost != CUDA_SUCCESS) return;
      ::usleep(between_looks_us);
    }
    running->clock.join(event->shared->clock.load());
  };
  return wait;
}

}  // namespace

FAKE_CUDA_EXPORT CUresult cuEventCreate(CUevent* handle, unsigned flags) {
  FAKE_CUDA_CONTEXT_CALL("cuEventCreate");
  const bool is_shared = (flags & CU_EVENT_INTERPROCESS) != 0;
  FAKE_CUDA_REQUIRE(handle != nullptr && (!is_shared || (flags & CU_EVENT_DISABLE_TIMING) != 0));
  auto event = std::make_shared<Event>();
  event->context = context;
  event->flags = flags;
  if (is_shared) {
    event->file = ::memfd_create("fake_cuda_event", MFD_CLOEXEC);
    if (event->file < 0 || ::ftruncate(event->file, sizeof(Event::Shared)) != 0 || !map_shared(*event))
      return CUDA_ERROR_OUT_OF_MEMORY;
  }
  *handle = add_event(std::move(event));
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuEventDestroy(CUevent handle) {
  FAKE_CUDA_CONTEXT_CALL("cuEventDestroy");
  return remove_event(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
FAKE_CUDA_EXPORT CUresult cuEventRecordWithFlags(CUevent handle, CUstream stream_handle, unsigned flags) {
  FAKE_CUDA_CONTEXT_CALL("cuEventRecord");
  FAKE_CUDA_EVENT(handle);
  StreamPointer stream;
  if (const CUresult bad = find_stream(context, stream_handle, stream); bad != CUDA_SUCCESS) return bad;
  if (stream->context != event->context) return CUDA_ERROR_INVALID_HANDLE;
  const bool is_external = flags == CU_EVENT_RECORD_EXTERNAL;
  FAKE_CUDA_REQUIRE(flags == 0 || (is_external && Captures::get().of(stream) != nullptr));
  if (!is_external)
    if (const auto captured = Captures::get().record(stream, event->captured)) return *captured;
  return enqueue(context, stream_handle, record_of(event));
}
FAKE_CUDA_EXPORT CUresult cuEventRecord(CUevent handle, CUstream stream) {
  return cuEventRecordWithFlags(handle, stream, 0);
}
FAKE_CUDA_EXPORT CUresult cuEventQuery(CUevent handle) {
  FAKE_CUDA_EVENT_CALL("cuEventQuery", handle);
  FAKE_CUDA_NOT_CAPTURED(event);
  if (event->shared != nullptr && !is_complete(*event->shared)) {
    ::sched_yield();
    return CUDA_ERROR_NOT_READY;
  }
  if (event->shared != nullptr) Streams::get().host_learns(event->shared->clock.load());
  if (event->point.first != nullptr && !Streams::get().is_over(event->point)) return CUDA_ERROR_NOT_READY;
  return event->context->lost;
}
FAKE_CUDA_EXPORT CUresult cuEventSynchronize(CUevent handle) {
  FAKE_CUDA_EVENT_CALL("cuEventSynchronize", handle);
  FAKE_CUDA_NOT_CAPTURED(event);
  ++totals().synchronisations;
  if (event->shared != nullptr) {
    while (!is_complete(*event->shared)) {
      if (event->context->lost != CUDA_SUCCESS) return event->context->lost;
      ::usleep(between_looks_us);
    }
    Streams::get().host_learns(event->shared->clock.load());
  }
  if (event->point.first != nullptr) Streams::get().wait(event->point);
  return event->context->lost;
}
FAKE_CUDA_EXPORT CUresult cuStreamWaitEvent(CUstream stream_handle, CUevent handle, unsigned flags) {
  FAKE_CUDA_CONTEXT_CALL("cuStreamWaitEvent");
  FAKE_CUDA_EVENT(handle);
  StreamPointer stream;
  if (const CUresult bad = find_stream(context, stream_handle, stream); bad != CUDA_SUCCESS) return bad;
  const bool is_external = flags == CU_EVENT_WAIT_EXTERNAL;
  FAKE_CUDA_REQUIRE(flags == 0 || (is_external && Captures::get().of(stream) != nullptr));
  if (!is_external) {
    if (event->captured.capture != nullptr && is_legacy(stream_handle)) return CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
    if (const auto captured = Captures::get().wait(stream, event->captured)) return *captured;
    if (event->shared == nullptr && event->point.first == nullptr) return CUDA_SUCCESS;
  }
  return enqueue(context, stream_handle, wait_for(event));
}
#undef cuEventElapsedTime
FAKE_CUDA_EXPORT CUresult cuEventElapsedTime_v2(float* ms, CUevent first, CUevent second) {
  FAKE_CUDA_CONTEXT_CALL("cuEventElapsedTime");
  const EventPointer begin = find_event(first), end = find_event(second);
  for (const EventPointer& event : {begin, end})
    if (event != nullptr)
      if (const CUresult bad = Captures::get().refuse(event->captured); bad != CUDA_SUCCESS) return bad;
  if (begin == nullptr || end == nullptr || begin->point.first == nullptr || end->point.first == nullptr ||
      begin->context != end->context || ((begin->flags | end->flags) & CU_EVENT_DISABLE_TIMING) != 0)
    return CUDA_ERROR_INVALID_HANDLE;
  if (!Streams::get().is_over(begin->point) || !Streams::get().is_over(end->point)) return CUDA_ERROR_NOT_READY;
  *ms = static_cast<float>(*end->at_ms - *begin->at_ms);
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuEventElapsedTime(float* ms, CUevent first, CUevent second) {
  return cuEventElapsedTime_v2(ms, first, second);
}
