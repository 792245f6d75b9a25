#pragma once
// Tutti memory, which the other ranks of the node read and write in place (tutti/memory.hpp), and memory of devices
// (tutti/device_memory.hpp).

#include "tutti/c/types.h"

/// Zeros, from a page on. A communicator over MPI_COMM_WORLD must have been made before.
TUTTI_C_API tutti_status tutti_allocate(int64_t bytes, void** data);
/// NULL does nothing.
TUTTI_C_API tutti_status tutti_deallocate(void* data);

/// Allocates on the CUDA device whose context is current, with undefined contents.
TUTTI_C_API tutti_status tutti_allocate_device(int64_t bytes, void** data);
/// NULL does nothing.
TUTTI_C_API tutti_status tutti_deallocate_device(void* data);
/// An argument error unless a CUDA device reads and writes the memory, as DeviceSpan in C++. Calls need no such check:
/// they find out by themselves where their buffers are. NULL is allowed if `bytes` is 0.
TUTTI_C_API tutti_status tutti_require_device_memory(const void* data, int64_t bytes);
