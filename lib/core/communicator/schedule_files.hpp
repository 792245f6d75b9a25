#pragma once
// The files of schedules that a communicator runs: rank 0 reads and proves them.

#include <string_view>

#include "tutti/communicator.hpp"
#include "tutti/schedule.hpp"

namespace tutti::detail {

/// Reads the files that the settings and the rules of a new communicator name, as far as its calls may use them.
/// Collective, on the communicator itself. A file for another number of ranks is left out. Throws ArgumentError on all
/// ranks if one cannot be read, is wrong, or is not proved.
void read_schedule_files(const Communicator& comm);

/// Reads the file that a call names, "file:PATH", unless the communicator has it; then as above, and a file for another
/// number of ranks is refused, too.
void require_schedule_file(const Communicator& comm, Collective collective, std::string_view name);

}  // namespace tutti::detail
