#pragma once
// The settings that users may make through the environment; rank 0's values count for all ranks of a communicator.

#include <mpi.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "lib/runtime/setting_values.hpp"
#include "lib/selection/choices.hpp"
#include "lib/transport/device/stage.hpp"
#include "lib/transport/shm/rendezvous/single_copy.hpp"
#include "lib/transport/stream/tuning.hpp"
#include "tutti/communicator.hpp"

namespace tutti {

/// Whether rank 0 of a communicator tells how its data travel, where that costs speed.
enum class LogUse : std::uint8_t { off, on };

/// Where algorithms are chosen for buffers to be: on devices if all ranks use one when the communicator is made; the
/// host's; devices'. All ranks have to choose alike, and do not know of each other's buffers.
enum class BufferUse : std::uint8_t { automatic, host, device };

/// What follows the report of a call that hangs: it goes on waiting, or MPI_Abort.
enum class HangAction : std::uint8_t { wait, abort };

/// Whether operations are told to NVTX.
enum class RangeUse : std::uint8_t { off, on };

/// Where each rank writes a trace, and how large its file may become.
struct TraceUse {
  std::string folder{};  ///< Absolute; empty: none is written.
  std::int64_t limit = std::int64_t{256} << 20;
};

struct HangSettings {
  /// TUTTI_HANG_SECONDS: a call that waits for so long is reported. 0: never.
  std::int64_t seconds = 60;
  /// TUTTI_HANG_ACTION: wait or abort.
  HangAction action = HangAction::wait;
};
/// Of this process's environment; the defaults where a value is not allowed, which rank 0 refuses.
[[nodiscard]] HangSettings own_hang_settings() noexcept;

/// Those that rank 0 tells the others as they are.
struct SentSettings {
  /// TUTTI_MESSAGE_LIMIT: messages of more bytes are split. 1 .. 2^31-1.
  std::int64_t message_limit = std::int64_t{1} << 30;
  /// TUTTI_PLAN_CACHE: plans that a communicator keeps. 1 .. 65536.
  std::int64_t plan_cache = 64;
  /// TUTTI_STREAM_MEMORY: bytes on its device that each rank gives to calls in streams. 0 .. 2^40.
  std::int64_t stream_memory = stream::tuning.memory_bytes;
  HangSettings hang{};
  /// A number of rank 0, for CommunicatorId: the next communicator of the same context has another one.
  std::uint32_t nonce = 0;
  /// TUTTI_SINGLE_COPY: auto, never or always.
  shm::SingleCopyUse single_copy = shm::SingleCopyUse::automatic;
  /// TUTTI_STAGING: auto, host or device.
  device::StagingUse staging = device::StagingUse::automatic;
  /// TUTTI_DEVICE_PATH: auto, ipc, ucx, mpi or staging.
  device::WayUse device_path = device::WayUse::automatic;
  /// TUTTI_BUFFERS: auto, host or device.
  BufferUse buffers = BufferUse::automatic;
  /// TUTTI_LOG: warn or info; 0 and 1 mean the same.
  LogUse log = LogUse::off;
  /// TUTTI_NVTX: 0 or 1.
  RangeUse ranges = RangeUse::off;
  /// TUTTI_CHECK: whether all ranks compare their arguments before each collective call.
  bool checks_arguments = false;
  /// Whether calls of different kinds match each other: of the program's options alone.
  bool forms_match = false;
};

struct Settings : SentSettings {
  UserChoices algorithms{};  ///< Those that the communicator was made with, else of TUTTI_ALGORITHM.
  /// The transport that the communicator was made with, else that of TUTTI_TRANSPORT.
  TransportChoice transport{};
  /// Of plans for buffers on devices; measurements of these thresholds change them.
  device::Tuning device_tuning{};
  /// TUTTI_TRACE: a folder; TUTTI_TRACE_LIMIT: bytes, 2^20 .. 2^40.
  TraceUse trace{};
  /// TUTTI_FAULTS: those that processes make on purpose; empty: none.
  std::string faults{};
};

/// Collective over `comm`, whose ranks are all here. Throws ArgumentError on all ranks if a value of rank 0 is
/// not allowed: of its environment, or of its program's options, which count before the environment (algorithms
/// collective by collective).
[[nodiscard]] Settings agree_on_settings(MPI_Comm comm, const CommunicatorOptions& options);

}  // namespace tutti
