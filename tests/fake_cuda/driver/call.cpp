#include "tests/fake_cuda/driver/call.hpp"

#include <pthread.h>

#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "tests/fake_cuda/driver/graph.hpp"
#include "tests/fake_cuda/driver/region.hpp"
#include "tests/fake_cuda/driver/report.hpp"
#include "tests/fake_cuda/driver/settings.hpp"
#include "tests/fake_cuda/driver/stream.hpp"
#include "tests/fake_cuda/fake_cuda.h"

namespace fake_cuda {

thread_local const char* entry_point = "";
thread_local int Inside::depth = 0;

struct Counts {
  std::atomic<std::uint64_t> calls{0};
  std::atomic<std::uint64_t> fails_at{0}, fails_until{0};  ///< The calls that fail; 0: none.
  std::atomic<CUresult> error{CUDA_ERROR_UNKNOWN};
};

namespace {

struct Sites {
  std::mutex mutex;
  std::map<std::string, Counts> by_name;
  std::string failures = settings().fail;
};
Sites& sites() {
  static Sites* const all = new Sites;
  return *all;
}

bool is_forked = false;

/// NAME:CALL[+][:ERROR],...: calls are counted from now on; `+`: that one and all later ones; the error is a number of
/// CUresult.
void read_failure(const std::string& name, const std::string& all, Counts& counts) {
  counts.fails_at = counts.fails_until = 0;
  counts.error = CUDA_ERROR_UNKNOWN;
  for (std::size_t begin = 0; begin < all.size();) {
    const std::size_t end = std::min(all.find(',', begin), all.size());
    const std::string one = all.substr(begin, end - begin);
    begin = end + 1;
    const std::size_t colon = one.find(':');
    if (one.substr(0, colon) != name) continue;
    if (colon == std::string::npos) {
      counts.fails_at = counts.fails_until = counts.calls + 1;
      continue;
    }
    char* rest = nullptr;
    counts.fails_at = counts.fails_until = counts.calls + std::strtoull(one.c_str() + colon + 1, &rest, 10);
    if (*rest == '+') {
      counts.fails_until = UINT64_MAX;
      ++rest;
    }
    if (*rest == ':') counts.error = static_cast<CUresult>(std::strtol(rest + 1, nullptr, 10));
  }
}

}  // namespace

Totals& totals() {
  static Totals* const all = new Totals;
  return *all;
}

CallSite::CallSite(const char* name) : name_(name) {
  const std::lock_guard lock{sites().mutex};
  counts_ = &sites().by_name[name];
  read_failure(name, sites().failures, *counts_);
  static const int once = ::pthread_atfork(nullptr, nullptr, [] { is_forked = true; });
  static_cast<void>(once);
}

CUresult CallSite::enter() {
  entry_point = name_;
  if (!Contexts::get().is_initialised() || is_forked) return CUDA_ERROR_NOT_INITIALIZED;
  if (is_in_host_function) {
    caught("call-in-host-function", text("%s from a function that a stream called", name_));
    return CUDA_ERROR_NOT_PERMITTED;
  }
  ++totals().calls;
  const std::uint64_t call = ++counts_->calls;
  if (call < counts_->fails_at || call > counts_->fails_until) return CUDA_SUCCESS;
  log(1, "%s fails, as it was told to", name_);
  return counts_->error;
}

CUresult CallSite::enter(Context*& context) {
  if (const CUresult refused = enter(); refused != CUDA_SUCCESS) return refused;
  context = current_contexts.top();
  if (context == nullptr) {
    log(1, "%s without a context", name_);
    return CUDA_ERROR_INVALID_CONTEXT;
  }
  return state_of(*context);
}

void may_block(const char* name, Context* context) {
  if (Streams::get().has_waits(context))
    caught("synchronises-while-waiting",
           text("%s, while an operation waits for a value, for another process or in a host function", name));
}

void may_wait_for_stream(const char* name, Context* context, CUstream stream) {
  if (is_legacy(stream) || settings().queues == 1) return may_synchronise(name, context);
  ++totals().synchronisations;
  const StreamPointer its = Streams::get().find(context, stream);
  if (its != nullptr && Streams::get().has_waits(its))
    caught("synchronises-while-waiting", text("%s, behind an operation of its stream that waits", name));
}

void may_synchronise(const char* name, Context* context) {
  ++totals().synchronisations;
  may_block(name, context);
}

}  // namespace fake_cuda

FAKE_CUDA_EXPORT void fake_cuda_fail(const char* failures) {
  fake_cuda::Sites& sites = fake_cuda::sites();
  const std::lock_guard lock{sites.mutex};
  sites.failures = failures;
  for (auto& [name, counts] : sites.by_name)
    fake_cuda::read_failure(name, sites.failures, counts);
}

FAKE_CUDA_EXPORT int fake_cuda_is_inside() {
  return fake_cuda::Inside::depth > 0 && !fake_cuda::is_in_host_function ? 1 : 0;
}

FAKE_CUDA_EXPORT uint64_t fake_cuda_calls(const char* name) {
  const std::lock_guard lock{fake_cuda::sites().mutex};
  const auto found = fake_cuda::sites().by_name.find(name);
  return found == fake_cuda::sites().by_name.end() ? 0 : found->second.calls.load();
}

FAKE_CUDA_EXPORT void fake_cuda_counters(struct FakeCudaCounters* counters) {
  using namespace fake_cuda;
  const Totals& all = totals();
  const auto live = [](auto is) { return static_cast<uint64_t>(Memory::get().all(is).size()); };
  std::uint64_t bytes_imported = 0;
  for (const RegionPointer& region : Memory::get().all([](const Region& r) { return r.is_imported; }))
    bytes_imported += region->size;
  *counters = {.calls = all.calls,
               .kernels = all.kernels,
               .copies = all.copies,
               .synchronisations = all.synchronisations,
               .contexts = Contexts::get().made(),
               .bytes_to_device = all.bytes_to_device,
               .bytes_to_host = all.bytes_to_host,
               .bytes_within_devices = all.bytes_within_devices,
               .bytes_read = all.bytes_read,
               .bytes_written = all.bytes_written,
               .live_device = live([](const Region& r) {
                 return (r.kind == RegionKind::device || r.kind == RegionKind::pool) && !r.is_imported;
               }),
               .live_pinned = live([](const Region& r) {
                 return r.kind == RegionKind::pinned || (r.kind == RegionKind::registered && !r.is_for_devices);
               }),
               .live_imported = live([](const Region& r) { return r.is_imported; }),
               .bytes_imported = bytes_imported,
               .live_streams = Streams::get().count(),
               .live_events = all.live_events,
               .live_modules = all.live_modules,
               .live_graphs = Graphs::get().live_graphs(),
               .live_executable_graphs = Graphs::get().live_executables(),
               .faults = faults(nullptr)};
}
