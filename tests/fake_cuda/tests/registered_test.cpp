// Memory of the host that is registered, and functions of the host in streams, as real drivers have them.
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <memory>

#include "tests/fake_cuda/tests/cuda_fixture.hpp"

namespace fake_cuda {
namespace {

constexpr std::size_t size = 20'000;

class Registered : public Cuda {
 protected:
  void TearDown() override {
    ::munmap(pages_, size);
    Cuda::TearDown();
  }
  // Memory of malloc, and of mmap.
  std::unique_ptr<void, decltype(&std::free)> heap_{std::malloc(size), &std::free};
  void* pages_ = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
};

TEST_F(Registered, MemoryIsPinned) {
  const CUdeviceptr device = allocated(size);
  for (void* const memory : {heap_.get(), pages_}) {
    EXPECT_CUDA(cuMemHostRegister(memory, size, CU_MEMHOSTREGISTER_PORTABLE));
    unsigned type = 0;
    CUdeviceptr on_device = 0;
    const auto address = reinterpret_cast<CUdeviceptr>(memory);
    EXPECT_CUDA(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address + size - 1));
    EXPECT_EQ(type, CU_MEMORYTYPE_HOST);
    EXPECT_CUDA(cuMemHostGetDevicePointer(&on_device, memory, 0));
    EXPECT_EQ(on_device, address);
    std::memset(memory, 7, size);
    EXPECT_CUDA(cuMemcpyHtoDAsync(device, memory, size, nullptr));
    EXPECT_CUDA(cuMemsetD8Async(device + 1, 9, 1, nullptr));
    EXPECT_CUDA(cuMemcpyDtoHAsync(memory, device, size, nullptr));
    EXPECT_CUDA(cuStreamSynchronize(nullptr));
    EXPECT_EQ(static_cast<char*>(memory)[0], 7);
    EXPECT_EQ(static_cast<char*>(memory)[1], 9);
    EXPECT_EQ(static_cast<char*>(memory)[size - 1], 7);
    EXPECT_CUDA(cuMemHostUnregister(memory));
    EXPECT_CUDA_ERROR(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address),
                      CUDA_ERROR_INVALID_VALUE);
  }
}

TEST_F(Registered, MemoryIsRegisteredOnce) {
  EXPECT_CUDA(cuMemHostRegister(pages_, size, 0));
  EXPECT_CUDA_ERROR(cuMemHostRegister(pages_, size, 0), CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  EXPECT_CUDA_ERROR(cuMemHostRegister(static_cast<char*>(pages_) + 8192, 4096, 0),
                    CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED);
  EXPECT_CUDA(cuMemHostUnregister(pages_));
  EXPECT_CUDA_ERROR(cuMemHostUnregister(pages_), CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED);
  EXPECT_CUDA(cuMemHostRegister(pages_, size, 0));
  EXPECT_CUDA(cuMemHostUnregister(pages_));
}

TEST_F(Registered, MemoryIsReadByOtherProcesses) {
  EXPECT_CUDA(cuMemHostRegister(pages_, size, 0));
  const CUdeviceptr device = allocated(64);
  EXPECT_CUDA(cuMemsetD8(device, 5, 64));
  EXPECT_CUDA(cuMemcpyDtoHAsync(pages_, device, 64, nullptr));
  EXPECT_CUDA(cuStreamSynchronize(nullptr));
  char seen[64] = {};
  const iovec local{seen, sizeof seen}, remote{pages_, sizeof seen};
  ASSERT_EQ(::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0), 64);
  EXPECT_EQ(seen[63], 5);
  const iovec of_device{reinterpret_cast<void*>(device), sizeof seen};
  EXPECT_EQ(::process_vm_readv(::getpid(), &local, 1, &of_device, 1, 0), -1);
  EXPECT_CUDA(cuMemHostUnregister(pages_));
}

using HostFunctions = Cuda;

TEST_F(HostFunctions, RunInTheOrderOfTheStream) {
  struct State {
    int* word;
    std::vector<int> seen;
  } state{pinned<int>(1), {}};
  const CUdeviceptr memory = allocated(64);
  const CUstream one = stream();
  for (int i = 0; i < 5; ++i) {
    EXPECT_CUDA(cuMemsetD32Async(memory, static_cast<unsigned>(i), 1, one));
    EXPECT_CUDA(cuMemcpyDtoHAsync(state.word, memory, sizeof(int), one));
    EXPECT_CUDA(cuLaunchHostFunc(
        one,
        [](void* data) {
          auto& its = *static_cast<State*>(data);
          its.seen.push_back(*its.word);
        },
        &state));
  }
  EXPECT_CUDA(cuStreamSynchronize(one));
  EXPECT_EQ(state.seen, (std::vector<int>{0, 1, 2, 3, 4}));
}

}  // namespace
}  // namespace fake_cuda
