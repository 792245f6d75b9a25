// What the fake driver sees of graphs: faults, counters, the timeline.
#include <array>
#include <cstdlib>
#include <random>
#include <thread>
#include <utility>

#include "tests/fake_cuda/tests/faults_fixture.hpp"
#include "tests/fake_cuda/tests/graphs_fixture.hpp"

namespace fake_cuda {
namespace {

class GraphFaults : public Capturing<Faults> {
 protected:
  void SetUp() override {
    Faults::SetUp();
    if (IsSkipped()) return;
    one_ = stream();
    other_ = stream();
    memory_ = allocated(64);
  }
  static constexpr const char* fault = "illegal-in-capture";
  CUstream one_ = nullptr, other_ = nullptr;
  CUdeviceptr memory_ = 0;
};

TEST_F(GraphFaults, AnIllegalCallIsOneFault) {
  CUgraph graph = nullptr;
  begin(one_);
  EXPECT_CUDA_ERROR(cuStreamQuery(one_), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(caught(fault), 1U);
  EXPECT_CUDA_ERROR(cuStreamQuery(one_), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_CUDA_ERROR(cuMemsetD32Async(memory_, 1, 1, one_), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_CUDA_ERROR(cuStreamEndCapture(one_, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
  EXPECT_EQ(caught(nullptr), 1U);
  begin(one_);
  EXPECT_CUDA_ERROR(cuCtxSynchronize(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(caught(fault), 2U);
}

TEST_F(GraphFaults, ACaptureAndItsQuestionsAreNone) {
  CUstreamCaptureStatus status{};
  const CUstream blocking = stream(CU_STREAM_DEFAULT);
  begin(blocking, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_CUDA(cuMemsetD32Async(memory_, 1, 1, blocking));
  EXPECT_CUDA_ERROR(cuStreamIsCapturing(nullptr, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  allocated(64);
  end(blocking);
  EXPECT_EQ(caught(nullptr), 0U);
}

TEST_F(GraphFaults, MemoryOfGraphsIsRefusedAndNoFault) {
  CUdeviceptr pooled = 0;
  begin(one_);
  EXPECT_CUDA_ERROR(cuMemAllocAsync(&pooled, 64, one_), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  EXPECT_EQ(caught(nullptr), 0U);
}

TEST_F(GraphFaults, BranchesThatNothingOrdersRace) {
  for (const bool is_ordered : {true, false}) {
    const CUgraphExec graph = captured(one_, [&] {
      order(one_, other_);
      EXPECT_CUDA(cuMemsetD32Async(memory_, 1, 1, one_));
      if (is_ordered) order(one_, other_);
      EXPECT_CUDA(cuMemsetD32Async(memory_, 2, 1, other_));
      order(other_, one_);
    });
    EXPECT_CUDA(cuGraphLaunch(graph, one_));
    EXPECT_CUDA(cuGraphLaunch(graph, one_));
    EXPECT_CUDA(cuMemsetD32Async(memory_, 3, 1, one_));
    EXPECT_CUDA(cuStreamSynchronize(one_));
    EXPECT_EQ(caught("race") > 0, !is_ordered);
  }
}

TEST_F(GraphFaults, ALaunchIsOrderedWithItsStreamAlone) {
  const CUgraphExec graph = captured(one_, [&] { EXPECT_CUDA(cuMemsetD32Async(memory_, 1, 1, one_)); });
  EXPECT_CUDA(cuMemsetD32Async(memory_, 3, 1, one_));
  EXPECT_CUDA(cuGraphLaunch(graph, one_));
  order(one_, other_);
  EXPECT_CUDA(cuMemsetD32Async(memory_, 3, 1, other_));
  EXPECT_CUDA(cuStreamSynchronize(other_));
  EXPECT_EQ(caught("race"), 0U);
  EXPECT_CUDA(cuGraphLaunch(graph, one_));
  EXPECT_CUDA(cuMemsetD32Async(memory_, 3, 1, other_));
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(caught("race"), 1U);
}

/// The branches of a graph that is gone must not seem to order those of a later one.
TEST_F(GraphFaults, AGraphIsNotOrderedAfterOneThatWasDestroyed) {
  const auto fill = [&](CUstream stream) {
    const CUgraphExec graph = captured(stream, [&] { EXPECT_CUDA(cuMemsetD32Async(memory_, 1, 1, stream)); });
    EXPECT_CUDA(cuGraphLaunch(graph, stream));
    EXPECT_CUDA(cuGraphExecDestroy(graph));
    std::this_thread::sleep_for(std::chrono::milliseconds{50});  // over, but nobody has looked
  };
  fill(one_);
  fill(other_);
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_EQ(caught("race"), 1U);
}

class LateGraphs : public GraphFaults {
 protected:
  void SetUp() override {
    ::setenv("FAKE_CUDA_DELAY_US", "300", 1);
    GraphFaults::SetUp();
    if (IsSkipped()) return;
    for (CUstream& each : streams_)
      each = stream();
  }
  /// Copies between words, each after those that it depends on, in random streams. The same for a seed.
  void copy_at_random(unsigned seed) {
    std::mt19937 random{seed};
    std::array<std::size_t, words> last{};  // the stream that used a word last
    for (std::size_t i = 1; i < streams_.size(); ++i)
      order(streams_[0], streams_[i]);
    for (int i = 0; i < 40; ++i) {
      const std::size_t from = random() % words, to = random() % words, number = random() % streams_.size();
      if (from == to) continue;
      for (const std::size_t word : {from, to})
        if (std::exchange(last[word], number) != number) order_all_before(number);
      EXPECT_CUDA(cuMemcpyDtoDAsync(memory_ + 4 * to, memory_ + 4 * from, 4, streams_[number]));
    }
    order_all_before(0);
  }
  void order_all_before(std::size_t number) {
    for (std::size_t i = 0; i < streams_.size(); ++i)
      if (i != number) order(streams_[i], streams_[number]);
  }
  std::array<int, 8> content() {
    std::array<int, 8> found{};
    EXPECT_CUDA(cuMemcpyDtoH(found.data(), memory_, sizeof found));
    return found;
  }
  void reset() {
    constexpr std::array<int, words> begin{1, 2, 3, 4, 5, 6, 7, 8};
    EXPECT_CUDA(cuMemcpyHtoD(memory_, begin.data(), sizeof begin));
    EXPECT_CUDA(cuCtxSynchronize());
  }
  static constexpr std::size_t words = 8;
  std::array<CUstream, 4> streams_{};
};

TEST_F(LateGraphs, DoWhatTheirStreamsDid) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    reset();
    copy_at_random(seed);
    EXPECT_CUDA(cuStreamSynchronize(streams_[0]));
    const auto expected = content();
    const CUgraphExec graph = captured(streams_[0], [&] { copy_at_random(seed); });
    for (int round = 0; round < 2; ++round) {
      reset();
      EXPECT_CUDA(cuGraphLaunch(graph, one_));
      EXPECT_CUDA(cuStreamSynchronize(one_));
      EXPECT_EQ(content(), expected);
    }
    EXPECT_CUDA(cuGraphExecDestroy(graph));
  }
  EXPECT_EQ(caught(nullptr), 0U);
}

TEST_F(GraphFaults, AValueOrdersANodeThatWaitsForIt) {
  EXPECT_CUDA(cuMemsetD32(memory_ + 32, 0, 1));
  EXPECT_CUDA(cuCtxSynchronize());
  const CUgraphExec graph = captured(one_, [&] {
    EXPECT_CUDA(cuStreamWaitValue32(one_, memory_ + 32, 1, CU_STREAM_WAIT_VALUE_EQ));
    EXPECT_CUDA(cuMemsetD32Async(memory_, 1, 1, one_));
  });
  EXPECT_CUDA(cuGraphLaunch(graph, one_));
  EXPECT_CUDA(cuMemsetD32Async(memory_, 2, 1, other_));
  EXPECT_CUDA(cuStreamWriteValue32(other_, memory_ + 32, 1, 0));
  EXPECT_CUDA(cuStreamSynchronize(one_));
  EXPECT_EQ(caught("race"), 0U);
}

TEST_F(GraphFaults, MemoryThatWasFreedSinceTheCaptureIsUsedAfterIt) {
  const CUgraphExec graph = captured(one_, [&] { EXPECT_CUDA(cuMemsetD32Async(memory_, 1, 1, one_)); });
  EXPECT_CUDA(cuMemFree(memory_));
  EXPECT_EQ(allocated(64), memory_);
  EXPECT_CUDA(cuGraphLaunch(graph, one_));
  EXPECT_CUDA_ERROR(cuStreamSynchronize(one_), CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_EQ(caught("use-after-free"), 1U);
}

TEST_F(GraphFaults, AnAllocationBesideANodeThatWaitsIsAFault) {
  volatile int* const released = flag();
  const CUgraphExec graph = captured(one_, [&] { wait_for(released, one_); });
  allocated(64);
  EXPECT_EQ(caught(nullptr), 0U);
  EXPECT_CUDA(cuGraphLaunch(graph, one_));
  allocated(64);
  EXPECT_EQ(caught("synchronises-while-waiting"), 1U);
  *released = 1;
}

TEST_F(GraphFaults, NodesAreCountedWhenTheyAreLaunched) {
  const CUfunction function = function_of(module_of(store));
  int* const host = pinned<int>(1);
  const FakeCudaCounters before = counters();
  begin(one_);
  EXPECT_CUDA(launch(function, memory_, one_));
  EXPECT_CUDA(cuMemcpyDtoHAsync(host, memory_, sizeof(int), one_));
  const CUgraph graph = end(one_);
  const CUgraphExec executable = instantiated(graph);
  const FakeCudaCounters made = counters();
  EXPECT_EQ(made.kernels, before.kernels);
  EXPECT_EQ(made.copies, before.copies);
  EXPECT_EQ(made.bytes_to_host, before.bytes_to_host);
  EXPECT_EQ(made.live_graphs, before.live_graphs + 1);
  EXPECT_EQ(made.live_executable_graphs, before.live_executable_graphs + 1);
  for (int i = 0; i < 2; ++i)
    EXPECT_CUDA(cuGraphLaunch(executable, one_));
  EXPECT_EQ(counters().kernels, before.kernels + 2);
  EXPECT_EQ(counters().copies, before.copies + 2);
  EXPECT_EQ(counters().bytes_to_host, before.bytes_to_host + 2 * sizeof(int));
  EXPECT_CUDA(cuGraphExecDestroy(executable));
  EXPECT_CUDA(cuGraphDestroy(graph));
  EXPECT_EQ(counters().live_graphs, before.live_graphs);
  EXPECT_EQ(counters().live_executable_graphs, before.live_executable_graphs);
  EXPECT_EQ(counters().live_streams, before.live_streams);
}

TEST_F(GraphFaults, TheTimelineHasANodeForEachLaunch) {
  of_fake<decltype(fake_cuda_timeline_clear)>("fake_cuda_timeline_clear")();
  const CUgraphExec graph = captured(one_, [&] { EXPECT_CUDA(cuMemsetD32Async(memory_, 1, 4, one_)); });
  EXPECT_CUDA(cuGraphLaunch(graph, one_));
  EXPECT_CUDA(cuGraphLaunch(graph, one_));
  EXPECT_CUDA(cuStreamSynchronize(one_));
  FakeCudaOperation kept[10];
  const auto count = of_fake<decltype(fake_cuda_timeline)>("fake_cuda_timeline")(kept, 10);
  ASSERT_EQ(count, 6U);
  for (std::size_t i = 0; i < 6; i += 3) {
    EXPECT_STREQ(kept[i].kind, "begin-graph");
    EXPECT_STREQ(kept[i + 1].kind, "fill");
    EXPECT_EQ(kept[i + 1].bytes, 16U);
    EXPECT_STREQ(kept[i + 2].kind, "end-graph");
    EXPECT_GE(kept[i + 2].started_ns, kept[i + 1].ended_ns);
  }
}

}  // namespace
}  // namespace fake_cuda
