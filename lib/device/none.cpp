// A build without CUDA: buffers on a device are recognised, so that calls with them are refused; nothing else here is
// ever needed.
#include <dlfcn.h>

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "lib/core/memory/memory_kind.hpp"
#include "lib/core/run/run.hpp"
#include "lib/device/call/compression.hpp"
#include "lib/device/driver/in_use.hpp"
#include "lib/device/driver/loaded.hpp"
#include "lib/device/driver/scoped_device.hpp"
#include "lib/device/driver/state.hpp"
#include "lib/device/driver/survey.hpp"
#include "lib/device/ipc/ipc_port.hpp"
#include "lib/device/staging/device_port.hpp"
#include "lib/device/stream/gate.hpp"
#include "lib/device/stream/launcher.hpp"
#include "tutti/error.hpp"

namespace tutti {
namespace {

constexpr const char* why_not = "the library was built without CUDA";
[[noreturn]] void refuse() { throw Error(std::string{"tutti: "} + why_not); }

}  // namespace

std::string_view why_no_device_buffers() { return why_not; }

/// Knows just enough of the driver to tell memory of a device.
Allocation allocation_of(const void* data) {
  constexpr int memory_type = 2, is_managed = 8, device_ordinal = 9, of_device = 2;  // as cuda.h has them
  using Get = int(void*, int, unsigned long long);
  void* const library = data == nullptr ? nullptr : cuda::loaded_library();
  if (library == nullptr) return {};
  detail::driver_was_seen.store(true, std::memory_order_relaxed);
  static auto* const get = reinterpret_cast<Get*>(::dlsym(library, "cuPointerGetAttribute"));
  const auto address = reinterpret_cast<std::uintptr_t>(data);
  unsigned type = 0, managed = 0;
  int device = -1;
  if (get == nullptr || get(&type, memory_type, address) != 0 || type != of_device) return {};
  if (get(&managed, is_managed, address) == 0 && managed != 0) return {.memory = {MemoryKind::managed}};
  static_cast<void>(get(&device, device_ordinal, address));
  return {.memory = {MemoryKind::device, device}};
}

namespace cuda {

bool has_context() { return false; }
std::string why_unusable() { return why_not; }
std::string state() { return {}; }
DeviceSurvey survey_devices() { return {.why_not = why_not}; }

namespace detail {

bool enter_context_of(int /*device*/) noexcept { return false; }
void leave_context() noexcept {}

}  // namespace detail
}  // namespace cuda

namespace device {

int current_device() { refuse(); }
int device_of(const Allocation& allocation) {
  if (is_readable_by_host(allocation.memory)) return -1;
  refuse();
}
std::unique_ptr<TransportPort> device_port(const CompiledPlan& /*plan*/, Counters& /*counters*/) { refuse(); }
Pinned allocate_pinned(int /*device*/, std::int64_t /*bytes*/) { refuse(); }
void free_pinned(int /*device*/, std::byte* /*data*/, std::int64_t /*bytes*/) noexcept {}
bool can_wait_in_streams(int /*device*/) { return false; }
std::byte* allocate_on(int /*device*/, std::int64_t /*bytes*/) { refuse(); }
void free_on(int /*device*/, std::byte* /*data*/) noexcept {}
void copy_to_host(int /*device*/, const std::byte* /*from*/, std::byte* /*into*/, std::int64_t /*bytes*/) { refuse(); }
void copy_pieces(int /*device*/, std::span<const PieceCopy> /*pieces*/) { refuse(); }
std::byte* allocate_in_order(int /*device*/, std::int64_t /*bytes*/) { return nullptr; }
void free_in_order(int /*device*/, std::byte* /*data*/) noexcept {}
void release_devices() noexcept {}
CUstream_st* work_stream(int /*device*/) { refuse(); }
void wait_for(int /*device*/, CUstream_st* /*stream*/) { refuse(); }
void compress(int /*device*/, Compression /*compression*/, Rounding /*rounding*/, const CompressArguments& /*call*/,
              CUstream_st* /*stream*/) {
  refuse();
}
void decompress(int /*device*/, Compression /*compression*/, bool /*adds*/, const DecompressArguments& /*call*/,
                CUstream_st* /*stream*/) {
  refuse();
}
void scale(int /*device*/, float* /*data*/, Count /*count*/, float /*factor*/, CUstream_st* /*stream*/) { refuse(); }

}  // namespace device

namespace ipc {

std::unique_ptr<TransportPort> ipc_port(const Route& /*route*/, const shm::ShmPort& /*host*/,
                                        const shm::SharedPlan& /*plan*/) {
  throw Error(why_not);
}
std::byte* allocate_on(int /*device*/, std::int64_t /*bytes*/) { throw Error(why_not); }
void free_on(int /*device*/, std::byte* /*data*/) noexcept {}
bool is_owners_process() noexcept { return true; }
bool free_owned(std::byte* /*data*/) noexcept { return false; }
void collect() noexcept {}

}  // namespace ipc

namespace stream {

std::unique_ptr<Gates> make_gates() { throw Error(why_not); }
int device_of(CUstream_st* /*stream*/) { throw Error(why_not); }
bool is_captured(CUstream_st* /*stream*/) { throw Error(why_not); }
void let_captures_be() noexcept {}
std::unique_ptr<Launcher> make_launcher(const Setup& /*setup*/) { return nullptr; }

}  // namespace stream

namespace detail {

std::unique_ptr<Run> device_run(const Routes& /*route*/, const shm::SharedPlan& /*plan*/, trace::Subject* /*call*/) {
  refuse();
}

}  // namespace detail
}  // namespace tutti
