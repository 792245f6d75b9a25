// The timeline: what ran when, and beside what.
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "tests/fake_cuda/tests/cuda_fixture.hpp"

namespace fake_cuda {
namespace {

class Timelines : public Cuda {
 protected:
  void SetUp() override {
    if (!is_fake()) GTEST_SKIP() << "only the fake driver has a timeline";
    ::setenv("FAKE_CUDA_DELAY_US", "2000", 1);  // so that operations take some time
    Cuda::SetUp();
    of_fake<decltype(fake_cuda_timeline_clear)>("fake_cuda_timeline_clear")();
  }
  static std::vector<FakeCudaOperation> operations() {
    std::vector<FakeCudaOperation> all(100);
    all.resize(of_fake<decltype(fake_cuda_timeline)>("fake_cuda_timeline")(all.data(), all.size()));
    return all;
  }
  /// The first of a kind.
  static FakeCudaOperation of_kind(const std::string& kind) {
    for (const FakeCudaOperation& operation : operations())
      if (operation.kind == kind) return operation;
    ADD_FAILURE() << "no " << kind;
    return {};
  }
  static std::uint64_t id_of(CUstream stream) {
    unsigned long long id = 0;
    EXPECT_CUDA(cuStreamGetId(stream, &id));
    return id;
  }
};

TEST_F(Timelines, HaveEveryOperationOfAStreamInItsOrder) {
  const CUstream one = stream();
  const CUdeviceptr memory = allocated(64), other = allocated(64);
  int* const host = pinned<int>(16);
  *host = 0;
  const CUfunction function = function_of(module_of(store));
  EXPECT_CUDA(cuMemcpyHtoDAsync(memory, host, 60, one));
  EXPECT_CUDA(cuMemcpyDtoDAsync(other, memory, 40, one));
  EXPECT_CUDA(cuMemsetD32Async(memory, 1, 5, one));
  EXPECT_CUDA(launch(function, memory, one));
  EXPECT_CUDA(cuMemcpyDtoHAsync(host, other, 30, one));
  EXPECT_CUDA(cuStreamWriteValue32(one, reinterpret_cast<CUdeviceptr>(host + 15), 1, 0));
  EXPECT_CUDA(cuStreamWaitValue32(one, reinterpret_cast<CUdeviceptr>(host + 15), 1, CU_STREAM_WAIT_VALUE_EQ));
  EXPECT_CUDA(cuLaunchHostFunc(
      one, [](void*) {}, nullptr));
  EXPECT_CUDA(cuEventRecord(event(), one));
  EXPECT_CUDA(cuStreamSynchronize(one));
  const std::vector<FakeCudaOperation> all = operations();
  std::vector<std::pair<std::string, std::uint64_t>> kinds;
  std::uint64_t before = 0;
  for (const FakeCudaOperation& operation : all) {
    kinds.emplace_back(operation.kind, operation.bytes);
    EXPECT_EQ(operation.stream, id_of(one));
    EXPECT_EQ(operation.sequence, kinds.size());
    EXPECT_LE(operation.posted_ns, operation.started_ns);
    EXPECT_LE(before, operation.started_ns);
    EXPECT_LE(operation.started_ns, operation.ended_ns);
    before = operation.ended_ns;
  }
  const std::vector<std::pair<std::string, std::uint64_t>> wanted{
      {"copy-to-device", 60}, {"copy-within-devices", 40}, {"fill", 20},
      {"kernel", 4},          {"copy-to-host", 30},        {"write-value", 4},
      {"wait-value", 4},      {"host-function", 0},        {"record-event", 0}};
  EXPECT_EQ(kinds, wanted);
  EXPECT_STREQ(of_kind("kernel").name, "kernel");
}

/// A copy runs while another stream waits: it begins after the wait has begun, and ends before it.
TEST_F(Timelines, ShowOperationsThatOverlap) {
  const CUdeviceptr memory = allocated(64);
  int* const host = pinned<int>(16);
  volatile int* const flag = pinned<int>(1);
  *flag = 0;
  const CUstream one = stream(), other = stream();
  EXPECT_CUDA(cuStreamWaitValue32(one, reinterpret_cast<CUdeviceptr>(flag), 1, CU_STREAM_WAIT_VALUE_EQ));
  ::usleep(20'000);
  EXPECT_CUDA(cuMemcpyDtoHAsync(host, memory, 64, other));
  EXPECT_CUDA(cuStreamSynchronize(other));
  *flag = 1;
  EXPECT_CUDA(cuStreamSynchronize(one));
  const FakeCudaOperation wait = of_kind("wait-value"), copy = of_kind("copy-to-host");
  EXPECT_LE(wait.started_ns, copy.started_ns);
  EXPECT_LE(copy.ended_ns, wait.ended_ns);
}

/// An operation that waits for an event starts after what the event stands for has ended.
TEST_F(Timelines, ShowWaits) {
  const CUdeviceptr memory = allocated(64);
  int* const host = pinned<int>(16);
  const CUstream one = stream(), other = stream();
  const CUevent done = event();
  EXPECT_CUDA(cuMemsetD32Async(memory, 1, 16, one));
  EXPECT_CUDA(cuEventRecord(done, one));
  EXPECT_CUDA(cuStreamWaitEvent(other, done, 0));
  EXPECT_CUDA(cuMemcpyDtoHAsync(host, memory, 64, other));
  EXPECT_CUDA(cuCtxSynchronize());
  EXPECT_LE(of_kind("fill").ended_ns, of_kind("copy-to-host").started_ns);
}

class TimelineFile : public Cuda {
 protected:
  void SetUp() override {
    if (!is_fake()) GTEST_SKIP() << "only the fake driver has a timeline";
    ::setenv("FAKE_CUDA_TIMELINE", path_.c_str(), 1);
    Cuda::SetUp();
  }
  void TearDown() override { ::unlink(path_.c_str()); }
  std::string path_ = testing::TempDir() + "timeline." + std::to_string(::getpid());
};

TEST_F(TimelineFile, HasALineForEachOperation) {
  EXPECT_CUDA(cuMemsetD32(allocated(64), 1, 16));
  EXPECT_CUDA(launch(function_of(module_of(store)), allocated(64), nullptr));
  EXPECT_CUDA(cuCtxSynchronize());
  std::ifstream file{path_};
  std::vector<std::string> words, kinds;
  for (std::string line; std::getline(file, line);) {
    std::istringstream in{line};
    words.clear();
    for (std::string word; in >> word;)
      words.push_back(word);
    ASSERT_EQ(words.size(), 9U) << line;
    EXPECT_EQ(words[0], std::to_string(::getpid()));
    kinds.push_back(words[3] + " " + words[4] + " " + words[5]);
  }
  EXPECT_EQ(kinds, (std::vector<std::string>{"fill - 64", "kernel kernel 4"}));
}

}  // namespace
}  // namespace fake_cuda
