#pragma once
// The beginning of every entry point: it is counted, may be told to fail, and finds its context.

#include <cuda.h>

#include <cstdint>

#include "tests/fake_cuda/driver/context.hpp"

#define FAKE_CUDA_EXPORT extern "C" [[gnu::visibility("default")]]

/// At the head of an entry point that needs cuInit, but no context.
#define FAKE_CUDA_CALL(name)             \
  const fake_cuda::Inside inside;        \
  static fake_cuda::CallSite site{name}; \
  if (const CUresult refused = site.enter(); refused != CUDA_SUCCESS) return refused
/// Begins a call that needs a current context, which is `context` then.
#define FAKE_CUDA_CONTEXT_CALL(name)     \
  const fake_cuda::Inside inside;        \
  static fake_cuda::CallSite site{name}; \
  fake_cuda::Context* context = nullptr; \
  if (const CUresult refused = site.enter(context); refused != CUDA_SUCCESS) return refused
#define FAKE_CUDA_REQUIRE(condition) \
  if (!(condition)) return CUDA_ERROR_INVALID_VALUE

namespace fake_cuda {

/// The name of the entry point that this thread called last, for messages.
extern thread_local const char* entry_point;

/// This thread runs code of the driver, for fake_cuda_is_inside().
class Inside {
 public:
  Inside() { ++depth; }
  Inside(const Inside&) = delete;
  Inside& operator=(const Inside&) = delete;
  ~Inside() { --depth; }
  static thread_local int depth;
};

/// One entry point. Never destroyed.
class CallSite {
 public:
  explicit CallSite(const char* name);
  CUresult enter();
  CUresult enter(Context*& context);

 private:
  const char* name_;
  struct Counts* counts_;
};

/// A call that a driver may make wait for the device, as to change its page tables. It must not come beside an
/// operation that waits for a value, for another process or in a function of the host: nobody may end that wait then.
void may_block(const char* name, Context* context);
/// A call that waits for the device: the same, and counted.
void may_synchronise(const char* name, Context* context);

/// A call that waits for the earlier work of one stream, and is counted: it must not come behind an operation that
/// waits there.
void may_wait_for_stream(const char* name, Context* context, CUstream stream);

/// The counts of the process that fake_cuda_counters() gives, as calls add to them.
struct Totals {
  std::atomic<std::uint64_t> calls{0}, kernels{0}, copies{0}, synchronisations{0};
  std::atomic<std::uint64_t> bytes_to_device{0}, bytes_to_host{0}, bytes_within_devices{0};
  std::atomic<std::uint64_t> bytes_read{0}, bytes_written{0};
  std::atomic<std::uint64_t> live_events{0}, live_modules{0};
};
Totals& totals();

}  // namespace fake_cuda
