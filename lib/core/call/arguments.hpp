#pragma once
// Checks of the arguments that users pass, all before any message is posted.

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "lib/core/memory/memory_kind.hpp"
#include "lib/device/driver/device_error.hpp"
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

/// The memory of a buffer: its device, by number (lib/device/staging), -1 if it is the host's, and the allocation.
struct BufferMemory {
  int device = -1;
  std::uint64_t allocation = 0;
};

[[noreturn]] void refuse(const CallSite& call, std::string_view argument, std::string_view given,
                         std::string_view allowed);

/// Whether a pointer is MPI_IN_PLACE, which is no memory: (void*)1 in some MPIs, (void*)-1 in others.
[[nodiscard]] inline bool is_in_place(const void* data) { return data == MPI_IN_PLACE; }

/// One of the element types.
void require_type(const CallSite& call, std::string_view argument, Type type);
/// count >= 0, and its bytes addressable.
void require_count(const CallSite& call, Count count, Type type);
/// The elements of a buffer that a call uses, [first, last).
struct UsedElements {
  Count first{}, last{};
};
/// If any elements are used: not null, not an address that MPI uses as a mark, and all of them in memory of this
/// process, of the host or on one device.
[[nodiscard]] BufferMemory require_buffer(const CallSite& call, std::string_view argument, const void* data,
                                          UsedElements used, Type type);
/// Returns what allocation_of() does; errors name call and argument.
[[nodiscard]] Allocation allocation_at(const CallSite& call, std::string_view argument, const void* data);
/// Throws ArgumentError for a call on device buffers for which there is no memory.
[[noreturn]] void refuse_for_memory(const CallSite& call, std::string_view argument, std::int64_t count,
                                    std::string_view missing);
/// Throws Error for a call whose device failed before any message was posted.
[[noreturn]] void fail_at(const CallSite& call, const DeviceError& error);
/// The operation exists for the type, and in the collective.
void require_operation(const CallSite& call, const Op& op, Type type, Collective collective);

}  // namespace tutti
