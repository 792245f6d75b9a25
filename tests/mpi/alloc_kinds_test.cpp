// Lists of kinds of memory, as MPIs give them in "mpi_memory_alloc_kinds".
#include <gtest/gtest.h>

#include "lib/core/transport/mpi/dialect.hpp"

namespace tutti::mpi {
namespace {

TEST(MemoryAllocKinds, HaveDevicesOfCuda) {
  for (const char* const kinds : {"cuda", "system,cuda", "cuda:device", "system,mpi,cuda:host:device",
                                  "cuda:device,mpi", "cuda:host,cuda:device:managed"})
    EXPECT_TRUE(has_cuda_device(kinds)) << kinds;
}

TEST(MemoryAllocKinds, HaveNone) {
  for (const char* const kinds : {"", "system,mpi", "cuda:host", "cuda:managed,rocm:device", "mpi:alloc_mem,cuda:host",
                                  "cudax", "cuda:devices", "rocm:cuda:device", ",", ",,system"})
    EXPECT_FALSE(has_cuda_device(kinds)) << kinds;
}

}  // namespace
}  // namespace tutti::mpi
