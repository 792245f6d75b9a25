#pragma once
// Plans on device buffers: the steps that bring data to the host's pinned memory and back are added to a plan.

#include <cstdint>
#include <functional>

#include "lib/core/plan/shared_plan.hpp"
#include "lib/device/staging/tuning.hpp"
#include "lib/device/staging/ways.hpp"

namespace tutti::device {

/// The number of the device that holds each buffer of a call; -1: it is the host's memory, or empty.
struct BufferDevices {
  int input = -1, output = -1;
  [[nodiscard]] bool has_device() const { return input >= 0 || output >= 0; }
  friend bool operator==(const BufferDevices&, const BufferDevices&) = default;
};

/// Which of the two ways below a call takes.
enum class StagingUse : std::uint8_t { automatic, host, device };

/// How the data of device buffers travel on a communicator.
struct Transfers {
  Ways ways{};
  StagingUse staging = StagingUse::automatic;
  Tuning tuning = device::tuning;
};

/// A plan with the messages of `plan`, and with Staging that says how data travel. `automatic`: the cheaper of the two
/// ways below, by bytes moved between host and device, number of copies and kernels, and bytes that the host reduces
/// (tuning.hpp). The host works in any case for operations of users without a kernel, and where buffers are
/// not all on one device.
[[nodiscard]] shm::SharedPlan staged(const shm::SharedPlan& plan, const BufferDevices& places, StagingUse use,
                                     const Tuning& tuning = device::tuning);

/// The host works: the plan runs on a staging buffer. What it reads of a device is fetched, in chunks, each ahead of
/// the first step that uses it; each chunk of the output is stored when the last step that writes it is over.
[[nodiscard]] shm::SharedPlan staged_for_host(shm::SharedPlan plan, const BufferDevices& places,
                                              const Tuning& tuning = device::tuning);

/// The device works, and messages that one of the ways carries take its data where they are. For plans that it fits.
[[nodiscard]] shm::SharedPlan direct(shm::SharedPlan plan, const BufferDevices& places, const Ways& ways);

/// Shared memory as plans see it whose data stay on devices: every pass over them costs a launch.
[[nodiscard]] shm::SharedMemory memory_for_devices(shm::SharedMemory memory);

/// The plan of a call whose buffers, or some of them, are on devices: with messages that take its data where they are,
/// if there is a way for any and one device can do the work, else staged. As shm::compile().
[[nodiscard]] shm::SharedPlan compile(const Choice& choice, const Problem& problem, Type type, const Op& op,
                                      const Routing& routing, const shm::SharedMemory& memory,
                                      const BufferDevices& places, const Transfers& transfers);

/// The plan of a call in place that was compiled as if it were not: its input is copied to scratch at first. Then no
/// rank waits for the others before it writes its output.
[[nodiscard]] shm::SharedPlan on_copy_of_input(shm::SharedPlan plan, std::int64_t input_bytes);

/// Whether one device could make all copies and reductions of a plan.
[[nodiscard]] bool fits_device(const shm::SharedPlan& plan, const BufferDevices& places);
/// Whether a plan has messages that one of the ways carries.
[[nodiscard]] bool use_ways(const shm::SharedPlan& plan, const Ways& ways);

/// The device works: each message leaves from, or arrives in, a place of its own in the staging buffer; copies and
/// reductions are made on the device. Data that were received or fetched are sent on without being fetched again.
/// `place_of` gives the number of the device that holds a byte of a buffer; -1: the host's memory, where messages need
/// no staging. Messages that one of the `ways` carries are not staged; those inside a node then go by Transport::ipc.
[[nodiscard]] shm::SharedPlan staged_for_device(shm::SharedPlan plan,
                                                const std::function<int(Buffer, std::int64_t)>& place_of,
                                                const Ways& ways = {});

}  // namespace tutti::device
