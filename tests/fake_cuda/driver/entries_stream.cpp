// Entry points: streams, host functions, values in memory that streams wait for and write.
#include <unistd.h>

#include <algorithm>
#include <type_traits>

#include "tests/fake_cuda/driver/access.hpp"
#include "tests/fake_cuda/driver/call.hpp"
#include "tests/fake_cuda/driver/capture.hpp"
#include "tests/fake_cuda/driver/posting.hpp"
#include "tests/fake_cuda/driver/settings.hpp"

using namespace fake_cuda;

namespace {

constexpr useconds_t between_looks_us = 20;

/// The stream of a handle, or the end of the entry point.
#define FAKE_CUDA_STREAM(handle)                                     \
  const StreamPointer stream = Streams::get().find(context, handle); \
  if (stream == nullptr) return context == nullptr ? CUDA_ERROR_INVALID_CONTEXT : CUDA_ERROR_INVALID_HANDLE
/// Begins calls for which the stream's context needs not to be current.
#define FAKE_CUDA_STREAM_CALL(name, handle)        \
  FAKE_CUDA_CALL(name);                            \
  Context* const context = current_contexts.top(); \
  FAKE_CUDA_STREAM(handle);                        \
  if (const CUresult bad = state_of(*stream->context); bad != CUDA_SUCCESS) return bad
/// Begins calls that ask for the work of the stream, or of streams that the legacy stream waits for.
#define FAKE_CUDA_NOT_CAPTURED(handle)                                                                 \
  if (const CUresult bad =                                                                             \
          is_legacy(handle) ? Captures::get().refuse_legacy(context) : Captures::get().refuse(stream); \
      bad != CUDA_SUCCESS)                                                                             \
  return bad

template <class T>
bool holds(T now, T value, unsigned flags) {
  using Signed = std::make_signed_t<T>;
  switch (flags & 3U) {
    case CU_STREAM_WAIT_VALUE_GEQ:
      return static_cast<Signed>(now - value) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
      return now == value;
    case CU_STREAM_WAIT_VALUE_AND:
      return (now & value) != 0;
    default:
      return static_cast<T>(~(now | value)) != 0;
  }
}

/// The word that flags order, whose own accesses are no race.
template <class T>
T* word_at(std::uint64_t address, const Region& region) {
  return reinterpret_cast<T*>(resolve(region, address, sizeof(T), "value of a stream"));
}

/// A value orders the stream that wrote it, and the hosts that may have, before the stream that waits for it.
void tell_value(Region& region, std::uint64_t address) {
  if (!settings().finds_races) return;
  Clock clock = running->clock;
  clock.learn(running->stream, running->sequence);
  region.tracks().words.store(address - region.base, clock);
  if (region.kind == RegionKind::registered)
    Streams::get().host_learns(clock);  // other processes may have that memory, too
}
void see_value(Region& region, std::uint64_t address) {
  if (!settings().finds_races) return;
  running->clock.join(region.tracks().words.load(address - region.base));
  running->clock.join(Streams::get().host_clock());
  running->clock.hear(now_ns());
}

/// The answer of a driver whose device has no such operations, as virtual ones and some of Windows.
CUresult refuse_memory_operations() {
  return settings().has_stream_memory_operations ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

template <class T>
CUresult wait_for_value(Context* context, CUstream handle, std::uint64_t address, T value, unsigned flags) {
  if (const CUresult refused = refuse_memory_operations(); refused != CUDA_SUCCESS) return refused;
  const RegionPointer region = Memory::get().find_for_device(address);
  FAKE_CUDA_REQUIRE(region != nullptr && address % sizeof(T) == 0);
  return enqueue(context, handle,
                 {.work =
                      [=] {
                        while (!holds(__atomic_load_n(word_at<T>(address, *region), __ATOMIC_ACQUIRE), value, flags)) {
                          if (running->context->lost != CUDA_SUCCESS) return;
                          ::usleep(between_looks_us);
                        }
                        see_value(*region, address);
                      },
                  .what = {"wait-value", sizeof(T)},
                  .waits = true});
}

template <class T>
CUresult write_value(Context* context, CUstream handle, std::uint64_t address, T value) {
  if (const CUresult refused = refuse_memory_operations(); refused != CUDA_SUCCESS) return refused;
  const RegionPointer region = Memory::get().find_for_device(address);
  FAKE_CUDA_REQUIRE(region != nullptr && address % sizeof(T) == 0);
  return enqueue(context, handle,
                 {.work =
                      [=] {
                        tell_value(*region, address);
                        __atomic_store_n(word_at<T>(address, *region), value, __ATOMIC_RELEASE);
                      },
                  .what = {"write-value", sizeof(T)}});
}

/// The host knows in its function what the stream has done.
template <class Function>
void call_host(const Function& function) {
  Clock clock = running->clock;
  clock.learn(running->stream, running->sequence);
  Streams::get().host_learns(clock);
  is_in_host_function = true;
  function();
  is_in_host_function = false;
}

}  // namespace

FAKE_CUDA_EXPORT CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  FAKE_CUDA_CONTEXT_CALL("cuStreamCreate");
  FAKE_CUDA_REQUIRE(stream != nullptr && flags <= CU_STREAM_NON_BLOCKING);
  FAKE_CUDA_UNSAFE_IN_CAPTURE();
  may_block("cuStreamCreate", context);
  *stream = Streams::get().create(context, flags, std::clamp(priority, -5, 0));
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return cuStreamCreateWithPriority(stream, flags, 0);
}
FAKE_CUDA_EXPORT CUresult cuStreamDestroy(CUstream handle) {
  FAKE_CUDA_CONTEXT_CALL("cuStreamDestroy");
  FAKE_CUDA_STREAM(handle);
  Captures::get().forget(stream);
  return Streams::get().destroy(handle) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_HANDLE;
}
FAKE_CUDA_EXPORT CUresult cuStreamSynchronize(CUstream handle) {
  FAKE_CUDA_STREAM_CALL("cuStreamSynchronize", handle);
  FAKE_CUDA_NOT_CAPTURED(handle);
  ++totals().synchronisations;
  Streams::get().wait(Streams::get().last(stream));
  return stream->context->lost;
}
FAKE_CUDA_EXPORT CUresult cuStreamQuery(CUstream handle) {
  FAKE_CUDA_STREAM_CALL("cuStreamQuery", handle);
  FAKE_CUDA_NOT_CAPTURED(handle);
  if (!Streams::get().is_over(Streams::get().last(stream))) return CUDA_ERROR_NOT_READY;
  return stream->context->lost;
}
FAKE_CUDA_EXPORT CUresult cuStreamGetCtx(CUstream handle, CUcontext* its) {
  FAKE_CUDA_STREAM_CALL("cuStreamGetCtx", handle);
  *its = handle_of(stream->context);
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuStreamGetFlags(CUstream handle, unsigned* flags) {
  FAKE_CUDA_CONTEXT_CALL("cuStreamGetFlags");
  FAKE_CUDA_STREAM(handle);
  *flags = stream->flags;
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuStreamGetPriority(CUstream handle, int* priority) {
  FAKE_CUDA_CONTEXT_CALL("cuStreamGetPriority");
  FAKE_CUDA_STREAM(handle);
  *priority = stream->priority;
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuStreamGetId(CUstream handle, unsigned long long* id) {
  FAKE_CUDA_CONTEXT_CALL("cuStreamGetId");
  FAKE_CUDA_STREAM(handle);
  *id = stream->key;
  return CUDA_SUCCESS;
}
FAKE_CUDA_EXPORT CUresult cuLaunchHostFunc(CUstream handle, CUhostFn function, void* data) {
  FAKE_CUDA_CONTEXT_CALL("cuLaunchHostFunc");
  FAKE_CUDA_REQUIRE(function != nullptr);
  return enqueue(context, handle,
                 {.work = [=] { call_host([=] { function(data); }); }, .what = {"host-function"}, .calls_host = true});
}
FAKE_CUDA_EXPORT CUresult cuStreamAddCallback(CUstream handle, CUstreamCallback function, void* data, unsigned) {
  FAKE_CUDA_CONTEXT_CALL("cuStreamAddCallback");
  FAKE_CUDA_REQUIRE(function != nullptr);
  return enqueue(context, handle,
                 {.work = [=] { call_host([=] { function(handle, context->lost, data); }); },
                  .what = {"host-function"},
                  .calls_host = true});
}

FAKE_CUDA_EXPORT CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr at, cuuint32_t value, unsigned flags) {
  FAKE_CUDA_CONTEXT_CALL("cuStreamWaitValue32");
  return wait_for_value<cuuint32_t>(context, stream, at, value, flags);
}
FAKE_CUDA_EXPORT CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr at, cuuint64_t value, unsigned flags) {
  FAKE_CUDA_CONTEXT_CALL("cuStreamWaitValue64");
  return wait_for_value<cuuint64_t>(context, stream, at, value, flags);
}
FAKE_CUDA_EXPORT CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr at, cuuint32_t value, unsigned) {
  FAKE_CUDA_CONTEXT_CALL("cuStreamWriteValue32");
  return write_value<cuuint32_t>(context, stream, at, value);
}
FAKE_CUDA_EXPORT CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr at, cuuint64_t value, unsigned) {
  FAKE_CUDA_CONTEXT_CALL("cuStreamWriteValue64");
  return write_value<cuuint64_t>(context, stream, at, value);
}
FAKE_CUDA_EXPORT CUresult cuStreamBatchMemOp(CUstream stream, unsigned count, CUstreamBatchMemOpParams* operations,
                                             unsigned) {
  FAKE_CUDA_CONTEXT_CALL("cuStreamBatchMemOp");
  constexpr unsigned limit = 256;  // its documentation: "must be less than 256"
  FAKE_CUDA_REQUIRE(count < limit);
  for (unsigned i = 0; i < count; ++i) {
    const auto& wait = operations[i].waitValue;
    const auto& write = operations[i].writeValue;
    CUresult result = CUDA_ERROR_NOT_SUPPORTED;
    switch (operations[i].operation) {
      case CU_STREAM_MEM_OP_WAIT_VALUE_32:
        result = wait_for_value<cuuint32_t>(context, stream, wait.address, wait.value, wait.flags);
        break;
      case CU_STREAM_MEM_OP_WAIT_VALUE_64:
        result = wait_for_value<cuuint64_t>(context, stream, wait.address, wait.value64, wait.flags);
        break;
      case CU_STREAM_MEM_OP_WRITE_VALUE_32:
        result = write_value<cuuint32_t>(context, stream, write.address, write.value);
        break;
      case CU_STREAM_MEM_OP_WRITE_VALUE_64:
        result = write_value<cuuint64_t>(context, stream, write.address, write.value64);
        break;
      default:
        break;
    }
    if (result != CUDA_SUCCESS) return result;
  }
  return CUDA_SUCCESS;
}
