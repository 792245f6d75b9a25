#pragma once
// The files of schedules that a communicator runs: rank 0 reads and proves them.

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "lib/core/files/filed_algorithm.hpp"
#include "tutti/communicator.hpp"
#include "tutti/schedule.hpp"

namespace tutti::detail {

/// Reads the files that the settings and the rules of a new communicator name, as far as its calls may use them.
/// Collective, on the communicator itself. A file for another number of ranks is left out. Throws ArgumentError on all
/// ranks if one cannot be read, is wrong, or is not proved.
void read_schedule_files(const Communicator& comm);

/// The algorithm of schedules that have been proved, what they cost, and which calls they serve. ArgumentError with the
/// fault if they are wrong.
[[nodiscard]] std::shared_ptr<const FiledAlgorithm> proved(ScheduleFile file, std::string_view name);

/// What the names of schedules that programs build begin with.
inline constexpr std::string_view own_schedule_prefix = "file:own schedule ";

/// Finds the schedules on rank 0; may throw.
using FoundSchedules = std::function<std::shared_ptr<const FiledAlgorithm>()>;
/// Gives all ranks their part of what rank 0 finds: calls then find it by the name. Collective, on the communicator
/// itself. The reason why they are left out, as being for another number of ranks; empty: they are not. Throws
/// ArgumentError on all ranks if rank 0 has an error.
[[nodiscard]] std::string share_schedules(const Communicator& comm, Collective collective, std::string_view name,
                                          const FoundSchedules& find);

/// Reads the file that a call names, "file:PATH", unless the communicator has it; then as above, and a file for another
/// number of ranks is refused, too.
void require_schedule_file(const Communicator& comm, Collective collective, std::string_view name);

}  // namespace tutti::detail
