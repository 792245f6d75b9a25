// Buffers in memory that the program maps itself (cuMemCreate, cuMemMap): it belongs to no context, and a buffer may
// span several allocations.
#include <array>

#include "tests/mpi/device_cases.hpp"
#include "tests/mpi/mapped_memory.hpp"
#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

using DeviceMapped = OnDevices;

TEST_F(DeviceMapped, BuffersAreTaken) {
  const Communicator comm{MPI_COMM_WORLD};
  const Mapped mapped{world_rank() % devices_.count()};
  std::vector<std::int32_t> numbers(mapped.bytes() / sizeof(std::int32_t)), found(numbers.size());
  for (std::size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<std::int32_t>(i) + world_rank();
  devices_.copy(mapped.data(), numbers.data(), mapped.bytes());
  allreduce(DeviceSpan{reinterpret_cast<std::int32_t*>(mapped.data()), numbers.size()}, Op::sum, comm);
  allreduce(numbers, Op::sum, comm);
  devices_.copy(found.data(), mapped.data(), mapped.bytes());
  EXPECT_EQ(found, numbers);
}

}  // namespace
}  // namespace tutti::test
