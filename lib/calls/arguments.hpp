#pragma once
// Checks of the arguments that users pass, all before any message is posted.

#include <mpi.h>

#include <string_view>

#include "lib/memory/memory_kind.hpp"
#include "tutti/communicator.hpp"
#include "tutti/datatype.hpp"
#include "tutti/op.hpp"
#include "tutti/schedule.hpp"

namespace tutti {

/// "allreduce on rank 3": the beginning of an error message.
struct CallSite {
  std::string_view function;
  Rank rank;
};

[[noreturn]] void refuse(const CallSite& call, std::string_view argument, std::string_view given,
                         std::string_view allowed);

/// Whether a pointer is MPI_IN_PLACE, which is no memory: (void*)1 in some MPIs, (void*)-1 in others.
[[nodiscard]] inline bool is_in_place(const void* data) { return data == MPI_IN_PLACE; }

/// One of the element types.
void require_type(const CallSite& call, std::string_view argument, Type type);
/// count >= 0, and its bytes addressable.
void require_count(const CallSite& call, Count count, Type type);
/// Not device memory.
void require_readable(const CallSite& call, std::string_view argument, const Memory& memory);
/// Unless count is 0: not null, not an address that MPI uses as a mark, not device memory.
void require_buffer(const CallSite& call, std::string_view argument, const void* data, Count count);
/// The operation exists for the type, and in the collective.
void require_operation(const CallSite& call, const Op& op, Type type, Collective collective);

}  // namespace tutti
