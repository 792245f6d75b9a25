#pragma once
// The environment variables that Tutti knows: the one table, for the library, the apps, the tests and
// docs/environment.md.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tutti {

/// The variables that the library reads. docs/environment.md describes each of them.
inline constexpr std::array<std::string_view, 25> variables{
    "TUTTI_ALGORITHM",       "TUTTI_BUFFERS",       "TUTTI_CHECK",       "TUTTI_DEVICE_PATH", "TUTTI_FAULTS",
    "TUTTI_HANG_ACTION",     "TUTTI_HANG_SECONDS",  "TUTTI_INTERPOSE",   "TUTTI_LOG",         "TUTTI_LOG_FILE",
    "TUTTI_MEASURE",         "TUTTI_MESSAGE_LIMIT", "TUTTI_NODES",       "TUTTI_NVTX",        "TUTTI_PLAN_CACHE",
    "TUTTI_PROGRESS_THREAD", "TUTTI_SINGLE_COPY",   "TUTTI_SOCKETS",     "TUTTI_STAGING",     "TUTTI_STREAM_MEMORY",
    "TUTTI_TAG_UB",          "TUTTI_TRACE",         "TUTTI_TRACE_LIMIT", "TUTTI_TRANSPORT",   "TUTTI_UCX_WATCH"};

/// Variables that the library does not read, but that others may well have set: our scripts for themselves, and
/// installers of Tutti for CMake and for users of modules.
inline constexpr std::array<std::string_view, 10> variables_of_others{
    "TUTTI_BUILD", "TUTTI_BUILD_DIR", "TUTTI_CHECKPOINT", "TUTTI_DIR",  "TUTTI_FIXED_ADDRESSES",
    "TUTTI_HOME",  "TUTTI_LAUNCH",    "TUTTI_PEERS",      "TUTTI_ROOT", "TUTTI_VERSION"};
/// The names of variables that only tests read begin with this.
inline constexpr std::string_view prefix_of_test_variables = "TUTTI_TEST_";

/// Of the names given, those that begin with TUTTI_ and that nobody knows, with the names that may have been meant:
/// "TUTTI_ALGORITM (did you mean TUTTI_ALGORITHM?)".
[[nodiscard]] std::vector<std::string> unknown_variables(const std::vector<std::string>& names);

/// Tells of unknown variables in this process's environment, in one line on stderr. Says nothing if there are none.
void warn_of_unknown_variables();

/// The number that the environment has under that name. Nothing if it is not set. Throws ArgumentError that names the
/// variable, its value and the allowed ones, if that is no whole number from `least` to `most`.
[[nodiscard]] std::optional<std::int64_t> number_in_environment(const char* name, std::int64_t least,
                                                                std::int64_t most);

}  // namespace tutti
