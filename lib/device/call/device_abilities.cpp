#include "lib/device/call/device_abilities.hpp"

#include "lib/core/memory/memory_kind.hpp"
#include "lib/core/transport/mpi/dialect.hpp"
#include "lib/device/driver/in_use.hpp"

namespace tutti::detail {
namespace {

/// Why no way but staging is there at all.
std::string why_none(bool is_forced) {
  if (const std::string_view why = why_no_device_buffers(); !why.empty()) return std::string{why};
  return is_forced ? cuda::why_unusable() : "";
}

std::string objection_to(device::WayUse use, const DeviceAbilities::Bits& can, const std::string& why_not_any,
                         bool has_network) {
  if (!why_not_any.empty()) return why_not_any;
  switch (use) {
    case device::WayUse::ipc:
      return can[DeviceAbilities::ipc] != 0 ? "" : "no message goes through shared memory";
    case device::WayUse::ucx:
      if (!has_network) return "no message goes over UCX, as TUTTI_TRANSPORT=ucx or shm+ucx would have it";
      return can[DeviceAbilities::ucx] != 0 ? "" : "the UCX that was found has no CUDA, or UCX_TLS leaves it out";
    case device::WayUse::mpi:
      return can[DeviceAbilities::mpi] != 0 ? "" : "the MPI does not say that it reads memory of devices";
    case device::WayUse::automatic:
    case device::WayUse::staging:
      break;
  }
  return "";
}

}  // namespace

DeviceAbilities device_abilities(device::WayUse use, bool has_links, const tutti::mpi::Network* network) {
  const bool is_forced = use != device::WayUse::automatic && use != device::WayUse::staging;
  const std::string why_not_any = why_none(is_forced);
  DeviceAbilities mine;
  if (why_not_any.empty())
    mine.can = {has_links ? 1 : 0, network != nullptr && network->takes_device_memory() ? 1 : 0,
                tutti::mpi::reads_device_memory() ? 1 : 0, cuda::has_context() ? 1 : 0};
  if (is_forced) mine.objection = objection_to(use, mine.can, why_not_any, network != nullptr);
  return mine;
}

}  // namespace tutti::detail
