// The order in which operations of several streams reach a device that has one hardware queue.
#include <cstdlib>

#include "tests/fake_cuda/tests/queues_fixture.hpp"

namespace fake_cuda {
namespace {

/// The driver reads it when it begins: so these tests are a program of their own.
[[maybe_unused]] const int is_set = ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 1);

/// Ends once the host writes 1 to the word at its parameter.
constexpr const char* spin = R"(  .reg .pred %p<2>;
again:
  ld.volatile.global.u32 %r1, [%rd1];
  setp.ne.u32 %p1, %r1, 1;
  @%p1 bra again;)";

using OneQueue = Queues;

TEST_F(OneQueue, HoldsKernelsBackBehindAWait) {
  store_by_kernel(0, streams_[1]);
  wait_for(released_, streams_[0]);
  EXPECT_CUDA(cuStreamSynchronize(streams_[1])) << "it was issued before the wait";
  store_by_kernel(1, streams_[1]);
  store_by_kernel(2, streams_[2]);
  let_run();
  expect_held_back(streams_[1]);
  expect_held_back(streams_[2]);
  release();
  EXPECT_CUDA(cuStreamSynchronize(streams_[1]));
  EXPECT_CUDA(cuStreamSynchronize(streams_[2]));
  for (const int number : {0, 1, 2})
    EXPECT_EQ(first_word(word(number)), 5);
}

TEST_F(OneQueue, HoldsCopiesAndFillsBackBehindAWait) {
  if (!is_fake()) GTEST_SKIP() << "real devices may have other queues for copies";
  wait_for(released_, streams_[0]);
  EXPECT_CUDA(cuMemsetD32Async(word(1), 5, 1, streams_[1]));
  EXPECT_CUDA(cuMemcpyDtoDAsync(word(2), word(3), 4, streams_[2]));
  let_run();
  expect_held_back(streams_[1]);
  expect_held_back(streams_[2]);
  release();
  EXPECT_CUDA(cuStreamSynchronize(streams_[1]));
  EXPECT_CUDA(cuStreamSynchronize(streams_[2]));
}

/// A kernel that runs has left the queue; what has to wait for it has not.
TEST_F(OneQueue, HoldsBackBehindAWaitForAnEvent) {
  const CUfunction spinning = loaded(spin);
  const CUevent done = event();
  EXPECT_CUDA(launch(spinning, reinterpret_cast<CUdeviceptr>(released_), streams_[0]));
  store_by_kernel(0, streams_[1]);
  EXPECT_CUDA(cuStreamSynchronize(streams_[1]));
  EXPECT_CUDA(cuEventRecord(done, streams_[0]));
  EXPECT_CUDA(cuStreamWaitEvent(streams_[2], done, 0));
  store_by_kernel(1, streams_[1]);
  let_run();
  expect_held_back(streams_[1]);
  release();
  EXPECT_CUDA(cuStreamSynchronize(streams_[1]));
}

TEST_F(OneQueue, HoldsBackBehindAFunctionOfTheHost) {
  if (!is_fake()) GTEST_SKIP() << "not known of real devices";
  EXPECT_CUDA(cuLaunchHostFunc(
      streams_[0],
      [](void* released) {
        while (*static_cast<volatile int*>(released) == 0)
          std::this_thread::yield();
      },
      const_cast<int*>(released_)));
  store_by_kernel(0, streams_[1]);
  let_run();
  expect_held_back(streams_[1]);
  release();
  EXPECT_CUDA(cuStreamSynchronize(streams_[1]));
}

TEST_F(OneQueue, IsOfOneContext) {
  if (!is_fake()) GTEST_SKIP() << "real devices may take contexts in turns, and late";
  CUcontext other = nullptr;
  EXPECT_CUDA(cuCtxCreate(&other, nullptr, 0, 0));
  const CUstream there = stream();
  const CUdeviceptr memory = allocated(64);
  EXPECT_CUDA(cuCtxSetCurrent(context_));
  wait_for(released_, streams_[0]);
  EXPECT_CUDA(cuCtxSetCurrent(other));
  EXPECT_CUDA(cuMemsetD32Async(memory, 1, 1, there));
  EXPECT_CUDA(cuStreamSynchronize(there));
  EXPECT_CUDA(cuCtxDestroy(other));
  EXPECT_CUDA(cuCtxSetCurrent(context_));
  expect_held_back(streams_[0]);
}

/// In topological order: the branches of a graph do not hold each other up for ever.
TEST_F(OneQueue, TakesTheNodesOfAGraphOneAfterTheOther) {
  volatile int* const reached = flag();
  const CUgraphExec graph = captured(streams_[0], [&] {
    order(streams_[0], streams_[1]);
    store_by_kernel(0, streams_[0]);
    store_by_kernel(1, streams_[1]);
    EXPECT_CUDA(cuStreamWriteValue32(streams_[1], reinterpret_cast<CUdeviceptr>(reached), 1, 0));
    wait_for(released_, streams_[0]);
    store_by_kernel(2, streams_[1]);
    order(streams_[1], streams_[0]);
    store_by_kernel(3, streams_[0]);
  });
  for (int round = 0; round < 10; ++round) {
    *released_ = 0;
    *reached = 0;
    EXPECT_CUDA(cuGraphLaunch(graph, streams_[2]));
    EXPECT_CUDA(cuGraphLaunch(graph, streams_[3]));
    store_by_kernel(4, streams_[0]);
    while (*reached == 0)
      std::this_thread::yield();
    expect_held_back(streams_[0]);
    release();
    for (CUstream each : streams_)
      EXPECT_CUDA(cuStreamSynchronize(each));
  }
}

}  // namespace
}  // namespace fake_cuda
