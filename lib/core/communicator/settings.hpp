#pragma once
// The settings that users may make through the environment; rank 0's values count for all ranks of a communicator.

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "lib/core/communicator/bits_use.hpp"
#include "lib/core/communicator/setting_values.hpp"
#include "lib/core/communicator/variables.hpp"
#include "lib/core/selection/choices.hpp"
#include "lib/core/selection/site_rules.hpp"
#include "lib/device/staging/stage.hpp"
#include "tutti/communicator.hpp"

namespace tutti {

/// Where each rank writes a trace, and how large its file may become.
struct TraceUse {
  std::string folder{};  ///< Absolute; empty: none is written.
  std::int64_t limit = std::int64_t{256} << 20;
};

/// Thresholds of shared memory that the site's rules set; nothing: those of the build (shm::Tuning).
struct TunedMemory {
  std::optional<std::int64_t> fast_path_bytes{}, copied_bytes{}, joined_bytes{};
};

/// The hang settings of this process's environment; the defaults where a value is not allowed, which rank 0 refuses.
[[nodiscard]] HangSettings own_hang_settings() noexcept;

struct Settings : SentSettings {
  UserChoices algorithms{};  ///< The choices that the communicator was made with, else TUTTI_ALGORITHM.
  /// The transport that the communicator was made with, else that of TUTTI_TRANSPORT.
  TransportChoice transport{};
  /// The thresholds of plans for buffers on devices; the site's rules and measurements change them.
  device::Tuning device_tuning{};
  TunedMemory tuned_memory{};
  /// TUTTI_TRACE: a folder; TUTTI_TRACE_LIMIT: bytes, 2^20 .. 2^40.
  TraceUse trace{};
  /// TUTTI_BITS: the folders.
  BitsFiles bits_files{};
  /// The rules that the program named for this communicator (nullptr: none but the built-in ones); nothing: those that
  /// hold for the job.
  std::optional<std::shared_ptr<const SiteRules>> rules{};
  /// TUTTI_FAULTS: those that processes make on purpose; empty: none.
  std::string faults{};
};

// The settings in this process's environment that are more than a number or a name: one reader for each, for
// communicators and for the tool that shows settings. All throw ArgumentError that names the variable and what is
// allowed.

/// TUTTI_ALGORITHM, which the choices name.
[[nodiscard]] UserChoices algorithms_in_environment();
/// TUTTI_BITS. Folders count as rank 0 sees them. Throws also if this library cannot record.
[[nodiscard]] BitsUse bits_in_environment();
/// TUTTI_FAULTS, whose faults can be made.
[[nodiscard]] std::string faults_in_environment();
/// TUTTI_NVTX, and whether this library can do it.
[[nodiscard]] RangeUse ranges_in_environment();
/// TUTTI_TRACE and TUTTI_TRACE_LIMIT. The folder counts as rank 0 sees it, as other ranks may have been started
/// elsewhere.
[[nodiscard]] TraceUse trace_in_environment();
/// TUTTI_TRANSPORT.
[[nodiscard]] TransportChoice transport_in_environment();

/// The names of the networks that are linked in.
[[nodiscard]] std::vector<std::string> linked_networks();

/// Collective over `comm`, whose ranks are all here. Throws ArgumentError on all ranks if a value of rank 0 is
/// not allowed: of its environment, or of its program's options, which count before the environment (algorithms
/// collective by collective).
[[nodiscard]] Settings agree_on_settings(MPI_Comm comm, const CommunicatorOptions& options);

}  // namespace tutti
