#pragma once
// Pools of memory, whose allocations are ordered by streams.

#include <cuda.h>

namespace fake_cuda {

/// Whether cuMemPoolSetAccess gave the device access to a pool of another device.
bool pool_reaches(CUmemoryPool pool, int device);

}  // namespace fake_cuda
