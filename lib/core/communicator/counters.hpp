#pragma once
// Everything that a communicator counts on one rank, and the public names of the counters.

#include <cstdint>
#include <span>
#include <string_view>

#include "lib/core/transport/shm/counters.hpp"
#include "lib/device/ipc/ipc_port.hpp"
#include "lib/device/staging/device_port.hpp"
#include "lib/device/stream/launcher.hpp"
#include "tutti/communicator.hpp"

namespace tutti::detail {

struct CommunicatorCounters {
  MessageCounters messages{};
  shm::Counters shm{};
  device::Counters device{};
  ipc::Counters ipc{};
  stream::Counters stream{};
  std::uint64_t fast_path_calls = 0;
  std::uint64_t packed_calls = 0, packed_buffers = 0;
  std::uint64_t proved_plans = 0, unproved_plans = 0;
};

struct NamedCounter {
  std::string_view name, meaning;
  std::uint64_t (*value)(const CommunicatorCounters&);
};

/// Sorted by name.
[[nodiscard]] std::span<const NamedCounter> named_counters();

[[nodiscard]] Counters by_name(const CommunicatorCounters& counters);

}  // namespace tutti::detail
