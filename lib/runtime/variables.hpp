#pragma once
// The environment variables that Tutti knows: the one table, for the library, the apps, the tests and
// docs/environment.md.

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

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
  [[nodiscard]] constexpr Variable derived() const {
    Variable variable = *this;
    variable.is_derived = true;
    return variable;
  }
};

/// In the order of their names.
inline constexpr std::array variables{
    Variable::text("TUTTI_ALGORITHM", "by size", "NAME, or COLLECTIVE=NAME,...").derived(),
    Variable::names("TUTTI_BUFFERS", "auto", "auto, host, device"),
    Variable::number("TUTTI_CHECK", "0", 0, 1),
    Variable::names("TUTTI_DEVICE_PATH", "auto", "auto, ipc, ucx, mpi, staging"),
    Variable::text("TUTTI_FAULTS", "none", "KIND:rank=N,message=N;..."),
    Variable::names("TUTTI_HANG_ACTION", "wait", "wait, abort"),
    Variable::number("TUTTI_HANG_SECONDS", "60", 0, 1'000'000'000),
    Variable::text("TUTTI_INTERPOSE", "auto", "all, auto, none, or FUNCTION,..."),
    Variable::names("TUTTI_LOG", "warn", "warn, info, debug, 0, 1"),
    Variable::text("TUTTI_LOG_FILE", "stderr", "a file, with %h and %p"),
    Variable::number("TUTTI_MEASURE", "0", 0, 1),
    Variable::number("TUTTI_MESSAGE_LIMIT", "1073741824", 1, std::numeric_limits<int>::max()),
    Variable::text("TUTTI_NODES", "by host", "N,N,..., one for each rank").derived(),
    Variable::number("TUTTI_NVTX", "0", 0, 1),
    Variable::number("TUTTI_PLAN_CACHE", "64", 1, 65536),
    Variable::number("TUTTI_PROGRESS_THREAD", "0", 0, 1),
    Variable::names("TUTTI_SINGLE_COPY", "auto", "auto, never, always"),
    Variable::text("TUTTI_SOCKETS", "by machine", "N,N,..., one for each rank").derived(),
    Variable::names("TUTTI_STAGING", "auto", "auto, host, device"),
    Variable::number("TUTTI_STREAM_MEMORY", "16777216", 0, std::int64_t{1} << 40),
    Variable::number("TUTTI_TAG_UB", "by MPI", 32767, std::numeric_limits<int>::max()).derived(),
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

/// Of the names given, those that begin with TUTTI_ and that nobody knows, with the names that may have been meant:
/// "TUTTI_ALGORITM (did you mean TUTTI_ALGORITHM?)".
[[nodiscard]] std::vector<std::string> unknown_variables(const std::vector<std::string>& names);

/// The same of this process's environment.
[[nodiscard]] std::vector<std::string> unknown_variables();

/// Tells of unknown variables in this process's environment, in one line on stderr. Says nothing if there are none.
void warn_of_unknown_variables();

// The readers below take one of `variables` by its name, and throw ArgumentError that names the variable, its value and
// the allowed ones, if the environment has a value that the table does not allow.

/// The number that the environment has under that name. Nothing if it is not set.
[[nodiscard]] std::optional<std::int64_t> number_in_environment(std::string_view name);
/// The same, else the preset.
[[nodiscard]] std::int64_t number_setting(std::string_view name);
/// The place, among the allowed names, of the one that the environment has, else of the preset.
[[nodiscard]] std::size_t name_setting(std::string_view name);
/// The text that the environment has, of any form; empty: it is not set.
[[nodiscard]] std::string text_in_environment(std::string_view name);

/// What error messages call it: "environment variable TUTTI_LOG".
[[nodiscard]] std::string source_of(std::string_view name);

}  // namespace tutti
