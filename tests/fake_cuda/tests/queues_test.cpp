// The order in which operations of several streams reach a device that has several hardware queues.
#include <cstdio>
#include <cstdlib>

#include "tests/fake_cuda/tests/queues_fixture.hpp"

namespace fake_cuda {
namespace {

using SeveralQueues = Queues;

TEST_F(SeveralQueues, LetOtherStreamsPassAWait) {
  wait_for(released_, streams_[0]);
  store_by_kernel(0, streams_[1]);
  EXPECT_CUDA(cuMemsetD32Async(word(1), 5, 1, streams_[2]));
  EXPECT_CUDA(cuMemcpyDtoDAsync(word(2), word(3), 4, streams_[3]));
  for (const std::size_t passing : {1, 2, 3})
    EXPECT_CUDA(cuStreamSynchronize(streams_[passing]));
  expect_held_back(streams_[0]);
}

/// Whether a stream goes on while others wait that were made before it.
TEST_F(SeveralQueues, AreSharedByStreamsInTurnOrNot) {
  constexpr std::size_t most = 40;
  std::array<CUstream, 2 * most> all{};
  for (CUstream& each : all)
    each = stream();
  std::size_t waiting = 0;
  for (; waiting < most; ++waiting) {
    store_by_kernel(1, all[most + waiting]);
    for (int looks = 0; looks < 20 && cuStreamQuery(all[most + waiting]) != CUDA_SUCCESS; ++looks)
      let_run();
    if (cuStreamQuery(all[most + waiting]) != CUDA_SUCCESS) break;
    if (!can_wait_for(released_, all[waiting])) GTEST_SKIP() << "streams refuse to wait for words";
  }
  if (waiting == most)
    std::printf("model: no two of %zu streams share a hardware queue\n", all.size());
  else
    std::printf("model: a stream is behind one of %zu others that wait\n", waiting);
  if (is_fake()) {
    EXPECT_EQ(waiting == most, ::getenv("FAKE_CUDA_SHARED_QUEUES") == nullptr);
  }
  EXPECT_GE(waiting, 1U);
}

/// Tutti's own streams have the greatest priority.
TEST_F(SeveralQueues, AreNotSharedByStreamsOfOtherPriorities) {
  int least = 0, greatest = 0;
  EXPECT_CUDA(cuCtxGetStreamPriorityRange(&least, &greatest));
  if (least == greatest) GTEST_SKIP() << "the device knows no priorities";
  CUstream urgent = nullptr;
  EXPECT_CUDA(cuStreamCreateWithPriority(&urgent, CU_STREAM_NON_BLOCKING, greatest));
  std::array<CUstream, 40> all{};
  for (CUstream& each : all)
    each = stream();
  for (CUstream each : all)
    wait_for(released_, each);
  store_by_kernel(1, urgent);
  EXPECT_CUDA(cuStreamSynchronize(urgent));
  EXPECT_EQ(cuStreamQuery(urgent), CUDA_SUCCESS);
}

}  // namespace
}  // namespace fake_cuda
