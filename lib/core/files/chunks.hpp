#pragma once
// Schedules in chunks, for any number of elements.

#include <cstdint>
#include <string>
#include <vector>

#include "lib/core/files/schedule_file.hpp"
#include "tutti/schedule.hpp"

namespace tutti {

/// Which chunk of a block each place in scratch holds, where the schedule of one rank uses it: for its regions in
/// scratch, in the order of steps and in steps in that of their members, all chunks one after the other.
using HeldChunks = std::vector<std::int64_t>;

struct ChunksOfFile {
  std::vector<HeldChunks> held{};  ///< By rank.
  /// The first step in which different chunks of a block meet, in a reduction, a copy or a message; empty: there is
  /// none. Then chunks may differ in length.
  std::string unlike{};
};

/// Plays the schedules of the file, which must be proved for a chunk an element. O(steps + chunks).
[[nodiscard]] ChunksOfFile find_chunks(const ScheduleFile& file);

/// A schedule for `count` elements, cut into `chunks` blocks as even as possible. A chunk in scratch is as long as the
/// chunk whose values it holds. `held` is used only where the chunks do not divide the elements. O(steps + chunks).
[[nodiscard]] Schedule scaled(const Schedule& schedule, const HeldChunks& held, std::int64_t chunks, Count count);

}  // namespace tutti
