// Buffers in memory that the program maps itself (cuMemCreate, cuMemMap): it belongs to no context, and a buffer may
// span several allocations.
#include <array>

#include "tests/cuda/cuda_support.hpp"
#include "tests/mpi/device_cases.hpp"
#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

using cuda::check;
using cuda::of_driver;

class Mapped {
 public:
  explicit Mapped(int device) {
    CUmemAllocationProp kind{};
    kind.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    kind.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    kind.location.id = device;
    check(of_driver<decltype(cuMemGetAllocationGranularity)>("cuMemGetAllocationGranularity")(
              &bytes_, &kind, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
          "cuMemGetAllocationGranularity");
    check(of_driver<decltype(cuMemCreate)>("cuMemCreate")(&handle_, bytes_, &kind, 0), "cuMemCreate");
    check(of_driver<decltype(cuMemAddressReserve)>("cuMemAddressReserve")(&address_, bytes_, 0, 0, 0),
          "cuMemAddressReserve");
    check(of_driver<decltype(cuMemMap)>("cuMemMap")(address_, bytes_, 0, handle_, 0), "cuMemMap");
    CUmemAccessDesc access{};
    access.location = kind.location;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    check(of_driver<decltype(cuMemSetAccess)>("cuMemSetAccess")(address_, bytes_, &access, 1), "cuMemSetAccess");
  }
  Mapped(const Mapped&) = delete;
  Mapped& operator=(const Mapped&) = delete;
  ~Mapped() {
    EXPECT_EQ(of_driver<decltype(cuMemUnmap)>("cuMemUnmap")(address_, bytes_), CUDA_SUCCESS);
    EXPECT_EQ(of_driver<decltype(cuMemRelease)>("cuMemRelease")(handle_), CUDA_SUCCESS);
    EXPECT_EQ(of_driver<decltype(cuMemAddressFree)>("cuMemAddressFree")(address_, bytes_), CUDA_SUCCESS);
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  [[nodiscard]] std::byte* data() const { return std::bit_cast<std::byte*>(address_); }

 private:
  std::size_t bytes_ = 0;
  CUdeviceptr address_ = 0;
  CUmemGenericAllocationHandle handle_ = 0;
};

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
