// Calls on device memory, over the fake driver: every one is refused before any message is posted, and the communicator
// stays usable.
#include "lib/cuda/driver.hpp"
#include "tests/cuda/cuda_support.hpp"
#include "tests/support/mpi_support.hpp"
#include "tests/support/program_checks.hpp"

namespace tutti::test {
namespace {

using cuda::of_driver;

class DeviceBuffers : public testing::Test {
 protected:
  static constexpr std::size_t count = 1000;

  void SetUp() override {
    if (cuda::driver() == nullptr) GTEST_SKIP() << cuda::why_no_driver();
    CUcontext context = nullptr;
    CUdeviceptr pointer = 0;
    EXPECT_EQ(of_driver<decltype(cuDevicePrimaryCtxRetain)>("cuDevicePrimaryCtxRetain")(&context, 0), CUDA_SUCCESS);
    EXPECT_EQ(of_driver<decltype(cuCtxSetCurrent)>("cuCtxSetCurrent")(context), CUDA_SUCCESS);
    EXPECT_EQ(of_driver<decltype(cuMemAlloc)>("cuMemAlloc_v2")(&pointer, count * sizeof(float)), CUDA_SUCCESS);
    data_ = reinterpret_cast<float*>(pointer);
  }
  void expect_works() {
    std::vector<float> in(count, 1), out(count);
    allreduce(std::span{std::as_const(in)}, std::span{out}, Op::sum, comm_);
    EXPECT_EQ(out[count - 1], static_cast<float>(comm_.size()));
  }

  Communicator comm_{MPI_COMM_WORLD};
  float* data_ = nullptr;
};

TEST_F(DeviceBuffers, AreRefusedByName) {
  std::vector<float> host(count, 1);
  expect_throw<ArgumentError>([&] { allreduce(data_, host.data(), Count{count}, Type::fp32, Op::sum, comm_); },
                              {"argument 'in'", "CUDA device memory (device 0)", "memory that the host can read"});
  expect_throw<ArgumentError>([&] { allreduce(host.data(), data_, Count{count}, Type::fp32, Op::sum, comm_); },
                              {"argument 'out'", "CUDA device memory (device 0)"});
  expect_works();
}

TEST_F(DeviceBuffers, AreRefusedBehindACallThatRepeats) {
  for (int i = 0; i < 3; ++i)
    expect_works();
  std::vector<float> host(count, 1);
  for (int i = 0; i < 3; ++i)
    EXPECT_THROW(allreduce(data_, host.data(), Count{count}, Type::fp32, Op::sum, comm_), ArgumentError);
  expect_works();
}

}  // namespace
}  // namespace tutti::test
