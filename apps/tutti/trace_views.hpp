#pragma once
// Pictures of a traced job.

#include <functional>
#include <string>
#include <string_view>

#include "apps/tutti/trace_job.hpp"

namespace tutti::tool {

/// The timeline in the JSON of Chrome's trace events, which Perfetto and chrome://tracing show: a process for each
/// rank, tracks for its calls, sends, receives, work and waits, and an arrow for each message. It is given to `write`
/// in pieces.
void write_timeline(const TracedJob& job, const std::function<void(std::string_view)>& write);

/// One collective as SVG: ranks from top to bottom, time from left to right. `sequence`: its number in the communicator
/// of that name; empty: in the only one that has it. Throws InputError if there is no such operation, or if it has too
/// many steps.
[[nodiscard]] std::string operation_svg(const TracedJob& job, std::uint64_t sequence, std::string_view communicator);

}  // namespace tutti::tool
