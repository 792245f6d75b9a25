// Races among many accesses to one allocation: none is forgotten, and those that cannot race any more take no room.
#include <thread>

#include "tests/fake_cuda/tests/faults_fixture.hpp"

namespace fake_cuda {
namespace {

constexpr std::size_t word = 4;

class Races : public Faults {
 protected:
  static void write(CUdeviceptr at, std::size_t words, CUstream stream) {
    EXPECT_CUDA(cuMemsetD32Async(at, 1, words, stream));
  }
  /// Returns once the stream has done its work, of which the driver does not tell the host.
  static void let_run(CUstream stream) {
    volatile int* const flag = pinned<int>(1);
    *flag = 0;
    EXPECT_CUDA(cuStreamWriteValue32(stream, reinterpret_cast<CUdeviceptr>(flag), 1, 0));
    while (*flag == 0)
      std::this_thread::yield();
  }
};

TEST_F(Races, WithAnAccessFarBackAreFound) {
  constexpr std::size_t accesses = 1000;
  const CUdeviceptr memory = allocated((2 * accesses + 1) * word);
  const CUstream early = stream(), busy = stream(), late = stream();
  write(memory, 1, early);
  let_run(early);
  for (std::size_t i = 1; i <= accesses; ++i)
    write(memory + 2 * i * word, 1, busy);  // with a gap, so that none stands for another
  EXPECT_CUDA(cuStreamSynchronize(busy));
  write(memory, 1, late);
  EXPECT_CUDA(cuStreamSynchronize(late));
  EXPECT_EQ(caught("race"), 1U);
}

TEST_F(Races, WithThePartOfAnAccessThatNoLaterOneCoveredAreFound) {
  const CUdeviceptr memory = allocated(64);
  const CUstream one = stream(), other = stream();
  write(memory, 8, one);
  EXPECT_CUDA(cuStreamSynchronize(one));
  write(memory, 8, one);
  write(memory + 2 * word, 2, one);  // a part in the middle
  write(memory, 1, one);             // and the beginning
  let_run(one);
  EXPECT_CUDA(cuMemcpyDtoDAsync(memory + 12 * word, memory + word, word, other));
  EXPECT_CUDA(cuStreamSynchronize(other));
  EXPECT_EQ(caught("race"), 1U);
  EXPECT_CUDA(cuMemcpyDtoDAsync(memory + 12 * word, memory + 7 * word, word, other));
  EXPECT_CUDA(cuStreamSynchronize(other));
  EXPECT_EQ(caught("race"), 2U);
}

/// A read does not stand for a write, which another read would race with.
TEST_F(Races, WithAWriteThatItsStreamReadAreFound) {
  const CUdeviceptr memory = allocated(64);
  const CUstream one = stream(), other = stream();
  write(memory, 1, one);
  EXPECT_CUDA(cuMemcpyDtoDAsync(memory + 8 * word, memory, word, one));
  EXPECT_CUDA(cuMemcpyDtoDAsync(memory + 12 * word, memory, word, other));
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(caught("race"), 1U);
}

TEST_F(Races, LongRunsNeedNoRoom) {
  constexpr int rounds = 20'000;
  const CUdeviceptr memory = allocated(4096 * word);
  const CUstream streams[] = {stream(), stream()};
  const CUevent done = event();
  for (int i = 0; i < rounds; ++i) {
    write(memory + static_cast<std::size_t>(i * 7 % 2048) * word, 1 + static_cast<std::size_t>(i) % 1000,
          streams[i % 2]);
    EXPECT_CUDA(cuEventRecord(done, streams[i % 2]));
    EXPECT_CUDA(cuStreamWaitEvent(streams[(i + 1) % 2], done, 0));
  }
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(caught(nullptr), 0U);
}

/// Other words each time, whose accesses nothing covers: a host that has waited for all of them forgets them.
TEST_F(Races, WhatTheHostHasSeenTheEndOfIsForgotten) {
  constexpr std::size_t rounds = 100, accesses = 500;
  const CUdeviceptr memory = allocated(2 * rounds * accesses * word);
  const CUstream one = stream();
  for (std::size_t i = 0; i < rounds * accesses; ++i) {
    write(memory + 2 * i * word, 1, one);
    if (i % accesses == 0) {
      EXPECT_CUDA(cuStreamSynchronize(one));
    }
  }
  EXPECT_CUDA(cuStreamSynchronize(one));
  EXPECT_EQ(caught(nullptr), 0U);
}

TEST_F(Races, MoreAccessesThanThereIsRoomForAreAFault) {
  constexpr std::size_t accesses = 33'000;
  const CUdeviceptr memory = allocated(2 * accesses * word);
  const CUstream one = stream();
  volatile int* const flag = pinned<int>(1);
  *flag = 0;
  EXPECT_CUDA(cuStreamWaitValue32(stream(), reinterpret_cast<CUdeviceptr>(flag), 1, CU_STREAM_WAIT_VALUE_EQ));
  for (std::size_t i = 0; i < accesses; ++i)
    write(memory + 2 * i * word, 1, one);
  EXPECT_CUDA(cuStreamSynchronize(one));
  *flag = 1;
  EXPECT_GE(caught("no-room"), 1U);
}

/// One hardware queue is no order of accesses.
class OneQueueRaces : public Faults {
 protected:
  void SetUp() override {
    ::setenv("CUDA_DEVICE_MAX_CONNECTIONS", "1", 1);
    Faults::SetUp();
  }
};

TEST_F(OneQueueRaces, AreFoundAllTheSame) {
  const CUdeviceptr memory = allocated(64);
  EXPECT_CUDA(cuMemsetD32Async(memory, 1, 1, stream()));
  EXPECT_CUDA(cuMemsetD32Async(memory, 2, 1, stream()));
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(caught("race"), 1U);
}

}  // namespace
}  // namespace fake_cuda
