#pragma once
// The environment variables that Tutti knows, and the settings that they make: the one table, for the library, the
// apps, the tests and docs/environment.md.

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "lib/device/staging/stage.hpp"
#include "lib/device/stream/tuning.hpp"

namespace tutti {

/// Whether rank 0 of a communicator tells how its data travel, where that costs speed.
enum class LogUse : std::uint8_t { off, on };

/// The memory for which algorithms are chosen: that of devices if all ranks use one when the communicator is made, else
/// the host's; the host's; devices'; that of tutti::allocate(). All ranks have to choose alike, and do not know of each
/// other's buffers.
enum class BufferUse : std::uint8_t { automatic, host, device, tutti };

/// What follows the report of a call that hangs: it goes on waiting, or MPI_Abort.
enum class HangAction : std::uint8_t { wait, abort };

/// Whether operations are told to NVTX.
enum class RangeUse : std::uint8_t { off, on };

/// The plans whose schedules are proved when they are made.
enum class ProveUse : std::uint8_t { none, loaded, all };

struct HangSettings {
  /// TUTTI_HANG_SECONDS: a call that waits for so long is reported. 0: never.
  std::int64_t hang_seconds = 60;
  /// TUTTI_HANG_ACTION: wait or abort.
  HangAction hang_action = HangAction::wait;
  friend bool operator==(const HangSettings&, const HangSettings&) = default;
};
/// The settings of a communicator that rank 0 tells the others as they are. The rows of `variables` say where they come
/// from.
struct SentSettings : HangSettings {
  /// TUTTI_MESSAGE_LIMIT: messages of more bytes are split. 1 .. 2^31-1.
  std::int64_t message_limit = std::int64_t{1} << 30;
  /// TUTTI_PLAN_CACHE: plans that a communicator keeps. 1 .. 65536.
  std::int64_t plan_cache = 64;
  /// TUTTI_STREAM_MEMORY: bytes on its device that each rank gives to calls in streams. 0 .. 2^40.
  std::int64_t stream_memory = stream::tuning.memory_bytes;
  /// A number of rank 0, for CommunicatorId: the next communicator of the same context has another one.
  std::uint32_t nonce = 0;
  /// TUTTI_STAGING: auto, host or device.
  device::StagingUse staging = device::StagingUse::automatic;
  /// TUTTI_DEVICE_PATH: auto, ipc, ucx, mpi or staging.
  device::WayUse device_path = device::WayUse::automatic;
  /// TUTTI_BUFFERS: auto, host, device or tutti.
  BufferUse buffers = BufferUse::automatic;
  /// TUTTI_LOG: warn or info; 0 and 1 mean the same.
  LogUse log = LogUse::off;
  /// TUTTI_NVTX: 0 or 1.
  RangeUse ranges = RangeUse::off;
  /// TUTTI_CHECK: whether all ranks compare their arguments before each collective call.
  bool checks_arguments = false;
  /// TUTTI_PROVE: the plans whose schedules are proved when they are made: 0 (none), loaded (those of loaded
  /// libraries) or 1 (all).
  ProveUse proves = ProveUse::loaded;
  /// TUTTI_BITS: same or fixed (bits_use.hpp).
  Bits bits = Bits::same;
  /// Whether calls of different kinds match each other: of the program's options alone.
  bool forms_match = false;
  friend bool operator==(const SentSettings&, const SentSettings&) = default;
};

/// A variable that the library reads, what it may be, and what holds where it is not set. docs/environment.md describes
/// each of them.
struct Variable {
  enum class Form : std::uint8_t { number, name, text };
  std::string_view name;
  Form form;
  std::string_view preset;   ///< In words where it is derived, or is no value that can be written.
  std::string_view allowed;  ///< The names, or the texts in words; of a number `least` and `most` say it.
  std::int64_t least = 0, most = 0;
  bool is_derived = false;  ///< Where it is not set, the MPI, the machine or the call decides.
  /// Writes a setting that rank 0 tells the others as it is: its number, or the index of its name among those allowed.
  void (*set)(SentSettings& settings, std::int64_t value) = nullptr;

  static constexpr Variable number(std::string_view name, std::string_view preset, std::int64_t least,
                                   std::int64_t most) {
    return {name, Form::number, preset, {}, least, most};
  }
  static constexpr Variable names(std::string_view name, std::string_view preset, std::string_view allowed) {
    return {name, Form::name, preset, allowed};
  }
  static constexpr Variable text(std::string_view name, std::string_view preset, std::string_view allowed) {
    return {name, Form::text, preset, allowed};
  }
  template <auto member>
  [[nodiscard]] constexpr Variable sent() const {
    Variable variable = *this;
    variable.set = [](SentSettings& settings, std::int64_t value) {
      auto& its = settings.*member;
      its = static_cast<std::remove_reference_t<decltype(its)>>(value);
    };
    return variable;
  }
  [[nodiscard]] constexpr Variable derived() const {
    Variable variable = *this;
    variable.is_derived = true;
    return variable;
  }
};

/// In the order of their names.
inline constexpr std::array variables{
    Variable::text("TUTTI_ALGORITHM", "by size", "NAME, or COLLECTIVE=NAME,... or COLLECTIVE=file:PATH").derived(),
    Variable::text("TUTTI_ALGORITHMS", "none", "LIBRARY:LIBRARY..."),
    Variable::text("TUTTI_BITS", "same", "same, fixed, record:DIR, compare:DIR"),
    Variable::names("TUTTI_BUFFERS", "auto", "auto, host, device, tutti").sent<&SentSettings::buffers>(),
    Variable::number("TUTTI_CHECK", "0", 0, 1).sent<&SentSettings::checks_arguments>(),
    Variable::names("TUTTI_DEVICE_PATH", "auto", "auto, ipc, ucx, mpi, staging").sent<&SentSettings::device_path>(),
    Variable::text("TUTTI_FAULTS", "none", "KIND:rank=N,message=N;..."),
    Variable::names("TUTTI_HANG_ACTION", "wait", "wait, abort").sent<&SentSettings::hang_action>(),
    Variable::number("TUTTI_HANG_SECONDS", "60", 0, 1'000'000'000).sent<&SentSettings::hang_seconds>(),
    Variable::text("TUTTI_INTERPOSE", "auto", "all, auto, none, or FUNCTION,..."),
    Variable::names("TUTTI_LOG", "warn", "warn, info, debug, 0, 1"),
    Variable::text("TUTTI_LOG_FILE", "stderr", "a file, with %h and %p"),
    Variable::number("TUTTI_MEASURE", "0", 0, 1),
    Variable::number("TUTTI_MESSAGE_LIMIT", "1073741824", 1, std::numeric_limits<int>::max())
        .sent<&SentSettings::message_limit>(),
    Variable::text("TUTTI_NODES", "by host", "N,N,..., one for each rank").derived(),
    Variable::number("TUTTI_NVTX", "0", 0, 1),
    Variable::number("TUTTI_PLAN_CACHE", "64", 1, 65536).sent<&SentSettings::plan_cache>(),
    Variable::number("TUTTI_PROGRESS_THREAD", "0", 0, 1),
    Variable::names("TUTTI_PROVE", "loaded", "0, loaded, 1").sent<&SentSettings::proves>(),
    Variable::text("TUTTI_RULES", "those of the site", "FILE:..., or none"),
    Variable::text("TUTTI_SOCKETS", "by machine", "N,N,..., one for each rank").derived(),
    Variable::names("TUTTI_STAGING", "auto", "auto, host, device").sent<&SentSettings::staging>(),
    Variable::number("TUTTI_STREAM_MEMORY", "16777216", 0, std::int64_t{1} << 40).sent<&SentSettings::stream_memory>(),
    Variable::text("TUTTI_TRACE", "none", "a folder"),
    Variable::number("TUTTI_TRACE_LIMIT", "268435456", std::int64_t{1} << 20, std::int64_t{1} << 40),
    Variable::text("TUTTI_TRANSPORT", "auto", "auto, shm, mpi, NETWORK, shm+NETWORK"),
    Variable::names("TUTTI_UCX_WATCH", "auto", "auto, never, always")};

/// Variables that the library does not read, but that others may well have set: our scripts for themselves, and
/// installers of Tutti for CMake and for users of modules.
inline constexpr std::array<std::string_view, 15> variables_of_others{
    "TUTTI_BUILD", "TUTTI_BUILD_DIR", "TUTTI_CHECKPOINT", "TUTTI_DIR",     "TUTTI_FIXED_ADDRESSES",
    "TUTTI_HOME",  "TUTTI_LAUNCH",    "TUTTI_MPI",        "TUTTI_PEERS",   "TUTTI_PYTHON",
    "TUTTI_ROOT",  "TUTTI_TOOL",      "TUTTI_TORCH_VENV", "TUTTI_VERSION", "TUTTI_WHEEL"};
/// The names of variables that only tests read begin with this.
inline constexpr std::string_view prefix_of_test_variables = "TUTTI_TEST_";

/// The given names that begin with TUTTI_ and that nobody knows, with the names that may have been meant:
/// "TUTTI_ALGORITM (did you mean TUTTI_ALGORITHM, TUTTI_ALGORITHMS?)".
[[nodiscard]] std::vector<std::string> unknown_variables(const std::vector<std::string>& names);

/// The unknown variables in this process's environment.
[[nodiscard]] std::vector<std::string> unknown_variables();

/// Tells of unknown variables in this process's environment, in one line on stderr. Says nothing if there are none.
void warn_of_unknown_variables();

// The readers below take one of `variables` by its name, and throw ArgumentError that names the variable, its value and
// the allowed ones, if the environment has a value that the table does not allow.

/// The number that the environment has under that name. Nothing if it is not set.
[[nodiscard]] std::optional<std::int64_t> number_in_environment(std::string_view name);
/// The number that the environment has under that name, else the preset.
[[nodiscard]] std::int64_t number_setting(std::string_view name);
/// The place, among the allowed names, of the one that the environment has, else of the preset.
[[nodiscard]] std::size_t name_setting(std::string_view name);
/// Sets what a row of the table says of the settings that rank 0 sends, if it is one of them.
void read_sent(const Variable& variable, SentSettings& settings);
/// The text that the environment has, of any form; empty: it is not set.
[[nodiscard]] std::string text_in_environment(std::string_view name);

/// What error messages call it: "environment variable TUTTI_LOG".
[[nodiscard]] std::string source_of(std::string_view name);

}  // namespace tutti
