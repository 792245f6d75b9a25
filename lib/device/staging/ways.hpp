#pragma once
// The ways of device data between ranks that a communicator's ranks have agreed on.

#include <cstdint>

#include "lib/core/plan/compiled_plan.hpp"

namespace tutti::device {

/// The way that the user wants (TUTTI_DEVICE_PATH); `automatic`: every one that is there.
enum class WayUse : std::uint8_t { automatic, ipc, ucx, mpi, staging };

/// The transports that take data where they are on a device. Over the others data are staged.
struct Ways {
  bool ipc = false;      ///< Inside a node: peers map each other's memory.
  bool network = false;  ///< A network that reads and writes memory of devices.
  bool mpi = false;      ///< An MPI that does.

  [[nodiscard]] bool carry(Transport transport) const {
    switch (transport) {
      case Transport::shm:
      case Transport::ipc:
        return ipc;
      case Transport::network:
        return network;
      case Transport::mpi:
        return mpi;
      case Transport::device:
        break;
    }
    return false;
  }
  friend bool operator==(const Ways&, const Ways&) = default;
};

}  // namespace tutti::device
