// The capture of streams, and what a program must not do meanwhile, as real drivers have it.
#include <functional>
#include <thread>

#include "tests/fake_cuda/tests/graphs_fixture.hpp"

namespace fake_cuda {
namespace {

class Captures : public Capturing<Cuda> {
 protected:
  void SetUp() override {
    Cuda::SetUp();
    one_ = stream();
    other_ = stream();
    memory_ = allocated(64);
    outside_ = event();
    EXPECT_CUDA(cuEventRecord(outside_, other_));
    EXPECT_CUDA(cuCtxSynchronize());
  }
  /// What a thread of its own gets.
  CUresult elsewhere(const std::function<CUresult()>& call, CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL) {
    CUresult result = CUDA_SUCCESS;
    std::thread{[&] {
      cuCtxSetCurrent(context_);
      cuThreadExchangeStreamCaptureMode(&mode);
      result = call();
    }}.join();
    return result;
  }
  CUresult allocate() {
    CUdeviceptr pointer = 0;
    return cuMemAlloc(&pointer, 64);
  }
  /// After an illegal call: the stream is captured until the end of the capture, which yields no graph.
  void expect_invalid(CUstream stream) {
    CUgraph graph = reinterpret_cast<CUgraph>(&graph);
    EXPECT_EQ(status_of(stream), CU_STREAM_CAPTURE_STATUS_INVALIDATED);
    EXPECT_CUDA_ERROR(cuMemsetD32Async(memory_, 1, 1, stream), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    EXPECT_CUDA_ERROR(cuStreamEndCapture(stream, &graph), CUDA_ERROR_STREAM_CAPTURE_INVALIDATED);
    EXPECT_EQ(graph, nullptr);
    EXPECT_EQ(status_of(stream), CU_STREAM_CAPTURE_STATUS_NONE);
    EXPECT_CUDA(cuMemsetD32Async(memory_, 1, 1, stream));
    EXPECT_CUDA(cuStreamSynchronize(stream));
  }
  /// After a legal one.
  void expect_valid(CUstream stream) {
    EXPECT_EQ(status_of(stream), CU_STREAM_CAPTURE_STATUS_ACTIVE);
    EXPECT_NE(end(stream), nullptr);
  }

  CUstream one_ = nullptr, other_ = nullptr;
  CUdeviceptr memory_ = 0;
  CUevent outside_ = nullptr;
};

TEST_F(Captures, TellWhereTheyAre) {
  CUstreamCaptureStatus status{};
  cuuint64_t id = 0, again = 0;
  CUgraph graph = nullptr;
  const CUgraphNode* nodes = nullptr;
  std::size_t count = 77;
  begin(one_);
  EXPECT_CUDA(cuStreamGetCaptureInfo(one_, &status, &id, &graph, &nodes, nullptr, &count));
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_EQ(count, 0U);
  EXPECT_CUDA(cuMemsetD32Async(memory_, 1, 1, one_));
  EXPECT_CUDA(cuStreamGetCaptureInfo(one_, &status, &again, &graph, &nodes, nullptr, &count));
  EXPECT_EQ(again, id);
  ASSERT_EQ(count, 1U);
  CUgraphNodeType type{};
  EXPECT_CUDA(cuGraphNodeGetType(nodes[0], &type));
  EXPECT_EQ(type, CU_GRAPH_NODE_TYPE_MEMSET);
  EXPECT_EQ(end(one_), graph);
  begin(one_);
  EXPECT_CUDA(cuStreamGetCaptureInfo(one_, &status, &again, nullptr, nullptr, nullptr, nullptr));
  EXPECT_NE(again, id);
  end(one_);
  EXPECT_CUDA(cuStreamGetCaptureInfo(one_, &status, nullptr, nullptr, nullptr, nullptr, nullptr));
  EXPECT_EQ(status, CU_STREAM_CAPTURE_STATUS_NONE);
}

TEST_F(Captures, LetTheirDependenciesBeReplaced) {
  begin(one_);
  EXPECT_CUDA(cuMemsetD32Async(memory_, 1, 1, one_));
  EXPECT_CUDA(cuStreamUpdateCaptureDependencies(one_, nullptr, nullptr, 0, CU_STREAM_SET_CAPTURE_DEPENDENCIES));
  EXPECT_CUDA(cuMemsetD32Async(memory_ + 4, 1, 1, one_));
  const CUgraph graph = end(one_);
  std::size_t roots = 0;
  EXPECT_CUDA(cuGraphGetRootNodes(graph, nullptr, &roots));
  EXPECT_EQ(roots, 2U);
  EXPECT_CUDA_ERROR(cuStreamUpdateCaptureDependencies(one_, nullptr, nullptr, 0, 0), CUDA_ERROR_ILLEGAL_STATE);
}

TEST_F(Captures, GoIntoGraphsThatAreThere) {
  CUgraph graph = nullptr, ended = nullptr;
  EXPECT_CUDA(cuGraphCreate(&graph, 0));
  EXPECT_CUDA(cuStreamBeginCaptureToGraph(one_, graph, nullptr, nullptr, 0, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  EXPECT_CUDA(cuMemsetD32Async(memory_, 1, 1, one_));
  EXPECT_CUDA(cuStreamEndCapture(one_, &ended));
  EXPECT_EQ(ended, graph);
  EXPECT_EQ(nodes_of(graph), 1U);
}

TEST_F(Captures, DoNotGoWithQuestionsAboutTheirStreams) {
  begin(one_);
  EXPECT_CUDA_ERROR(cuStreamSynchronize(one_), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  expect_invalid(one_);
  begin(one_);
  EXPECT_CUDA_ERROR(cuStreamQuery(one_), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  expect_invalid(one_);
  begin(one_);
  order(one_, other_);
  EXPECT_CUDA_ERROR(cuStreamQuery(other_), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  expect_invalid(one_);
}

TEST_F(Captures, DoNotGoWithQuestionsAboutTheirEvents) {
  const CUevent inside = event();
  for (const auto call : {&cuEventQuery, &cuEventSynchronize}) {
    begin(one_, CU_STREAM_CAPTURE_MODE_RELAXED);
    EXPECT_CUDA(cuEventRecord(inside, one_));
    EXPECT_CUDA_ERROR(call(inside), CUDA_ERROR_CAPTURED_EVENT);
    expect_invalid(one_);
  }
  EXPECT_CUDA(cuEventRecord(inside, one_));
  EXPECT_CUDA(cuEventSynchronize(inside));
}

TEST_F(Captures, DoNotGoWithAWaitForTheContext) {
  for (const auto mode : {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_RELAXED}) {
    begin(one_, mode);
    EXPECT_CUDA_ERROR(cuCtxSynchronize(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
    expect_invalid(one_);
  }
}

TEST_F(Captures, DoNotGoWithUnsafeCallsOfTheirThread) {
  std::vector<char> host(4096);
  CUmodule module = nullptr;
  const std::string text = kernel_text(store);
  const CUdeviceptr other = allocated(64);
  const std::function<CUresult()> calls[] = {[&] { return allocate(); }, [&] { return cuMemFree(other); },
                                             [&] { return cuMemHostRegister(host.data(), host.size(), 0); },
                                             [&] { return cuModuleLoadData(&module, text.c_str()); },
                                             [&] { return cuEventQuery(outside_); }};
  for (const auto& call : calls)
    for (const auto mode : {CU_STREAM_CAPTURE_MODE_GLOBAL, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL}) {
      begin(one_, mode);
      EXPECT_CUDA_ERROR(call(), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
      expect_invalid(one_);
    }
  for (const auto& call : calls) {
    begin(one_, CU_STREAM_CAPTURE_MODE_RELAXED);
    EXPECT_CUDA(call());
    expect_valid(one_);
  }
}

TEST_F(Captures, GoWithOtherStreams) {
  begin(one_, CU_STREAM_CAPTURE_MODE_GLOBAL);
  const CUevent passed = event();
  EXPECT_CUDA(cuMemsetD32Async(memory_, 1, 1, other_));
  EXPECT_CUDA(cuEventRecord(passed, other_));
  EXPECT_CUDA(cuStreamSynchronize(other_));
  EXPECT_CUDA(cuStreamQuery(other_));
  expect_valid(one_);
}

TEST_F(Captures, NeedNoJoinOfAStreamWithoutWork) {
  begin(one_);
  order(one_, other_);
  expect_valid(one_);
}

TEST_F(Captures, LetAThreadAskForUnsafeCalls) {
  CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_RELAXED;
  begin(one_, CU_STREAM_CAPTURE_MODE_GLOBAL);
  EXPECT_CUDA(cuThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_GLOBAL);
  EXPECT_CUDA(allocate());
  EXPECT_CUDA(cuThreadExchangeStreamCaptureMode(&mode));
  EXPECT_EQ(mode, CU_STREAM_CAPTURE_MODE_RELAXED);
  expect_valid(one_);
}

TEST_F(Captures, OfTheGlobalModeDoNotGoWithUnsafeCallsOfOtherThreads) {
  begin(one_, CU_STREAM_CAPTURE_MODE_GLOBAL);
  EXPECT_CUDA_ERROR(elsewhere([&] { return cuEventQuery(outside_); }), CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  expect_invalid(one_);
  begin(one_, CU_STREAM_CAPTURE_MODE_GLOBAL);
  EXPECT_CUDA(elsewhere([&] { return cuEventQuery(outside_); }, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
  EXPECT_CUDA(elsewhere([&] { return allocate(); }, CU_STREAM_CAPTURE_MODE_RELAXED));
  expect_valid(one_);
  begin(one_, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  EXPECT_CUDA(elsewhere([&] { return allocate(); }));
  expect_valid(one_);
}

TEST_F(Captures, OfBlockingStreamsDoNotGoWithTheLegacyStream) {
  const CUstream blocking = stream(CU_STREAM_DEFAULT);
  CUstreamCaptureStatus status{};
  begin(blocking, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_CUDA_ERROR(cuStreamIsCapturing(nullptr, &status), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  EXPECT_EQ(status_of(blocking), CU_STREAM_CAPTURE_STATUS_ACTIVE);
  EXPECT_CUDA_ERROR(cuMemsetD32Async(memory_, 1, 1, nullptr), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  expect_invalid(blocking);
  begin(blocking, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_CUDA_ERROR(cuStreamSynchronize(nullptr), CUDA_ERROR_STREAM_CAPTURE_IMPLICIT);
  expect_invalid(blocking);
  begin(one_, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_CUDA(cuMemsetD32Async(memory_, 1, 1, nullptr));
  EXPECT_CUDA(cuStreamSynchronize(nullptr));
  expect_valid(one_);
  EXPECT_CUDA_ERROR(cuStreamBeginCapture(nullptr, CU_STREAM_CAPTURE_MODE_GLOBAL),
                    CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

TEST_F(Captures, DoNotWaitForEventsOfOthers) {
  const CUstream third = stream();
  const CUevent inside = event();
  begin(one_);
  EXPECT_CUDA_ERROR(cuStreamWaitEvent(one_, outside_, 0), CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  expect_invalid(one_);
  begin(one_);
  begin(third);
  EXPECT_CUDA(cuEventRecord(inside, third));
  EXPECT_CUDA_ERROR(cuStreamWaitEvent(one_, inside, 0), CUDA_ERROR_STREAM_CAPTURE_MERGE);
  expect_invalid(one_);
  expect_invalid(third);
}

TEST_F(Captures, EndWhereTheyBeganAndJoined) {
  CUgraph graph = nullptr;
  begin(one_);
  order(one_, other_);
  EXPECT_CUDA(cuMemsetD32Async(memory_, 1, 1, other_));
  EXPECT_CUDA_ERROR(cuStreamEndCapture(one_, &graph), CUDA_ERROR_STREAM_CAPTURE_UNJOINED);
  EXPECT_EQ(status_of(one_), CU_STREAM_CAPTURE_STATUS_NONE);
  begin(one_);
  order(one_, other_);
  EXPECT_CUDA_ERROR(cuStreamEndCapture(other_, &graph), CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  expect_invalid(one_);
  begin(one_);
  EXPECT_CUDA_ERROR(elsewhere([&] { return cuStreamEndCapture(one_, &graph); }),
                    CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  cuStreamEndCapture(one_, &graph);
  begin(one_, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_CUDA(elsewhere([&] { return cuStreamEndCapture(one_, &graph); }));
  begin(one_);
  EXPECT_CUDA_ERROR(cuStreamBeginCapture(one_, CU_STREAM_CAPTURE_MODE_GLOBAL), CUDA_ERROR_ILLEGAL_STATE);
  cuStreamEndCapture(one_, &graph);
  EXPECT_CUDA_ERROR(cuStreamEndCapture(one_, &graph), CUDA_ERROR_ILLEGAL_STATE);
}

}  // namespace
}  // namespace fake_cuda
