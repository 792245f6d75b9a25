#pragma once
// Pictures of a traced job, and their words.

#include <array>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "apps/tutti/trace_job.hpp"
#include "lib/watch/trace/format.hpp"

namespace tutti::tool {

// The words for what a trace records.

[[nodiscard]] inline std::string_view name_of(trace::Start start) {
  constexpr std::array<std::string_view, 5> names{"blocking", "nonblocking", "persistent", "in a stream, by the host",
                                                  "in a stream"};
  return names.at(static_cast<std::size_t>(start));
}
[[nodiscard]] inline std::string_view name_of(trace::Action action) {
  constexpr std::array<std::string_view, 8> names{"send",  "receive", "receive and reduce", "reduce", "copy", "fetch",
                                                  "store", "finish"};
  return names.at(static_cast<std::size_t>(action));
}
[[nodiscard]] inline std::string_view name_of(trace::Way way) {
  constexpr std::array<std::string_view, 6> names{"-", "shared memory", "CUDA IPC", "MPI", "network", "device"};
  return names.at(static_cast<std::size_t>(way));
}
[[nodiscard]] inline bool is_receive(trace::Action action) {
  return action == trace::Action::recv || action == trace::Action::recv_reduce;
}

/// The timeline in the JSON of Chrome's trace events, which Perfetto and chrome://tracing show: a process for each
/// rank, tracks for its calls, sends, receives, work and waits, and an arrow for each message. It is given to `write`
/// in pieces.
void write_timeline(const TracedJob& job, const std::function<void(std::string_view)>& write);

/// One collective as SVG: ranks from top to bottom, time from left to right. `sequence`: its number in the communicator
/// of that name; empty: in the only one that has it. Throws InputError if there is no such operation, or if it has too
/// many steps.
[[nodiscard]] std::string operation_svg(const TracedJob& job, std::uint64_t sequence, std::string_view communicator);

}  // namespace tutti::tool
