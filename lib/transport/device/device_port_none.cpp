// Built without CUDA: every call on device buffers is refused, so that nothing here is ever called but device_of().
#include <string>

#include "lib/transport/device/device_port.hpp"
#include "tutti/error.hpp"

namespace tutti::device {
namespace {

[[noreturn]] void refuse() { throw Error("tutti: " + std::string{why_no_device_buffers()}); }

}  // namespace

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
std::byte* allocate_in_order(int /*device*/, std::int64_t /*bytes*/) { return nullptr; }
void free_in_order(int /*device*/, std::byte* /*data*/) noexcept {}
void release_devices() noexcept {}

}  // namespace tutti::device
