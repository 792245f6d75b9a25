#pragma once
// Graphs that are captured from streams.

#include "tests/fake_cuda/tests/cuda_fixture.hpp"

namespace fake_cuda {

/// Adds captures to a fixture.
template <class Fixture>
class Capturing : public Fixture {
 protected:
  static void begin(CUstream stream, CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL) {
    EXPECT_CUDA(cuStreamBeginCapture(stream, mode));
  }
  static CUgraph end(CUstream stream) {
    CUgraph graph = nullptr;
    EXPECT_CUDA(cuStreamEndCapture(stream, &graph));
    return graph;
  }
  static CUgraphExec instantiated(CUgraph graph) {
    CUgraphExec executable = nullptr;
    EXPECT_CUDA(cuGraphInstantiate(&executable, graph, 0));
    return executable;
  }
  /// What the stream captures of `work`.
  template <class Work>
  static CUgraphExec captured(CUstream stream, const Work& work) {
    begin(stream);
    work();
    const CUgraph graph = end(stream);
    const CUgraphExec executable = instantiated(graph);
    EXPECT_CUDA(cuGraphDestroy(graph));
    return executable;
  }
  static CUstreamCaptureStatus status_of(CUstream stream) {
    CUstreamCaptureStatus status{};
    EXPECT_CUDA(cuStreamIsCapturing(stream, &status));
    return status;
  }
  static std::size_t nodes_of(CUgraph graph) {
    std::size_t count = 0;
    EXPECT_CUDA(cuGraphGetNodes(graph, nullptr, &count));
    return count;
  }
  /// `to` comes after all that `from` has so far.
  static void order(CUstream from, CUstream to) {
    const CUevent passed = Fixture::event();
    EXPECT_CUDA(cuEventRecord(passed, from));
    EXPECT_CUDA(cuStreamWaitEvent(to, passed, 0));
  }
  static bool can_wait_for(volatile int* flag, CUstream stream) {
    return cuStreamWaitValue32(stream, reinterpret_cast<CUdeviceptr>(flag), 1, CU_STREAM_WAIT_VALUE_EQ) == CUDA_SUCCESS;
  }
  static void wait_for(volatile int* flag, CUstream stream) { EXPECT_TRUE(can_wait_for(flag, stream)); }
  static volatile int* flag() {
    volatile int* const made = Fixture::template pinned<int>(1);
    *made = 0;
    return made;
  }
  static constexpr const char* increment =
      "  ld.global.u32 %r1, [%rd1];\n  add.u32 %r1, %r1, 1;\n  st.global.u32 [%rd1], %r1;";
};

}  // namespace fake_cuda
