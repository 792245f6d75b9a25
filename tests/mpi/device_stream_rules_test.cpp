// The rules of calls in the order of a stream: what they wait for, what they cost, and what is refused.
#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>

#include "tests/mpi/device_stream_cases.hpp"
#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

using testing::HasSubstr;

class StreamRules : public OnStream {
 protected:
  void sum(Ones& data, const TestStream& stream) { allreduce(data.span(), Op::sum, *comm_, {.stream = stream.get()}); }
  /// A word that streams may wait for, 0.
  static volatile std::uint32_t* word(DeviceArray& pinned) {
    auto* const at = reinterpret_cast<volatile std::uint32_t*>(pinned.data());
    *at = 0;
    return at;
  }
};

TEST_F(StreamRules, CallsReturnAtOnceAndBeginWhenTheirTurnComes) {
  DeviceArray pinned{sizeof(std::uint32_t), TestDevices::Kind::pinned};
  volatile std::uint32_t* const go = word(pinned);
  Ones data{100};
  stream_->wait_for(go);
  for (int again = 0; again < 3; ++again)
    sum(data, *stream_);
  EXPECT_FALSE(stream_->is_idle());
  MPI_Barrier(MPI_COMM_WORLD);  // no rank is held up by any of its calls
  *go = 1;
  stream_->synchronize();
  const auto p = static_cast<float>(world_size());
  EXPECT_EQ(data.value(), p * p * p);
}

TEST_F(StreamRules, CallsOfACommunicatorRunInOrderInAnyStreams) {
  const TestStream other;
  Ones data{5000};
  for (int again = 0; again < 2; ++again) {
    sum(data, *stream_);
    sum(data, other);
  }
  other.synchronize();
  const auto p = static_cast<float>(world_size());
  EXPECT_EQ(data.value(), p * p * p * p);
}

TEST_F(StreamRules, TwoCommunicatorsMayBeCalledInOppositeOrder) {
  const Communicator second{MPI_COMM_WORLD};
  const TestStream other;
  Ones a{3000}, b{3000};
  for (int again = 0; again < 5; ++again) {
    a.write();
    b.write();
    const auto first_one = [&] { allreduce(a.span(), Op::sum, *comm_, {.stream = stream_->get()}); };
    const auto second_one = [&] { allreduce(b.span(), Op::sum, second, {.stream = other.get()}); };
    if (world_rank() % 2 == 0) {
      first_one();
      second_one();
    } else {
      second_one();
      first_one();
    }
    stream_->synchronize();
    other.synchronize();
    EXPECT_EQ(a.value(), static_cast<float>(world_size()));
    EXPECT_EQ(b.value(), static_cast<float>(world_size()));
  }
}

TEST_F(StreamRules, TheProgramMayFreeMemoryWhileACallWaits) {
  if (devices_.is_fake() && std::getenv("FAKE_CUDA_ABORT") != nullptr) GTEST_SKIP() << "that is a fault by name";
  expects_faults_ = true;
  Ones data{100};
  std::optional<Ones> other{10};
  if (world_rank() > 0) std::this_thread::sleep_for(std::chrono::milliseconds{50});
  sum(data, *stream_);
  other.reset();  // waits for the device, in which the call waits for the other ranks
  stream_->synchronize();
  EXPECT_EQ(data.value(), static_cast<float>(world_size()));
}

TEST_F(StreamRules, GraphsRunWhatPlansPutIntoThem) {
  Ones data{64};
  const Plan plan = plan_allreduce(data.span(), Op::sum, *comm_, {.stream = stream_->get()});
  EXPECT_THAT(plan.explain(), HasSubstr("in a stream: "));
  EXPECT_THAT(plan.explain(), HasSubstr("kernels"));
  const TestGraph graph{*stream_, [&] {
                          const_cast<Plan&>(plan).start();
                          const_cast<Plan&>(plan).start();
                        }};
  float expected = 1;
  for (int again = 0; again < 3; ++again) {
    graph.launch(*stream_);
    expected *= static_cast<float>(world_size() * world_size());
    sum(data, *stream_);  // beside calls that are in no graph
    expected *= static_cast<float>(world_size());
  }
  stream_->synchronize();
  EXPECT_EQ(data.value(), expected);
}

/// While a graph is there, it may run at any time, so that nothing is freed that may wait for the device.
TEST_F(StreamRules, MemoryIsGivenBackOnceGraphsAreGone) {
  Ones data{8};
  const auto memory_after_rounds = [&] {
    for (int round = 0; round < 20; ++round) {
      DeviceBuffer<float> buffer{std::size_t{1} << 16};
      broadcast(buffer.span(), Rank{0}, *comm_);
      sum(data, *stream_);
      stream_->synchronize();
    }
    MPI_Barrier(MPI_COMM_WORLD);
    sum(data, *stream_);
    stream_->synchronize();
    return devices_.counters().live_device;
  };
  const std::uint64_t before = memory_after_rounds();
  {
    const TestGraph graph{*stream_, [&] { sum(data, *stream_); }};
    graph.launch(*stream_);
    stream_->synchronize();
  }
  EXPECT_TRUE(capture(*stream_, [&] { sum(data, *stream_); }));  // a graph that never runs
  const std::uint64_t after = memory_after_rounds();
  if (devices_.is_fake()) {
    EXPECT_LE(after, before + 4);
  }
}

TEST_F(StreamRules, PlansTellWhenTheyAreOver) {
  Ones data{64};
  Plan plan = plan_allreduce(data.span(), Op::sum, *comm_, {.stream = stream_->get()});
  for (int again = 0; again < 3; ++again)
    plan.start();
  plan.wait();
  EXPECT_TRUE(plan.test());
  EXPECT_TRUE(stream_->is_idle());
  const auto p = static_cast<float>(world_size());
  EXPECT_EQ(data.value(), p * p * p);
}

/// Kernels, copies, waits and calls of the driver in one call that is like one before.
TEST_F(StreamRules, ShortCallsAreTwoKernelsAndFewCallsOfTheDriver) {
  if (!devices_.is_fake() || world_size() == 1) GTEST_SKIP() << "counted by the fake driver, on two ranks or more";
  Ones in{2}, out{2};
  const Plan in_place = plan_allreduce(in.span(), Op::sum, *comm_, {.stream = stream_->get()});
  EXPECT_THAT(in_place.explain(), HasSubstr("1 kernels, 1 copies"));
  const auto call = [&] { allreduce(in.span(), out.span(), Op::sum, *comm_, {.stream = stream_->get()}); };
  call();
  stream_->synchronize();
  MPI_Barrier(MPI_COMM_WORLD);
  const FakeCudaCounters before = devices_.counters();
  const auto memory_calls = devices_.calls("cuStreamBatchMemOp");
  const Counters counted = comm_->counters();
  call();
  const FakeCudaCounters after = devices_.counters();
  const Counters now = comm_->counters();
  const auto peers = static_cast<std::uint64_t>(world_size() - 1);
  const std::uint64_t launches = world_size() == 2 ? 1 : 2;  // to one peer by a copy, to several by a kernel
  EXPECT_EQ(after.kernels - before.kernels, launches);
  EXPECT_EQ(after.copies - before.copies, 2 - launches);
  EXPECT_EQ(after.synchronisations, before.synchronisations);
  EXPECT_EQ(devices_.calls("cuStreamBatchMemOp") - memory_calls, 3U);
  EXPECT_EQ(now.at("device.stream.waits") - counted.at("device.stream.waits"), 2 * peers);
  EXPECT_EQ(now.at("device.stream.writes") - counted.at("device.stream.writes"), 2 * peers);
  // Besides the launches and flags: look-ups of both buffers, four questions about the stream, an event, and changes of
  // the context.
  EXPECT_EQ(after.calls - before.calls, 20U);
  stream_->synchronize();
}

TEST_F(StreamRules, MistakesAreRefusedBeforeAnythingIsPutIntoTheStream) {
  Ones data{8};
  std::vector<float> host(8);
  const Options in_stream{.stream = stream_->get()};
  EXPECT_THAT(text_of([&] { allreduce(host, Op::sum, *comm_, in_stream); }),
              HasSubstr("argument 'in' is memory of the host, in a call with a stream; allowed: memory of the device"));
  EXPECT_THAT(text_of([&] { static_cast<void>(allreduce_async(data.span(), Op::sum, *comm_, in_stream)); }),
              HasSubstr("argument 'stream' is given to a nonblocking call; allowed: a stream in a blocking call"));
  const Op mine = Op::user([](const void*, const void*, void*, Count, void*) {}, Commutative::yes);
  EXPECT_THAT(text_of([&] { allreduce(data.span(), mine, *comm_, in_stream); }), HasSubstr("without a kernel"));
  if (devices_.count() > 1) {
    devices_.use((world_rank() + 1) % devices_.count());
    const TestStream far;
    devices_.use(world_rank() % devices_.count());
    EXPECT_THAT(text_of([&] { allreduce(data.span(), Op::sum, *comm_, {.stream = far.get()}); }),
                HasSubstr("argument 'stream' is a stream of another device"));
  }
  sum(data, *stream_);
  stream_->synchronize();
  EXPECT_EQ(data.value(), static_cast<float>(world_size()));
  EXPECT_EQ(comm_->status(), "");
}

TEST_F(StreamRules, BuffersOfAPlanMustStay) {
  if (world_size() == 1) GTEST_SKIP() << "one rank uses no buffer of an allreduce in place";
  std::optional<Ones> data{8};
  // The ranks of a plan reach each other's buffers.
  Plan plan = plan_allreduce(data->span(), Op::sum, *comm_, {.algorithm = "two_shot", .stream = stream_->get()});
  plan.start();
  plan.wait();
  data.reset();
  EXPECT_THAT(text_of([&] { plan.start(); }), HasSubstr("a buffer of the plan was freed"));
  EXPECT_EQ(comm_->status(), "");
}

TEST_F(StreamRules, CapturedCallsThatNeedTheHostAreRefused) {
  const Communicator other{MPI_COMM_WORLD, {.buffers = "host"}};
  Ones data{8};
  std::string text;
  capture(*stream_,
          [&] { text = text_of([&] { allreduce(data.span(), Op::sum, other, {.stream = stream_->get()}); }); });
  EXPECT_THAT(text,
              HasSubstr("a stream that is captured, though the host has to move this call, as not all ranks used"));
  allreduce(data.span(), Op::sum, other, {.stream = stream_->get()});
  stream_->synchronize();
  EXPECT_EQ(data.value(), static_cast<float>(world_size()));
  EXPECT_EQ(other.counters().at("device.stream.gated"), 1U);
  Plan plan = plan_allreduce(data.span(), Op::sum, other, {.stream = stream_->get()});
  EXPECT_THAT(plan.explain(), HasSubstr("in a stream, moved by the host, as not all ranks used a CUDA device"));
  capture(*stream_, [&] { text = text_of([&] { plan.start(); }); });
  EXPECT_THAT(text, HasSubstr("a stream that is captured"));
  plan.start();
  plan.wait();
  EXPECT_EQ(data.value(), static_cast<float>(world_size() * world_size()));
}

TEST_F(StreamRules, CallsThatTheHostMovesMayBeMany) {
  const Communicator other{MPI_COMM_WORLD, {.buffers = "host"}};
  std::vector<std::unique_ptr<Ones>> all;
  for (int i = 0; i < 40; ++i)  // more than are under way at a time
    all.push_back(std::make_unique<Ones>(static_cast<std::size_t>(1000 * (i + 1))));
  for (const auto& each : all)
    allreduce(each->span(), Op::sum, other, {.stream = stream_->get()});
  stream_->synchronize();
  for (const auto& each : all)
    EXPECT_EQ(each->value(), static_cast<float>(world_size()));
}

/// Tutti's own streams have the greatest priority, and so other hardware queues than most of the program's.
TEST_F(StreamRules, CallsThatTheHostMovesMayBeInMoreStreamsThanADeviceHasQueues) {
  const Communicator other{MPI_COMM_WORLD, {.buffers = "host"}};
  std::vector<std::unique_ptr<TestStream>> streams;
  std::vector<std::unique_ptr<Ones>> all;
  for (int i = 0; i < 12; ++i) {
    streams.push_back(std::make_unique<TestStream>());
    all.push_back(std::make_unique<Ones>(1000));
  }
  if (world_rank() > 0) MPI_Barrier(MPI_COMM_WORLD);  // so that all streams of rank 0 wait
  testing::internal::CaptureStderr();
  for (std::size_t i = 0; i < all.size(); ++i)
    allreduce(all[i]->span(), Op::sum, other, {.stream = streams[i]->get()});
  const std::string said = testing::internal::GetCapturedStderr();
  if (world_rank() == 0) MPI_Barrier(MPI_COMM_WORLD);
  for (const auto& each : streams)
    each->synchronize();
  if (world_rank() == 0 && world_size() > 1) {
    EXPECT_THAT(said, HasSubstr("streams wait for calls that the host moves, and a context has"));
  }
  for (const auto& each : all)
    EXPECT_EQ(each->value(), static_cast<float>(world_size()));
  EXPECT_EQ(other.status(), "");
  EXPECT_EQ(other.counters().at("device.stream.gated"), all.size());
}

/// Tutti's own streams share queues with streams of the program that have the same priority.
TEST_F(StreamRules, CopiesBehindAStreamThatWaitsForThemAreAnErrorAfterTheHangTime) {
  const char* const shared = std::getenv("FAKE_CUDA_SHARED_QUEUES");
  const char* const queues = std::getenv("CUDA_DEVICE_MAX_CONNECTIONS");
  if (!devices_.is_fake() || shared == nullptr || queues == nullptr)
    GTEST_SKIP() << "needs the fake driver, with FAKE_CUDA_SHARED_QUEUES=1 and CUDA_DEVICE_MAX_CONNECTIONS=2";
  const Communicator other{MPI_COMM_WORLD, {.buffers = "host"}};
  std::vector<std::unique_ptr<TestStream>> streams;
  std::vector<std::unique_ptr<Ones>> all;
  for (int i = 0; i < 6; ++i) {
    streams.push_back(std::make_unique<TestStream>(TestStream::Priority::greatest));
    all.push_back(std::make_unique<Ones>(1000));
  }
  for (std::size_t i = 0; i < all.size(); ++i)
    static_cast<void>(text_of([&] { allreduce(all[i]->span(), Op::sum, other, {.stream = streams[i]->get()}); }));
  for (const auto& each : streams)
    each->synchronize();
  EXPECT_THAT(other.status(), HasSubstr("allowed: CUDA_DEVICE_MAX_CONNECTIONS=32, or calls in fewer streams"));
  EXPECT_THAT(text_of([&] { allreduce(all[0]->span(), Op::sum, other, {.stream = streams[0]->get()}); }),
              HasSubstr("unusable"));
}

TEST_F(StreamRules, AnErrorOfTheDriverIsToldByTheCallAndByTheStatus) {
  if (!devices_.is_fake() || world_size() > 1) GTEST_SKIP() << "made by the fake driver, on one rank";
  Ones in{8}, out{8};
  devices_.fail("cuMemcpyAsync:1:1");
  const auto call = [&] { allreduce(in.span(), out.span(), Op::sum, *comm_, {.stream = stream_->get()}); };
  EXPECT_THAT(text_of(call), HasSubstr("cuMemcpyAsync"));
  devices_.fail("");
  EXPECT_THAT(comm_->status(), HasSubstr("cuMemcpyAsync"));
  EXPECT_THAT(text_of(call), HasSubstr("the communicator is unusable since an operation failed"));
}

TEST_F(StreamRules, WithoutMemoryForProgramsTheHostMovesCalls) {
  if (!devices_.is_fake()) GTEST_SKIP() << "the failures are the fake driver's";
  Ones data{8};
  for (const char* const failure : {"cuMemAlloc:1:2", "cuIpcOpenMemHandle:1:1"}) {
    if (world_size() == 1 && std::string{failure}.find("MemAlloc") == std::string::npos) continue;
    data.write();
    if (world_rank() == 0) devices_.fail(failure);
    const Communicator other{MPI_COMM_WORLD};
    if (world_rank() == 0) devices_.fail("");
    const Plan plan = plan_allreduce(data.span(), Op::sum, other, {.stream = stream_->get()});
    EXPECT_THAT(plan.explain(), HasSubstr("moved by the host, as a rank has no device, no memory on it")) << failure;
    allreduce(data.span(), Op::sum, other, {.stream = stream_->get()});
    stream_->synchronize();
    EXPECT_EQ(data.value(), static_cast<float>(world_size()));
  }
}

TEST_F(StreamRules, CommunicatorsComeAndGo) {
  Ones data{64};
  for (int again = 0; again < 12; ++again) {
    const Communicator comm{MPI_COMM_WORLD};
    data.write();
    allreduce(data.span(), Op::sum, comm, {.stream = stream_->get()});
    if (again % 2 == 0) stream_->synchronize();  // else close() waits
  }
  stream_->synchronize();
  EXPECT_EQ(data.value(), static_cast<float>(world_size()));
}

}  // namespace
}  // namespace tutti::test
