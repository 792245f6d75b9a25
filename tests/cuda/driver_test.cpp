// The table of the driver's functions, also where the fake driver lacks some (FAKE_CUDA_MISSING).
#include "lib/device/driver/driver.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <string_view>

#include "tests/cuda/cuda_support.hpp"

namespace tutti::cuda {
namespace {

std::string_view missing() {
  const char* const names = std::getenv("FAKE_CUDA_MISSING");
  return names == nullptr ? "" : names;
}

class DriverTable : public CudaDevice {
 protected:
  /// A sum of four numbers and themselves.
  void expect_kernels() {
    const std::vector<std::int32_t> values{1, 2, 3, 4};
    std::vector<std::int32_t> sums(4);
    const DeviceBuffer in{*device_, 16}, out{*device_, 16};
    copy_now(std::bit_cast<std::byte*>(in.address()), std::as_bytes(std::span{values}).data(), 16);
    const std::array inputs{in.address(), in.address()};
    const std::array outputs{out.address()};
    device_->kernels().reduce(Op::Kind::sum, Type::int32, inputs, outputs, Count{4}, device_->next_stream());
    check(of_driver<decltype(cuCtxSynchronize)>("cuCtxSynchronize")(), "cuCtxSynchronize");
    copy_now(std::as_writable_bytes(std::span{sums}).data(), std::bit_cast<std::byte*>(out.address()), 16);
    EXPECT_EQ(sums, (std::vector<std::int32_t>{2, 4, 6, 8}));
  }
};

/// Their first launches load nothing, so they may come beside work that waits for the host.
TEST_F(DriverTable, KernelsAreLoadedAheadOfLaunches) {
  if (!missing().empty()) GTEST_SKIP() << "for a driver that has all functions";
  if (driver()->FuncLoad == nullptr) GTEST_SKIP() << "the driver is older than CUDA 12.4";
  auto* const alloc = of_driver<decltype(cuMemHostAlloc)>("cuMemHostAlloc");
  auto* const wait = of_driver<decltype(cuStreamWaitValue32)>("cuStreamWaitValue32_v2");
  const DeviceBuffer memory{*device_, 16};
  void* words = nullptr;
  check(alloc(&words, 4, 0), "cuMemHostAlloc");
  auto* const flag = static_cast<volatile int*>(words);
  *flag = 0;
  auto* const waiting = device_->next_stream();
  check(wait(waiting, std::bit_cast<CUdeviceptr>(words), 1, CU_STREAM_WAIT_VALUE_EQ), "cuStreamWaitValue32");
  device_->kernels().divide(Type::fp32, memory.address(), Count{4}, 2, device_->next_stream());
  device_->kernels().scale(Type::fp64, memory.address(), Count{2}, 2, device_->next_stream());
  EXPECT_EQ(fake_counters().faults, 0U);
  *flag = 1;
  check(driver()->StreamSynchronize(waiting), "cuStreamSynchronize");
  expect_kernels();
}

TEST_F(DriverTable, KernelsRunWithoutCuFuncLoad) {
  if (missing() != "cuFuncLoad") GTEST_SKIP() << "for a driver without cuFuncLoad";
  EXPECT_EQ(driver()->FuncLoad, nullptr);
  expect_kernels();
}

TEST(DriverTableTest, AFunctionThatIsMissingIsNamed) {
  if (missing() != "cuMemAlloc") GTEST_SKIP() << "for a driver without cuMemAlloc";
  EXPECT_EQ(driver(), nullptr);
  EXPECT_EQ(why_no_driver(), "libcuda.so.1 has no cuMemAlloc");
}

}  // namespace
}  // namespace tutti::cuda
