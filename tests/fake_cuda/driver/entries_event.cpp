// Entry points: events, also between processes.
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>

#include "tests/fake_cuda/driver/call.hpp"
#include "tests/fake_cuda/driver/event.hpp"
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
/// Of calls for which no context needs to be current.
#define FAKE_CUDA_EVENT_CALL(name, handle) \
  FAKE_CUDA_CALL(name);                    \
  FAKE_CUDA_EVENT(handle);                 \
  if (const CUresult bad = state_of(*event->context); bad != CUDA_SUCCESS) return bad

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
FAKE_CUDA_EXPORT CUresult cuEventRecord(CUevent handle, CUstream stream_handle) {
  FAKE_CUDA_CONTEXT_CALL("cuEventRecord");
  FAKE_CUDA_EVENT(handle);
  const StreamPointer stream = Streams::get().find(context, stream_handle);
  if (stream == nullptr || stream->context != event->context) return CUDA_ERROR_INVALID_HANDLE;
  const std::uint64_t ticket = event->shared == nullptr ? 0 : ++event->shared->recorded;
  event->point = Streams::get().push(stream, {.work =
                                                  [event, ticket] {
                                                    event->at_ms->store(now_ms());
                                                    if (event->shared != nullptr) complete(*event->shared, ticket);
                                                  },
                                              .what = {"record-event"},
                                              .even_if_lost = true});
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuEventRecordWithFlags(CUevent handle, CUstream stream, unsigned) {
  return cuEventRecord(handle, stream);
}
FAKE_CUDA_EXPORT CUresult cuEventQuery(CUevent handle) {
  FAKE_CUDA_EVENT_CALL("cuEventQuery", handle);
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
FAKE_CUDA_EXPORT CUresult cuStreamWaitEvent(CUstream stream_handle, CUevent handle, unsigned) {
  FAKE_CUDA_CONTEXT_CALL("cuStreamWaitEvent");
  FAKE_CUDA_EVENT(handle);
  const StreamPointer stream = Streams::get().find(context, stream_handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  std::vector<Point> after;
  if (event->point.first != nullptr) after.push_back(event->point);
  if (event->shared == nullptr) {
    if (!after.empty()) Streams::get().push(stream, {.work = [] {}, .what = {"wait-event"}, .after = std::move(after)});
    return CUDA_SUCCESS;
  }
  const std::uint64_t ticket = event->shared->recorded;
  Streams::get().push(stream, {.work =
                                   [event, ticket] {
                                     while (event->shared->completed < ticket) {
                                       if (running->context->lost != CUDA_SUCCESS) return;
                                       ::usleep(between_looks_us);
                                     }
                                     running->clock.join(event->shared->clock.load());
                                   },
                               .what = {"wait-event"},
                               .after = std::move(after),
                               .waits = event->is_imported});
  return CUDA_SUCCESS;
}
#undef cuEventElapsedTime
FAKE_CUDA_EXPORT CUresult cuEventElapsedTime_v2(float* ms, CUevent first, CUevent second) {
  FAKE_CUDA_CONTEXT_CALL("cuEventElapsedTime");
  const EventPointer begin = find_event(first), end = find_event(second);
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
