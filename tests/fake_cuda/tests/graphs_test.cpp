// Graphs, as real drivers run them.
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/fake_cuda/tests/graphs_fixture.hpp"

namespace fake_cuda {
namespace {

class Graphs : public Capturing<Cuda> {
 protected:
  void SetUp() override {
    Cuda::SetUp();
    one_ = stream();
    other_ = stream();
    memory_ = allocated(64);
    EXPECT_CUDA(cuMemsetD32(memory_, 0, 16));
    EXPECT_CUDA(cuCtxSynchronize());
  }
  /// Adds one to a word.
  void add_one(CUstream stream, CUdeviceptr at) {
    if (function_ == nullptr) function_ = function_of(module_of(increment));
    EXPECT_CUDA(launch(function_, at, stream));
  }
  void load() { function_ = function_of(module_of(increment)); }
  int word(int number = 0) { return first_word(memory_ + sizeof(int) * static_cast<CUdeviceptr>(number)); }

  CUstream one_ = nullptr, other_ = nullptr;
  CUdeviceptr memory_ = 0;
  CUfunction function_ = nullptr;
};

TEST_F(Graphs, AreReplayedWithTheDataOfEachLaunch) {
  load();
  int* const words = pinned<int>(2);
  const CUgraphExec graph = captured(one_, [&] {
    EXPECT_CUDA(cuMemcpyHtoDAsync(memory_, words, sizeof(int), one_));
    add_one(one_, memory_);
    EXPECT_CUDA(cuMemcpyDtoHAsync(words + 1, memory_, sizeof(int), one_));
  });
  for (const int value : {10, 20, 30}) {
    words[0] = value;
    EXPECT_CUDA(cuGraphLaunch(graph, one_));
    EXPECT_CUDA(cuStreamSynchronize(one_));
    EXPECT_EQ(words[1], value + 1);
  }
}

TEST_F(Graphs, RunNothingBeforeTheyAreLaunched) {
  const CUgraphExec graph = captured(one_, [&] { EXPECT_CUDA(cuMemsetD32Async(memory_, 7, 1, one_)); });
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(word(), 0);
  EXPECT_CUDA(cuGraphUpload(graph, one_));
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(word(), 0);
  EXPECT_CUDA(cuGraphLaunch(graph, one_));
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(word(), 7);
}

TEST_F(Graphs, HaveTheArgumentsOfTheCapture) {
  load();
  CUdeviceptr at = memory_;
  void* arguments[] = {&at};
  const CUgraphExec graph = captured(one_, [&] {
    EXPECT_CUDA(cuLaunchKernel(function_, 1, 1, 1, 1, 1, 1, 0, one_, arguments, nullptr));
    at = memory_ + 4;
  });
  EXPECT_CUDA(cuGraphLaunch(graph, one_));
  EXPECT_CUDA(cuStreamSynchronize(one_));
  EXPECT_EQ(word(0), 1);
  EXPECT_EQ(word(1), 0);
}

TEST_F(Graphs, ForkAndJoinByEvents) {
  load();
  begin(one_);
  EXPECT_CUDA(cuMemsetD32Async(memory_, 5, 2, one_));
  order(one_, other_);
  EXPECT_EQ(status_of(other_), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  add_one(one_, memory_);
  add_one(other_, memory_ + 4);
  order(other_, one_);
  EXPECT_CUDA(cuMemcpyDtoDAsync(memory_ + 8, memory_, 8, one_));
  const CUgraph graph = end(one_);
  EXPECT_EQ(status_of(other_), CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT_EQ(nodes_of(graph), 4U);
  CUgraphNode root = nullptr;
  std::size_t roots = 1;
  CUgraphNodeType type{};
  EXPECT_CUDA(cuGraphGetRootNodes(graph, &root, &roots));
  EXPECT_CUDA(cuGraphNodeGetType(root, &type));
  EXPECT_EQ(roots, 1U);
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_MEMSET);
  const CUgraphExec executable = instantiated(graph);
  for (int round = 0; round < 20; ++round) {
    EXPECT_CUDA(cuMemsetD32Async(memory_, 0, 16, one_));
    EXPECT_CUDA(cuGraphLaunch(executable, one_));
    EXPECT_CUDA(cuStreamSynchronize(one_));
    ASSERT_EQ(word(2), 6);
    ASSERT_EQ(word(3), 6);
  }
}

TEST_F(Graphs, WaitForAValueInOneBranchAlone) {
  volatile int* const released = flag();
  volatile int* const reached = flag();
  const CUgraphExec graph = captured(one_, [&] {
    order(one_, other_);
    wait_for(released, one_);
    EXPECT_CUDA(cuMemsetD32Async(memory_, 1, 1, one_));
    EXPECT_CUDA(cuStreamWriteValue32(other_, reinterpret_cast<CUdeviceptr>(reached), 1, 0));
    order(other_, one_);
  });
  for (int round = 1; round <= 3; ++round) {
    *released = 0;
    *reached = 0;
    EXPECT_CUDA(cuMemsetD32Async(memory_, 0, 1, one_));
    EXPECT_CUDA(cuGraphLaunch(graph, one_));
    while (*reached == 0)
      std::this_thread::yield();
    EXPECT_CUDA_ERROR(cuStreamQuery(one_), CUDA_ERROR_NOT_READY);
    *released = 1;
    EXPECT_CUDA(cuStreamSynchronize(one_));
    EXPECT_EQ(word(), 1);
  }
}

TEST_F(Graphs, WaitForAValueOfAnotherStream) {
  const CUgraphExec graph = captured(one_, [&] {
    EXPECT_CUDA(cuStreamWaitValue32(one_, memory_, 1, CU_STREAM_WAIT_VALUE_GEQ));
    EXPECT_CUDA(cuMemcpyDtoDAsync(memory_ + 8, memory_ + 4, 4, one_));
    EXPECT_CUDA(cuStreamWriteValue32(one_, memory_, 0, 0));
  });
  for (unsigned round = 1; round <= 3; ++round) {
    EXPECT_CUDA(cuGraphLaunch(graph, one_));
    EXPECT_CUDA(cuMemsetD32Async(memory_ + 4, round, 1, other_));
    EXPECT_CUDA(cuStreamWriteValue32(other_, memory_, 1, 0));
    EXPECT_CUDA(cuStreamSynchronize(one_));
    EXPECT_EQ(word(2), static_cast<int>(round));
  }
}

TEST_F(Graphs, KeepTheOrderOfTheStream) {
  load();
  const CUgraphExec graph = captured(one_, [&] {
    order(one_, other_);
    add_one(one_, memory_);
    add_one(other_, memory_ + 4);
    order(other_, one_);
  });
  EXPECT_CUDA(cuMemsetD32Async(memory_, 10, 2, one_));
  EXPECT_CUDA(cuGraphLaunch(graph, one_));
  EXPECT_CUDA(cuGraphLaunch(graph, one_));
  EXPECT_CUDA(cuMemcpyDtoDAsync(memory_ + 8, memory_, 8, one_));
  EXPECT_CUDA(cuMemsetD32Async(memory_, 20, 2, one_));
  EXPECT_CUDA(cuGraphLaunch(graph, one_));
  EXPECT_CUDA(cuStreamSynchronize(one_));
  EXPECT_EQ(word(2), 12);
  EXPECT_EQ(word(3), 12);
  EXPECT_EQ(word(0), 21);
  EXPECT_EQ(word(1), 21);
}

TEST_F(Graphs, RunOneLaunchAfterTheOtherInAnyStreams) {
  load();
  volatile int* const released = flag();
  const CUgraphExec graph = captured(one_, [&] {
    wait_for(released, one_);
    add_one(one_, memory_);
  });
  EXPECT_CUDA(cuGraphLaunch(graph, one_));
  EXPECT_CUDA(cuGraphLaunch(graph, other_));
  EXPECT_CUDA_ERROR(cuStreamQuery(other_), CUDA_ERROR_NOT_READY);
  *released = 1;
  EXPECT_CUDA(cuStreamSynchronize(other_));
  EXPECT_CUDA(cuStreamQuery(one_));
  EXPECT_EQ(word(), 2);
}

/// No branch of the second begins before every branch of the first has ended.
TEST_F(Graphs, RunOneLaunchAfterTheOtherWithAllBranches) {
  load();
  const CUstream third = stream();
  volatile int* const released = flag();
  int* const seen = pinned<int>(1);
  const CUgraphExec graph = captured(one_, [&] {
    order(one_, other_);
    wait_for(released, one_);
    add_one(other_, memory_);
    order(other_, one_);
  });
  EXPECT_CUDA(cuGraphLaunch(graph, one_));
  EXPECT_CUDA(cuGraphLaunch(graph, other_));
  std::this_thread::sleep_for(std::chrono::milliseconds{20});
  EXPECT_CUDA(cuMemcpyDtoHAsync(seen, memory_, sizeof(int), third));
  EXPECT_CUDA(cuStreamSynchronize(third));
  EXPECT_LE(*seen, 1);
  *released = 1;
  EXPECT_CUDA(cuStreamSynchronize(other_));
  EXPECT_EQ(word(), 2);
}

TEST_F(Graphs, EndTheirLaunchesAfterTheyAreDestroyed) {
  volatile int* const released = flag();
  const CUgraphExec graph = captured(one_, [&] {
    wait_for(released, one_);
    EXPECT_CUDA(cuMemsetD32Async(memory_, 9, 1, one_));
  });
  EXPECT_CUDA(cuGraphLaunch(graph, other_));
  EXPECT_CUDA(cuGraphExecDestroy(graph));
  *released = 1;
  EXPECT_CUDA(cuStreamSynchronize(other_));
  EXPECT_EQ(word(), 9);
}

TEST_F(Graphs, CallTheHostAtEachLaunch) {
  int calls = 0;
  const CUgraphExec graph = captured(one_, [&] {
    EXPECT_CUDA(cuLaunchHostFunc(
        one_, [](void* count) { ++*static_cast<int*>(count); }, &calls));
  });
  for (int round = 1; round <= 3; ++round) {
    EXPECT_CUDA(cuGraphLaunch(graph, one_));
    EXPECT_CUDA(cuStreamSynchronize(one_));
    EXPECT_EQ(calls, round);
  }
}

TEST_F(Graphs, RecordAndAwaitEventsOfOtherStreams) {
  volatile int* const released = flag();
  const CUevent before = event(), after = event();
  const CUgraphExec graph = captured(one_, [&] {
    EXPECT_CUDA(cuStreamWaitEvent(one_, before, CU_EVENT_WAIT_EXTERNAL));
    EXPECT_CUDA(cuMemcpyDtoDAsync(memory_ + 4, memory_, 4, one_));
    EXPECT_CUDA(cuEventRecordWithFlags(after, one_, CU_EVENT_RECORD_EXTERNAL));
  });
  for (unsigned round = 1; round <= 2; ++round) {
    *released = 0;
    wait_for(released, other_);
    EXPECT_CUDA(cuMemsetD32Async(memory_, round, 1, other_));
    EXPECT_CUDA(cuEventRecord(before, other_));
    EXPECT_CUDA(cuGraphLaunch(graph, one_));
    EXPECT_CUDA_ERROR(cuEventQuery(after), CUDA_ERROR_NOT_READY);
    *released = 1;
    EXPECT_CUDA(cuEventSynchronize(after));
    EXPECT_EQ(word(1), static_cast<int>(round));
  }
}

TEST_F(Graphs, AreLaunchedIntoOthers) {
  load();
  const CUgraphExec inner = captured(one_, [&] { add_one(one_, memory_); });
  const CUgraphExec outer = captured(one_, [&] {
    EXPECT_CUDA(cuMemsetD32Async(memory_, 4, 1, one_));
    EXPECT_CUDA(cuGraphLaunch(inner, one_));
    EXPECT_CUDA(cuMemcpyDtoDAsync(memory_ + 4, memory_, 4, one_));
  });
  EXPECT_CUDA(cuGraphLaunch(outer, one_));
  EXPECT_CUDA(cuStreamSynchronize(one_));
  EXPECT_EQ(word(1), 5);
}

TEST_F(Graphs, AreClonedAndMayBeEmpty) {
  CUgraph empty = nullptr, clone = nullptr;
  EXPECT_CUDA(cuGraphCreate(&empty, 0));
  EXPECT_EQ(nodes_of(empty), 0U);
  EXPECT_CUDA(cuGraphLaunch(instantiated(empty), one_));
  begin(one_);
  EXPECT_CUDA(cuMemsetD32Async(memory_, 3, 1, one_));
  const CUgraph graph = end(one_);
  EXPECT_CUDA(cuGraphClone(&clone, graph));
  EXPECT_CUDA(cuGraphDestroy(graph));
  EXPECT_EQ(nodes_of(clone), 1U);
  EXPECT_CUDA(cuGraphLaunch(instantiated(clone), one_));
  EXPECT_CUDA(cuStreamSynchronize(one_));
  EXPECT_EQ(word(), 3);
}

TEST_F(Graphs, AreMadeOfManyBranches) {
  std::vector<CUstream> streams(12);
  for (CUstream& each : streams)
    each = stream();
  const CUgraphExec graph = captured(one_, [&] {
    for (std::size_t i = 0; i < streams.size(); ++i) {
      order(one_, streams[i]);
      EXPECT_CUDA(cuMemsetD32Async(memory_ + 4 * i, static_cast<unsigned>(i + 1), 1, streams[i]));
    }
    for (CUstream each : streams)
      order(each, one_);
  });
  EXPECT_CUDA(cuGraphLaunch(graph, one_));
  EXPECT_CUDA(cuStreamSynchronize(one_));
  for (int i = 0; i < 12; ++i)
    EXPECT_EQ(word(i), i + 1);
}

/// The function of a user object is called once, at some time after the last graph that keeps it is gone.
TEST_F(Graphs, KeepUserObjectsAsLongAsAnythingIsMadeOfThem) {
  std::atomic<int> ended = 0;
  const auto count = [](void* number) { ++*static_cast<std::atomic<int>*>(number); };
  const auto is_ended = [&] {
    for (int looks = 0; looks < 1000 && ended == 0; ++looks)
      std::this_thread::sleep_for(std::chrono::milliseconds{1});
    return ended == 1;
  };
  CUuserObject object = nullptr;
  EXPECT_CUDA(cuUserObjectCreate(&object, &ended, count, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
  volatile int* const go = flag();
  begin(one_);
  CUstreamCaptureStatus status{};
  CUgraph captured = nullptr;
  EXPECT_CUDA(cuStreamGetCaptureInfo(one_, &status, nullptr, &captured, nullptr, nullptr, nullptr));
  EXPECT_CUDA(cuGraphRetainUserObject(captured, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
  wait_for(go, one_);
  const CUgraph graph = end(one_);
  const CUgraphExec executable = instantiated(graph);
  EXPECT_CUDA(cuGraphDestroy(graph));
  EXPECT_EQ(ended, 0);
  EXPECT_CUDA(cuGraphLaunch(executable, one_));
  EXPECT_CUDA(cuGraphExecDestroy(executable));
  EXPECT_EQ(ended, 0) << "it runs still";
  *go = 1;
  EXPECT_CUDA(cuStreamSynchronize(one_));
  EXPECT_TRUE(is_ended());
}

}  // namespace
}  // namespace fake_cuda
