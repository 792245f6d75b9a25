#include "apps/bench/cuda.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <bit>
#include <string_view>

#include "tutti/error.hpp"

namespace tutti::bench::cuda {
namespace {

// The types and numbers of cuda.h.
using Address = unsigned long long;
using Context = void*;
using Stream = CUstream_st*;
constexpr unsigned attach_global = 1, stream_non_blocking = 1;
constexpr int success = 0, out_of_memory = 2;

template <class Function>
void find(void* library, const char* symbol, Function*& function) {
  // POSIX: the result of dlsym for a function may be converted to its type.
  function = reinterpret_cast<Function*>(::dlsym(library, symbol));
  if (function == nullptr) throw Error(fmt::format("libcuda.so.1 has no {}", symbol));
}

/// The functions that are called here, under the names without a version.
struct Driver {
  int (*init)(unsigned) = nullptr;
  int (*get_error_name)(int, const char**) = nullptr;
  int (*device_get_count)(int*) = nullptr;
  int (*device_get_name)(char*, int, int) = nullptr;
  int (*primary_context_retain)(Context*, int) = nullptr;
  int (*context_set_current)(Context) = nullptr;
  int (*mem_alloc)(Address*, std::size_t) = nullptr;
  int (*mem_alloc_managed)(Address*, std::size_t, unsigned) = nullptr;
  int (*mem_free)(Address) = nullptr;
  int (*mem_host_alloc)(void**, std::size_t, unsigned) = nullptr;
  int (*mem_free_host)(void*) = nullptr;
  int (*memcpy)(Address, Address, std::size_t) = nullptr;
  int (*memset)(Address, unsigned char, std::size_t) = nullptr;
  int (*stream_create)(Stream*, unsigned) = nullptr;
  int (*stream_synchronize)(Stream) = nullptr;
  // The fake driver's; NVIDIA's has none of them.
  void (*fake_counters)(std::uint64_t*) = nullptr;
  std::uint64_t (*fake_calls)(const char*) = nullptr;

  Driver() {
    void* const library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);  // stays: the program uses it until it ends
    if (library == nullptr) throw Error("libcuda.so.1 was not found");
    find(library, "cuInit", init);
    find(library, "cuGetErrorName", get_error_name);
    find(library, "cuDeviceGetCount", device_get_count);
    find(library, "cuDeviceGetName", device_get_name);
    find(library, "cuDevicePrimaryCtxRetain", primary_context_retain);
    find(library, "cuCtxSetCurrent", context_set_current);
    find(library, "cuMemAlloc_v2", mem_alloc);
    find(library, "cuMemAllocManaged", mem_alloc_managed);
    find(library, "cuMemFree_v2", mem_free);
    find(library, "cuMemHostAlloc", mem_host_alloc);
    find(library, "cuMemFreeHost", mem_free_host);
    find(library, "cuMemcpy", memcpy);
    find(library, "cuMemsetD8_v2", memset);
    find(library, "cuStreamCreate", stream_create);
    find(library, "cuStreamSynchronize", stream_synchronize);
    fake_counters = reinterpret_cast<decltype(fake_counters)>(::dlsym(library, "fake_cuda_counters"));
    fake_calls = reinterpret_cast<decltype(fake_calls)>(::dlsym(library, "fake_cuda_calls"));
  }
};

const Driver& driver() {
  static const Driver* const once = new Driver;  // buffers may be given back until the process ends
  return *once;
}

std::string_view name_of(int result) {
  const char* name = nullptr;
  return driver().get_error_name(result, &name) == success && name != nullptr ? name : "an unknown error";
}

void check(int result, std::string_view function) {
  if (result != success) throw Error(fmt::format("{}: {}", function, name_of(result)));
}

bool is_there(int result, std::string_view function) {
  if (result == out_of_memory) return false;
  check(result, function);
  return true;
}

Address address_of(const std::byte* data) { return reinterpret_cast<Address>(data); }
std::byte* pointer_to(Address address) { return std::bit_cast<std::byte*>(address); }
std::size_t size_of(Bytes size) { return static_cast<std::size_t>(size.value()); }

/// Copies and fills may go on behind their calls, and the streams of others do not wait for them.
void finish() { check(driver().stream_synchronize(nullptr), "cuStreamSynchronize"); }

/// Calls of wait_for_stream().
std::uint64_t own_waits = 0;

void copy(Address to, Address from, std::size_t bytes) {
  check(driver().memcpy(to, from, bytes), "cuMemcpy");
  finish();
}

}  // namespace

std::string use_device(int local_rank) {
  int count = 0;
  int result = driver().init(0);
  if (result == success) result = driver().device_get_count(&count);
  if (result != success) throw Error(fmt::format("the CUDA driver cannot be used: {}", name_of(result)));
  if (count == 0) throw Error("the CUDA driver finds no device");
  const int device = local_rank % count;
  std::array<char, 96> name{};
  check(driver().device_get_name(name.data(), static_cast<int>(name.size()), device), "cuDeviceGetName");
  Context context = nullptr;  // retained until the process ends
  check(driver().primary_context_retain(&context, device), "cuDevicePrimaryCtxRetain");
  check(driver().context_set_current(context), "cuCtxSetCurrent");
  return fmt::format("{} of {} ({})", device, count, name.data());
}

std::byte* allocate(Bytes size) {
  Address address = 0;
  return is_there(driver().mem_alloc(&address, size_of(size)), "cuMemAlloc") ? pointer_to(address) : nullptr;
}

std::byte* allocate_managed(Bytes size) {
  Address address = 0;
  const int result = driver().mem_alloc_managed(&address, size_of(size), attach_global);
  return is_there(result, "cuMemAllocManaged") ? pointer_to(address) : nullptr;
}

std::byte* allocate_pinned(Bytes size) {
  void* data = nullptr;
  const bool is_enough = is_there(driver().mem_host_alloc(&data, size_of(size), 0), "cuMemHostAlloc");
  return is_enough ? static_cast<std::byte*>(data) : nullptr;
}

// A failure of these has been seen by the calls before, and leaves nothing to be done.
void free(std::byte* data) { static_cast<void>(driver().mem_free(address_of(data))); }
void free_pinned(std::byte* data) { static_cast<void>(driver().mem_free_host(data)); }

void fill_with_zeros(std::span<std::byte> data) {
  if (data.empty()) return;
  check(driver().memset(address_of(data.data()), 0, data.size()), "cuMemsetD8");
  finish();
}

void write(std::byte* data, std::span<const std::byte> from) {
  if (!from.empty()) copy(address_of(data), address_of(from.data()), from.size());
}

void read(const std::byte* data, std::span<std::byte> into) {
  if (!into.empty()) copy(address_of(into.data()), address_of(data), into.size());
}

CUstream_st* stream() {
  static CUstream_st* const once = [] {
    Stream made = nullptr;
    check(driver().stream_create(&made, stream_non_blocking), "cuStreamCreate");
    return made;
  }();
  return once;
}

void wait_for_stream() {
  check(driver().stream_synchronize(stream()), "cuStreamSynchronize");
  ++own_waits;
}

std::optional<DriverCounts> driver_counts() {
  if (driver().fake_counters == nullptr || driver().fake_calls == nullptr) return std::nullopt;
  // struct FakeCudaCounters: the first ten are read, and there is room for all.
  std::array<std::uint64_t, 64> counters{};
  driver().fake_counters(counters.data());
  std::uint64_t looks = 0;
  for (const char* name : {"cuEventQuery", "cuCtxPushCurrent", "cuCtxPopCurrent"}) {
    looks += driver().fake_calls(name);
  }
  const std::uint64_t between_devices_and_host = counters[5] + counters[6], on_devices = counters[7];
  return DriverCounts{.calls = counters[0] - looks - own_waits,
                      .kernels = counters[1],
                      .copies = counters[2],
                      .synchronisations = counters[3] - own_waits,
                      .traffic_bytes = between_devices_and_host + 2 * on_devices + counters[8] + counters[9]};
}

}  // namespace tutti::bench::cuda
