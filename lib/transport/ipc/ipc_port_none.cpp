#include "lib/transport/ipc/ipc_port.hpp"
#include "tutti/error.hpp"

namespace tutti::ipc {
namespace {

constexpr const char* why = "the library was built without CUDA";

}  // namespace

std::unique_ptr<TransportPort> ipc_port(const Route& /*route*/, const shm::ShmPort& /*host*/,
                                        const shm::SharedPlan& /*plan*/) {
  throw Error(why);
}
std::byte* allocate_on(int /*device*/, std::int64_t /*bytes*/) { throw Error(why); }
void free_on(int /*device*/, std::byte* /*data*/) noexcept {}
bool is_owners_process() noexcept { return true; }
bool free_owned(std::byte* /*data*/) noexcept { return false; }
void collect() noexcept {}

}  // namespace tutti::ipc
