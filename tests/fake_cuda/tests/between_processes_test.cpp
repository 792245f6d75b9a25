// Faults between two processes, planted, and order between them that is none.
#include <chrono>
#include <optional>
#include <thread>

#include "tests/fake_cuda/tests/faults_fixture.hpp"
#include "tests/fake_cuda/tests/peer.hpp"

namespace fake_cuda {
namespace {

class BetweenProcesses : public Faults {
 protected:
  void SetUp() override {
    ::setenv("FAKE_CUDA_RACE", "1", 1);
    peer_.emplace(TUTTI_FAKE_CUDA_PEER);  // before CUDA: a child of a fork cannot use it
    third_.emplace(TUTTI_FAKE_CUDA_PEER);
    Faults::SetUp();
  }
  CUipcMemHandle handle_of(CUdeviceptr pointer) {
    CUipcMemHandle handle;
    EXPECT_CUDA(cuIpcGetMemHandle(&handle, pointer));
    return handle;
  }
  std::optional<Peer> peer_, third_;
};

TEST_F(BetweenProcesses, AnEventOrdersThem) {
  const CUdeviceptr memory = allocated(4096);
  const CUevent written = event(CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
  const CUstream one = stream();
  CUipcEventHandle handle;
  EXPECT_CUDA(cuIpcGetEventHandle(&handle, written));
  EXPECT_EQ(peer_->open(handle_of(memory)), CUDA_SUCCESS);
  EXPECT_CUDA(cuMemsetD32Async(memory, 42, 4, one));
  EXPECT_CUDA(cuEventRecord(written, one));
  EXPECT_EQ(peer_->wait_for(handle), CUDA_SUCCESS);
  const Peer::Answer answer = peer_->read();
  EXPECT_EQ(answer.value, 42);
  EXPECT_EQ(answer.faults, 0U);
  EXPECT_EQ(peer_->close().result, CUDA_SUCCESS);
}

TEST_F(BetweenProcesses, AHostThatWaitedMayTellTheOther) {
  const CUdeviceptr memory = allocated(4096);
  EXPECT_EQ(peer_->open(handle_of(memory)), CUDA_SUCCESS);
  EXPECT_CUDA(cuMemsetD32Async(memory, 43, 4, nullptr));
  EXPECT_CUDA(cuCtxSynchronize());
  const Peer::Answer answer = peer_->read();
  EXPECT_EQ(answer.value, 43);
  EXPECT_EQ(answer.faults, 0U);
}

TEST_F(BetweenProcesses, AMissingWaitIsARace) {
  const CUdeviceptr memory = allocated(4096);
  EXPECT_EQ(peer_->open(handle_of(memory)), CUDA_SUCCESS);
  EXPECT_CUDA(cuMemsetD32Async(memory, 44, 4, nullptr));
  std::this_thread::sleep_for(std::chrono::milliseconds{50});  // over, but nobody has looked
  EXPECT_EQ(peer_->read().faults, 1U);
}

TEST_F(BetweenProcesses, ARaceWithAnAccessFarBackIsFound) {
  const CUdeviceptr memory = allocated(8192);
  EXPECT_EQ(peer_->open(handle_of(memory)), CUDA_SUCCESS);
  EXPECT_CUDA(cuMemsetD32Async(memory, 44, 1, stream()));
  const CUstream one = stream();
  for (int i = 1; i < 1000; ++i)
    EXPECT_CUDA(cuMemsetD32Async(memory + static_cast<CUdeviceptr>(8 * i), 1, 1, one));
  EXPECT_CUDA(cuStreamSynchronize(one));
  const std::uint64_t there = peer_->read().faults;
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(there + caught("race"), 1U) << "by the later one";
}

/// The other process has waited for its own access before this one's stream has run, but after the call.
TEST_F(BetweenProcesses, ACallBeforeTheOtherWasToldIsARace) {
  volatile int* const flag = pinned<int>(1);
  *flag = 0;
  const CUdeviceptr memory = allocated(4096);
  const CUstream one = stream();
  EXPECT_EQ(peer_->open(handle_of(memory)), CUDA_SUCCESS);
  EXPECT_CUDA(cuLaunchHostFunc(
      one,
      [](void* data) {
        while (*static_cast<volatile int*>(data) == 0)
          std::this_thread::yield();
      },
      const_cast<int*>(flag)));
  EXPECT_CUDA(cuMemsetD32Async(memory, 44, 1, one));
  EXPECT_EQ(peer_->read().faults, 0U);
  *flag = 1;
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(caught("race"), 1U);
}

/// The second process waits for the first, and the third for the second.
TEST_F(BetweenProcesses, AHostTellsWhatItKnowsOfOthers) {
  const CUdeviceptr memory = allocated(4096);
  const CUevent written = event(CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
  const CUstream one = stream();
  CUipcEventHandle handle;
  EXPECT_CUDA(cuIpcGetEventHandle(&handle, written));
  for (Peer* const peer : {&*peer_, &*third_})
    EXPECT_EQ(peer->open(handle_of(memory)), CUDA_SUCCESS);
  EXPECT_CUDA(cuMemsetD32Async(memory, 45, 4, one));
  EXPECT_CUDA(cuEventRecord(written, one));
  EXPECT_EQ(peer_->wait_for(handle), CUDA_SUCCESS);
  EXPECT_EQ(peer_->read().faults, 0U);
  const Peer::Answer answer = third_->read();
  EXPECT_EQ(answer.value, 45);
  EXPECT_EQ(answer.faults, 0U);
}

/// The stream of the second process waits for the first, but its host for nothing.
TEST_F(BetweenProcesses, AHostThatHasNotWaitedTellsNothing) {
  const CUdeviceptr memory = allocated(4096);
  const CUevent written = event(CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING);
  const CUstream one = stream();
  CUipcEventHandle handle;
  EXPECT_CUDA(cuIpcGetEventHandle(&handle, written));
  for (Peer* const peer : {&*peer_, &*third_})
    EXPECT_EQ(peer->open(handle_of(memory)), CUDA_SUCCESS);
  EXPECT_CUDA(cuMemsetD32Async(memory, 46, 4, one));
  EXPECT_CUDA(cuEventRecord(written, one));
  EXPECT_EQ(peer_->wait_for(handle), CUDA_SUCCESS);
  std::this_thread::sleep_for(std::chrono::milliseconds{50});
  EXPECT_EQ(third_->read().faults, 1U);
}

TEST_F(BetweenProcesses, UseThroughAStaleMapping) {
  const CUdeviceptr memory = allocated(4096);
  EXPECT_EQ(peer_->open(handle_of(memory)), CUDA_SUCCESS);
  EXPECT_CUDA(cuMemFree(memory));
  EXPECT_EQ(allocated(4096), memory) << "with another buffer id";
  EXPECT_EQ(peer_->read().result, CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(peer_->caught("stale-ipc-mapping"), 1U);
}

TEST_F(BetweenProcesses, AHandleOfFreedMemoryCannotBeOpened) {
  const CUdeviceptr memory = allocated(4096);
  const CUipcMemHandle handle = handle_of(memory);
  EXPECT_CUDA(cuMemFree(memory));
  EXPECT_EQ(peer_->open(handle), CUDA_ERROR_INVALID_VALUE);
}

/// Drivers do so; the documentation calls the free undefined.
TEST_F(BetweenProcesses, MemoryIsInUseUntilTheLastMappingOfItIsClosed) {
  const CUdeviceptr memory = allocated(4096), other = allocated(4096);
  EXPECT_EQ(peer_->open(handle_of(other)), CUDA_SUCCESS);
  const std::uint64_t before = peer_->close().bytes_in_use;
  EXPECT_EQ(peer_->open(handle_of(memory)), CUDA_SUCCESS);
  EXPECT_CUDA(cuMemFree(memory));
  const Peer::Answer freed = peer_->look(), closed = peer_->close();
  EXPECT_EQ(freed.bytes_imported, 4096U);
  EXPECT_EQ(freed.bytes_in_use, before + 4096);
  EXPECT_EQ(closed.result, CUDA_SUCCESS);
  EXPECT_EQ(closed.faults, 0U);
  EXPECT_EQ(closed.bytes_imported, 0U);
  EXPECT_EQ(closed.bytes_in_use, before);
  EXPECT_EQ(caught(nullptr), 0U);
}

class StrictBetweenProcesses : public BetweenProcesses {
 protected:
  void SetUp() override {
    ::setenv("FAKE_CUDA_STRICT_IPC", "1", 1);
    BetweenProcesses::SetUp();
  }
  static constexpr const char* fault = "freed-while-mapped";
};

TEST_F(StrictBetweenProcesses, AFreeOfWhatOthersHaveMappedIsAFault) {
  const CUdeviceptr memory = allocated(4096);
  for (Peer* const peer : {&*peer_, &*third_})
    EXPECT_EQ(peer->open(handle_of(memory)), CUDA_SUCCESS);
  testing::internal::CaptureStderr();
  EXPECT_CUDA(cuMemFree(memory));
  EXPECT_NE(testing::internal::GetCapturedStderr().find("2 other processes have it mapped"), std::string::npos);
  EXPECT_EQ(caught(fault), 1U);
  EXPECT_EQ(peer_->close().faults, 0U) << "the fault was the owner's";
}

TEST_F(StrictBetweenProcesses, AFreeInAStreamIsAFaultWhereItRuns) {
  const CUdeviceptr memory = allocated(4096), other = allocated(4096);
  volatile int* const flag = pinned<int>(1);
  *flag = 0;
  const CUstream one = stream();
  EXPECT_EQ(peer_->open(handle_of(memory)), CUDA_SUCCESS);
  EXPECT_EQ(third_->open(handle_of(other)), CUDA_SUCCESS);
  EXPECT_CUDA(cuStreamWaitValue32(one, reinterpret_cast<CUdeviceptr>(flag), 1, CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_CUDA(cuMemFreeAsync(memory, one));
  EXPECT_CUDA(cuMemFreeAsync(other, one));
  EXPECT_EQ(peer_->close().result, CUDA_SUCCESS);
  *flag = 1;
  EXPECT_CUDA(cuStreamSynchronize(one));
  EXPECT_EQ(caught(fault), 1U);
}

TEST_F(StrictBetweenProcesses, AFreeAfterTheCloseIsNone) {
  const CUdeviceptr memory = allocated(4096);
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(peer_->open(handle_of(memory)), CUDA_SUCCESS) << "the same mapping, opened twice";
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(peer_->close().result, CUDA_SUCCESS);
  EXPECT_CUDA(cuMemFree(memory));
  EXPECT_EQ(caught(nullptr), 0U);
}

TEST_F(StrictBetweenProcesses, AProcessThatHasEndedHasNothingMapped) {
  const CUdeviceptr memory = allocated(4096);
  EXPECT_EQ(peer_->open(handle_of(memory)), CUDA_SUCCESS);
  peer_->kill();
  EXPECT_CUDA(cuMemFree(memory));
  EXPECT_EQ(caught(nullptr), 0U);
}

}  // namespace
}  // namespace fake_cuda
