#pragma once
// Handles for other processes, of the same user and PID namespace: they say where the file of an allocation is open.

#include <cuda.h>

#include <cstdint>
#include <cstring>

#include "tests/fake_cuda/driver/region.hpp"

namespace fake_cuda {

struct Ticket {
  static constexpr std::uint64_t of_memory = 0xfa4ecda3, of_event = 0xfa4ecda4, of_fabric = 0xfa4ecda5,
                                 of_pool = 0xfa4ecda6, of_pool_memory = 0xfa4ecda7;
  std::uint64_t magic = 0;
  int owner = 0, file = 0;  ///< The process, and its descriptor.
  int device = 0, maker = 0;
  std::uint64_t bytes = 0, base = 0, id = 0;  ///< With its maker, the id of an allocation or a pool is unique.
};

template <class Handle>
void write(Handle* handle, const Ticket& ticket) {
  static_assert(sizeof(Ticket) <= sizeof(Handle));
  std::memset(handle, 0, sizeof *handle);
  std::memcpy(handle, &ticket, sizeof ticket);
}
template <class Handle>
Ticket read(const Handle& handle) {
  Ticket ticket;
  std::memcpy(static_cast<void*>(&ticket), &handle, sizeof ticket);
  return ticket;
}

/// A mask of CUmemAllocationHandleType: those that the driver has.
unsigned handle_types();
/// The owner's file; -1: it is not there.
int open_file(const Ticket& ticket);
/// A mapping of the owner's memory that is not yet known to Memory; nullptr: it was freed.
RegionPointer map_memory(const Ticket& ticket, Context* context, RegionKind kind);

}  // namespace fake_cuda
