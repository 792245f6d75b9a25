// The cost of calls on device buffers, in exact counts: bytes between host and device, calls of the driver, and that
// copies overlap with messages.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "tests/mpi/device_cases.hpp"
#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

class DeviceCounts : public OnDevices {
 protected:
  void SetUp() override {
    OnDevices::SetUp();
    if (!devices_.is_fake()) GTEST_SKIP() << "only the fake driver counts";
  }
  const Setting path_{"TUTTI_DEVICE_PATH", "staging"};
  static std::vector<std::string> allreduces() {
    std::vector<std::string> names;
    for (const Algorithm* algorithm : algorithms())
      if (algorithm->collective == Collective::allreduce) names.emplace_back(algorithm->name);
    return names;
  }
};

struct Buffers {
  explicit Buffers(std::size_t elements)
      : count(elements),
        ones(elements, 1),
        in(ones.data(), elements * sizeof(float), TestDevices::Kind::device),
        out(ones.data(), elements * sizeof(float), TestDevices::Kind::device) {}
  void allreduce(const Op& op, const Communicator& comm, const Options& options = {}) {
    tutti::allreduce(in.data(), out.data(), Count{count}, Type::fp32, op, comm, options);
  }
  std::size_t count;
  std::vector<float> ones;
  AnyArray in, out;
};

TEST_F(DeviceCounts, AllreduceMovesEachByteOnceInAndOnceOut) {
  const Setting on_host{"TUTTI_STAGING", "host"};
  for (const std::string& algorithm : allreduces()) {
    const Communicator comm{MPI_COMM_WORLD};
    constexpr std::size_t count = 100'000;
    Buffers data(count);
    const FakeCudaCounters before = devices_.counters();
    data.allreduce(Op::sum, comm, {.algorithm = algorithm});
    const FakeCudaCounters after = devices_.counters();
    EXPECT_EQ(after.bytes_to_host - before.bytes_to_host, count * sizeof(float)) << algorithm;
    EXPECT_EQ(after.bytes_to_device - before.bytes_to_device, count * sizeof(float)) << algorithm;
    const Counters counters = comm.counters();
    EXPECT_EQ(counters.at("device.fetched_bytes"), count * sizeof(float)) << algorithm;
    EXPECT_EQ(counters.at("device.stored_bytes"), count * sizeof(float)) << algorithm;
    EXPECT_EQ(counters.at("device.runs_on_host"), 1U);
  }
}

// Where the device works, it sends and receives no more than the messages of the algorithm.
TEST_F(DeviceCounts, TheDeviceMovesNoMoreThanItsMessages) {
  const Setting on_device{"TUTTI_STAGING", "device"};
  for (const std::string& algorithm : allreduces()) {
    const Communicator comm{MPI_COMM_WORLD};
    Buffers data(100'000);
    data.allreduce(Op::sum, comm, {.algorithm = algorithm});
    const MessageCounters messages = comm.message_counters();
    const Counters counters = comm.counters();
    EXPECT_EQ(counters.at("device.runs_on_device"), 1U) << algorithm;
    EXPECT_LE(counters.at("device.fetched_bytes"), messages.shm.sent_bytes + messages.mpi.sent_bytes) << algorithm;
    EXPECT_LE(counters.at("device.stored_bytes"), messages.shm.received_bytes + messages.mpi.received_bytes)
        << algorithm;
  }
}

// A call that repeats: of the driver's functions only those that look at the buffers, post work, and ask for its end.
TEST_F(DeviceCounts, RepeatedCallsAllocateNothingAndWaitForNothing) {
  for (const char* worker : {"host", "device"}) {
    const Setting staging{"TUTTI_STAGING", worker};
    const Communicator comm{MPI_COMM_WORLD};
    Buffers data(100'000);
    for (int again = 0; again < 3; ++again)
      data.allreduce(Op::avg, comm);
    constexpr std::uint64_t repeats = 5;
    const auto calls_of = [&](const char* name) { return devices_.calls(name); };
    const std::vector<const char*> none{
        "cuMemAlloc",    "cuMemFree",        "cuMemHostRegister",   "cuMemHostUnregister", "cuStreamCreate",
        "cuEventCreate", "cuModuleLoadData", "cuStreamSynchronize", "cuCtxGetId",          "cuEventSynchronize"};
    std::vector<std::uint64_t> calls;
    for (const char* name : none)
      calls.push_back(calls_of(name));
    const FakeCudaCounters before = devices_.counters();
    const std::uint64_t lookups = calls_of("cuPointerGetAttributes"), copies = calls_of("cuMemcpyAsync"),
                        kernels = calls_of("cuLaunchKernel"), records = calls_of("cuEventRecord");
    const Counters ours = comm.counters();
    for (std::uint64_t again = 0; again < repeats; ++again)
      data.allreduce(Op::avg, comm);
    const Counters later = comm.counters();
    for (std::size_t i = 0; i < none.size(); ++i)
      EXPECT_EQ(calls_of(none[i]), calls[i]) << none[i];
    EXPECT_EQ(devices_.counters().synchronisations, before.synchronisations);
    EXPECT_EQ(calls_of("cuPointerGetAttributes") - lookups, 2 * repeats) << "one for each buffer";
    const std::uint64_t moved =
        later.at("device.fetched") - ours.at("device.fetched") + later.at("device.stored") - ours.at("device.stored");
    const std::uint64_t all_copies = calls_of("cuMemcpyAsync") - copies,
                        all_kernels = calls_of("cuLaunchKernel") - kernels;
    const std::uint64_t all_records = calls_of("cuEventRecord") - records;
    EXPECT_GE(all_copies, moved);
    if (std::string_view{worker} == "host") {
      EXPECT_EQ(all_copies, moved) << "one for each chunk";
      EXPECT_EQ(all_records, moved);
      EXPECT_EQ(all_kernels, later.at("device.stored") - ours.at("device.stored")) << "the division, with each store";
    } else {
      EXPECT_EQ(all_records, all_copies + all_kernels) << "one for each copy and kernel";
    }
  }
}

// A rank may give a buffer that the call does not use there: the call is known again all the same.
TEST_F(DeviceCounts, CallsWithUnusedBuffersAreKnownAgain) {
  const Communicator comm{MPI_COMM_WORLD};
  Buffers data(1000);
  const auto call = [&] {
    reduce(data.in.data(), data.out.data(), Count{1000}, Type::fp32, Op::sum, Rank{comm.size() - 1}, comm);
  };
  call();
  const std::uint64_t before = devices_.calls("cuPointerGetAttributes");
  for (int again = 0; again < 5; ++again)
    call();
  EXPECT_EQ(devices_.calls("cuPointerGetAttributes") - before, 10U);
}

TEST_F(DeviceCounts, StagingMemoryIsNoMoreThanWhatIsUsedAtOnce) {
  const Setting on_host{"TUTTI_STAGING", "host"};
  const Communicator comm{MPI_COMM_WORLD};
  Buffers data(100'000);
  const std::uint64_t before = devices_.counters().live_pinned;
  for (const std::size_t count : {1'000U, 5'000U, 2'000U, 50'000U, 100'000U, 700U, 30'000U}) {
    data.count = count;
    data.allreduce(Op::sum, comm);
  }
  EXPECT_LE(devices_.counters().live_pinned - before, 1U);
}

/// Whether results were on their way back before the last of the input had come: messages were sent, received and
/// reduced meanwhile.
bool overlap(const std::vector<FakeCudaOperation>& timeline) {
  std::uint64_t first_store = UINT64_MAX, last_fetch = 0;
  for (const FakeCudaOperation& operation : timeline) {
    const std::string_view kind{operation.kind};
    if (kind == "copy-to-host") last_fetch = std::max(last_fetch, operation.ended_ns);
    if (kind == "copy-to-device") first_store = std::min(first_store, operation.posted_ns);
  }
  return first_store < last_fetch;
}

// The fake driver makes each copy late by up to FAKE_CUDA_DELAY_US. Of several calls one must overlap: a rank may lose
// its processor in any of them. That it may happen follows from the plan: staged_plans_test.
TEST_F(DeviceCounts, CopiesOverlapWithMessages) {
  if (world_size() == 1) GTEST_SKIP() << "one rank sends no message";
  if (std::getenv("FAKE_CUDA_DELAY_US") == nullptr) GTEST_SKIP() << "copies are not late";
  const Setting on_host{"TUTTI_STAGING", "host"};
  const Communicator comm{MPI_COMM_WORLD};
  Buffers data(1 << 20);
  int overlapping = 0;
  for (int again = 0; again < 4; ++again) {
    devices_.clear_timeline();
    data.allreduce(Op::sum, comm, {.algorithm = "ring/256K"});
    overlapping += overlap(devices_.timeline()) ? 1 : 0;
  }
  EXPECT_GT(overlapping, 0);
}

}  // namespace
}  // namespace tutti::test
