#pragma once
// Memory that has handles for other processes, and a peer that opens them.

#include <unistd.h>

#include <optional>

#include "tests/fake_cuda/tests/cuda_fixture.hpp"
#include "tests/fake_cuda/tests/peer.hpp"

namespace fake_cuda {

class Shareable : public Cuda {
 protected:
  void SetUp() override {
    peer_.emplace(TUTTI_FAKE_CUDA_PEER);
    Cuda::SetUp();
  }
  static CUmemAllocationProp properties(CUmemAllocationHandleType types) {
    CUmemAllocationProp made{};
    made.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    made.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    made.requestedHandleTypes = types;
    return made;
  }
  CUdeviceptr mapped(CUmemGenericAllocationHandle handle) {
    CUdeviceptr pointer = 0;
    const CUmemAccessDesc access{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    EXPECT_CUDA(cuMemAddressReserve(&pointer, bytes_, 0, 0, 0));
    EXPECT_CUDA(cuMemMap(pointer, bytes_, 0, handle, 0));
    EXPECT_CUDA(cuMemSetAccess(pointer, bytes_, &access, 1));
    return pointer;
  }
  CUresult create(CUmemGenericAllocationHandle& handle, CUmemAllocationHandleType types) {
    const CUmemAllocationProp wanted = properties(types);
    EXPECT_CUDA(cuMemGetAllocationGranularity(&bytes_, &wanted, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    return cuMemCreate(&handle, bytes_, &wanted, 0);
  }
  static CUmemoryPool pool(CUmemAllocationHandleType types) {
    CUmemPoolProps wanted{};
    wanted.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    wanted.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    wanted.handleTypes = types;
    CUmemoryPool made = nullptr;
    EXPECT_CUDA(cuMemPoolCreate(&made, &wanted));
    return made;
  }
  template <class T>
  static T ask(CUpointer_attribute which, CUdeviceptr pointer) {
    T value{};
    EXPECT_CUDA(cuPointerGetAttribute(&value, which, pointer));
    return value;
  }
  /// Memory of a pool that the peer has opened.
  CUdeviceptr opened(CUmemoryPool made) {
    const CUstream one = stream();
    CUdeviceptr pointer = 0;
    CUmemPoolPtrExportData data{};
    int file = -1;
    EXPECT_CUDA(cuMemAllocFromPoolAsync(&pointer, 4096, made, one));
    EXPECT_CUDA(cuMemsetD32Async(pointer, 91, 4, one));
    EXPECT_CUDA(cuStreamSynchronize(one));
    EXPECT_CUDA(cuMemPoolExportToShareableHandle(&file, made, posix, 0));
    EXPECT_EQ(peer_->open_pool(file), CUDA_SUCCESS);
    ::close(file);
    EXPECT_CUDA(cuMemPoolExportPointer(&data, pointer));
    EXPECT_EQ(peer_->open(data), CUDA_SUCCESS);
    return pointer;
  }

  static constexpr auto none = CU_MEM_HANDLE_TYPE_NONE, posix = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR,
                        fabric = CU_MEM_HANDLE_TYPE_FABRIC;
  std::size_t bytes_ = 0;
  std::optional<Peer> peer_;
};

}  // namespace fake_cuda
