// Memory that another process has mapped: its use while a kernel of the owner runs, and mappings that are closed early.
#include <chrono>
#include <optional>
#include <thread>

#include "tests/fake_cuda/tests/faults_fixture.hpp"
#include "tests/fake_cuda/tests/peer.hpp"
#include "tests/fake_cuda/tests/shareable_fixture.hpp"

namespace fake_cuda {
namespace {

class MappedMemory : public Faults {
 protected:
  void SetUp() override {
    peer_.emplace(TUTTI_FAKE_CUDA_PEER);  // before CUDA: a child of a fork cannot use it
    Faults::SetUp();
    if (IsSkipped()) return;
    memory_ = allocated(4096);
    one_ = stream();
    CUipcMemHandle handle;
    EXPECT_CUDA(cuIpcGetMemHandle(&handle, memory_));
    EXPECT_EQ(peer_->open(handle), CUDA_SUCCESS);
  }
  void write() { EXPECT_CUDA(cuMemsetD32(memory_, 7, 16)); }

  std::optional<Peer> peer_;
  CUdeviceptr memory_ = 0;
  CUstream one_ = nullptr;
};

/// A kernel that writes 5, and ends when the host writes 1 to a word of its own.
class MappedMemoryInUse : public MappedMemory {
 protected:
  void SetUp() override {
    ::setenv("FAKE_CUDA_RACE", "1", 1);  // for the other process, too
    MappedMemory::SetUp();
    if (IsSkipped()) return;
    released_ = pinned<int>(1);
    *released_ = 0;
    EXPECT_CUDA(cuMemsetD32(memory_, 0, 64));
    const auto address = reinterpret_cast<CUdeviceptr>(released_);
    EXPECT_CUDA(cuMemcpyHtoD(memory_ + 8, &address, sizeof address));
    EXPECT_CUDA(cuCtxSynchronize());
    EXPECT_CUDA(launch(function_of(module_of(body)), memory_, one_));
  }
  void release() { *released_ = 1; }

  static constexpr CUdeviceptr word_ = 64;
  static constexpr const char* body = R"(  .reg .pred %p<2>;
  mov.u32 %r1, 5;
  st.global.u32 [%rd1], %r1;
  ld.global.u64 %rd2, [%rd1+8];
again:
  ld.volatile.global.u32 %r2, [%rd2];
  setp.ne.u32 %p1, %r2, 1;
  @%p1 bra again;)";
  volatile int* released_ = nullptr;
};

TEST_F(MappedMemoryInUse, IsARaceWithoutAWait) {
  EXPECT_EQ(peer_->read().result, CUDA_SUCCESS);
  release();
  EXPECT_CUDA(cuStreamSynchronize(one_));
  EXPECT_EQ(peer_->caught("race") + caught("race"), 1U);
}

TEST_F(MappedMemoryInUse, IsNoRaceAfterAWaitForAValue) {
  EXPECT_CUDA(cuStreamWriteValue32(one_, memory_ + word_, 1, 0));
  EXPECT_EQ(peer_->wait_for_value(word_), CUDA_SUCCESS);
  std::thread later{[&] {
    std::this_thread::sleep_for(std::chrono::milliseconds{30});
    release();
  }};
  const Peer::Answer answer = peer_->read();
  later.join();
  EXPECT_EQ(answer.value, 5);
  EXPECT_EQ(answer.faults, 0U);
  EXPECT_EQ(caught(nullptr), 0U);
}

TEST_F(MappedMemoryInUse, IsARaceAfterAWaitForAnotherValue) {
  EXPECT_CUDA(cuStreamWriteValue32(one_, memory_ + word_, 1, 0));
  const CUstream other = stream();
  EXPECT_CUDA(cuStreamWriteValue32(other, memory_ + word_ + 4, 1, 0));
  EXPECT_EQ(peer_->wait_for_value(word_ + 4), CUDA_SUCCESS);
  EXPECT_EQ(peer_->read().result, CUDA_SUCCESS);
  release();
  EXPECT_CUDA(cuStreamSynchronize(one_));
  EXPECT_EQ(peer_->caught("race") + caught("race"), 1U);
}

/// The call waits for the operation here, but no documentation says that it does.
TEST_F(MappedMemory, IsClosedTooEarlyWhileAnOperationIsQueued) {
  write();
  EXPECT_EQ(peer_->hold_up(), CUDA_SUCCESS);
  EXPECT_EQ(peer_->post_read(), CUDA_SUCCESS);
  peer_->close();
  EXPECT_EQ(peer_->caught("early-close"), 1U);
  EXPECT_EQ(peer_->look().faults, 1U) << "no other";
  EXPECT_EQ(caught(nullptr), 0U) << "the fault was the importer's";
}

TEST_F(MappedMemory, IsClosedInTimeOnceTheHostHasWaited) {
  write();
  EXPECT_EQ(peer_->hold_up(), CUDA_SUCCESS);
  EXPECT_EQ(peer_->read().value, 7);
  EXPECT_EQ(peer_->close().result, CUDA_SUCCESS);
  EXPECT_EQ(peer_->look().faults, 0U);
}

class MappedMemoryRaces : public MappedMemory {
 protected:
  void SetUp() override {
    ::setenv("FAKE_CUDA_RACE", "1", 1);
    MappedMemory::SetUp();
  }
};

TEST_F(MappedMemoryRaces, AreClosesByAHostThatHasNotWaited) {
  write();
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(peer_->post_read(), CUDA_SUCCESS);
  std::this_thread::sleep_for(std::chrono::milliseconds{50});  // over, but nobody has looked
  peer_->close();
  EXPECT_EQ(peer_->caught("early-close"), 1U);
}

TEST_F(MappedMemoryRaces, AreNoClosesByAHostThatHasWaited) {
  write();
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(peer_->read().value, 7);
  EXPECT_EQ(peer_->close().result, CUDA_SUCCESS);
  EXPECT_EQ(peer_->look().faults, 0U);
}

class StrictlyShareable : public Shareable {
 protected:
  void SetUp() override {
    if (!is_fake()) GTEST_SKIP() << "only the fake driver catches faults";
    ::setenv("FAKE_CUDA_STRICT_IPC", "1", 1);  // which the driver has not read yet, in a process of this test alone
    Shareable::SetUp();
  }
};

TEST_F(StrictlyShareable, MemoryOfAPoolIsFreedByItsImportersFirst) {
  const CUmemoryPool made = pool(posix);
  const CUdeviceptr first = opened(made);
  EXPECT_EQ(peer_->look().bytes_imported, 4096U);
  const Peer::Answer freed = peer_->free();
  EXPECT_EQ(freed.bytes_imported, 0U);
  EXPECT_EQ(freed.faults, 0U);
  EXPECT_CUDA(cuMemFree(first));
  EXPECT_EQ(caught(nullptr), 0U);
  const CUdeviceptr second = opened(made);
  EXPECT_CUDA(cuMemFree(second));
  EXPECT_EQ(caught("freed-while-mapped"), 1U);
  EXPECT_EQ(peer_->read().result, CUDA_ERROR_ILLEGAL_ADDRESS);
}

}  // namespace
}  // namespace fake_cuda
