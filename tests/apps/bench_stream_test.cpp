// tutti-bench's batches of calls in a stream, over the fake driver or on a GPU.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include "apps/bench/calls.hpp"
#include "tests/support/device_memory.hpp"

namespace tutti::bench {
namespace {

class InStream : public testing::Test {
 protected:
  void SetUp() override { static_cast<void>(cuda::use_device(0)); }
  const test::TestDevices& devices_ = test::TestDevices::get();
};

TEST_F(InStream, ABatchIsOverWhenItReturns) {
  using Fill = int (*)(unsigned long long, unsigned char, std::size_t, CUstream_st*);
  void* const library = dlopen("libcuda.so.1", RTLD_NOW);
  ASSERT_NE(library, nullptr);
  const auto fill = reinterpret_cast<Fill>(dlsym(library, "cuMemsetD8Async"));
  const test::DeviceArray data{4};
  unsigned char value = 0;
  const auto put = [&] {
    ASSERT_EQ(fill(reinterpret_cast<unsigned long long>(data.data()), ++value, 4, cuda::stream()), 0);
  };
  repeater_in_stream(put)->run(3);
  std::array<std::byte, 4> contents{};
  cuda::read(data.data(), contents);
  EXPECT_EQ(contents[3], std::byte{3});
}

TEST_F(InStream, ABatchIsWaitedForOnceWhichIsNoWorkOfItsCalls) {
  if (!devices_.is_fake()) GTEST_SKIP() << "only the fake driver counts";
  int calls = 0;
  const auto batch = repeater_in_stream([&calls] { ++calls; });
  batch->run(1);
  const std::uint64_t waits = devices_.calls("cuStreamSynchronize");
  const cuda::DriverCounts before = cuda::driver_counts().value();
  batch->run(5);
  EXPECT_EQ(calls, 6);
  EXPECT_EQ(devices_.calls("cuStreamSynchronize"), waits + 1);
  const cuda::DriverCounts after = cuda::driver_counts().value();
  EXPECT_EQ(after.calls, before.calls);
  EXPECT_EQ(after.synchronisations, before.synchronisations);
}

}  // namespace
}  // namespace tutti::bench
