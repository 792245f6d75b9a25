#pragma once
// The ways of device data that a rank could take.

#include <array>
#include <string>

#include "lib/core/transport/network.hpp"
#include "lib/device/staging/ways.hpp"

namespace tutti::detail {

/// Found without using a device, and without loading the driver, unless the user forces a way.
struct DeviceAbilities {
  enum : std::size_t { ipc, ucx, mpi, uses_device, count };
  /// 1: it can; the last: a context of a device is in use. Ranks agree on the least of all.
  using Bits = std::array<int, count>;
  Bits can{};
  /// Why the way that is forced is not there; empty: it is, or none is forced.
  std::string objection{};
};

/// `network`: that of the communicator; nullptr: none.
[[nodiscard]] DeviceAbilities device_abilities(device::WayUse use, bool has_links, const tutti::mpi::Network* network);

}  // namespace tutti::detail
