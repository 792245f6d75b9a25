#pragma once
// Memory that the program maps itself (cuMemCreate, cuMemMap).

#include <gtest/gtest.h>

#include "tests/cuda/cuda_support.hpp"

namespace tutti::test {

using cuda::check;
using cuda::of_driver;

/// One page of it, with access for its device.
class Mapped {
 public:
  explicit Mapped(int device, CUmemAllocationHandleType handles = CU_MEM_HANDLE_TYPE_NONE) {
    CUmemAllocationProp kind{};
    kind.requestedHandleTypes = handles;
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

}  // namespace tutti::test
