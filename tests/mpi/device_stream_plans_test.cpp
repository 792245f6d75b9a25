// Plans in the order of a stream, whose ranks reach each other's buffers: what they move, and when they cannot.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tests/mpi/device_stream_cases.hpp"
#include "tests/mpi/mapped_memory.hpp"
#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using StreamPlans = OnStream;

/// A long allreduce reads every input once, and writes every output once: no more than a blocking one.
TEST_F(StreamPlans, MoveEachByteOnceInAndOnceOut) {
  if (!devices_.is_fake() || world_size() == 1) GTEST_SKIP() << "counted by the fake driver, on two ranks or more";
  const std::size_t count = std::size_t{1} << 13, ranks = static_cast<std::size_t>(world_size());
  Ones in{ranks * count}, out{ranks * count};
  const Options options{.algorithm = "two_shot", .stream = stream_->get()};
  Plan plan = plan_allreduce(in.span(), out.span(), Op::sum, *comm_, options);
  EXPECT_THAT(plan.explain(), HasSubstr("1 kernels, 0 copies"));
  EXPECT_THAT(plan.explain(), HasSubstr("1 programs; messages stay in the buffers of the ranks"));
  const auto traffic_of = [&](const std::function<void()>& call) {
    stream_->synchronize();
    MPI_Barrier(MPI_COMM_WORLD);
    const FakeCudaCounters before = devices_.counters();
    call();
    stream_->synchronize();
    const FakeCudaCounters after = devices_.counters();
    return after.bytes_read - before.bytes_read + after.bytes_written - before.bytes_written +
           2 * (after.bytes_within_devices - before.bytes_within_devices);
  };
  const std::uint64_t bytes = ranks * count * sizeof(float);
  const std::uint64_t planned = traffic_of([&] { plan.start(); });
  EXPECT_EQ(planned, 2 * bytes);
  EXPECT_EQ(out.value(), static_cast<float>(world_size()));
  const std::uint64_t called = traffic_of([&] { allreduce(in.span(), out.span(), Op::sum, *comm_, options); });
  EXPECT_GE(called, 3 * bytes) << "messages pass landing areas";
  if (world_rank() == 0) fmt::print("{} bytes: {} moved by the plan, {} by the call\n", bytes, planned, called);
  Plan in_place = plan_allreduce(in.span(), Op::sum, *comm_, options);
  EXPECT_EQ(traffic_of([&] { in_place.start(); }), 2 * bytes);
  EXPECT_EQ(in.value(), static_cast<float>(world_size()));
}

/// Ranks differ in whether input and output are one buffer, which only they themselves know before.
TEST_F(StreamPlans, MayBeInPlaceOnSomeRanks) {
  for (const char* const algorithm : {"one_shot", "two_shot", "ring", "recursive_doubling"}) {
    Ones in{1000}, out{1000};
    const Options options{.algorithm = algorithm, .stream = stream_->get()};
    const bool is_in_place = world_rank() % 2 == 0;
    Ones& result = is_in_place ? in : out;
    Plan plan = plan_allreduce(in.span(), result.span(), Op::sum, *comm_, options);
    plan.start();
    stream_->synchronize();
    EXPECT_EQ(result.value(), static_cast<float>(world_size())) << algorithm;
  }
}

/// All ranks take the same way if the memory of one cannot be mapped.
TEST_F(StreamPlans, OnMemoryThatPeersCannotMapPassLandingAreas) {
  if (world_size() == 1) GTEST_SKIP() << "one rank has no peers";
  Ones data{5000, world_rank() == 0 ? TestDevices::Kind::pool : TestDevices::Kind::device};
  Plan plan = plan_allreduce(data.span(), Op::sum, *comm_, {.algorithm = "two_shot", .stream = stream_->get()});
  EXPECT_THAT(plan.explain(), HasSubstr("messages pass landing areas"));
  plan.start();
  plan.wait();
  EXPECT_EQ(data.value(), static_cast<float>(world_size()));
}

TEST_F(StreamPlans, OnMemoryOfTheProgramsOwnMaking) {
  const Mapped data{world_rank() % devices_.count(), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
  const std::vector<float> ones(1000, 1);
  std::vector<float> sums(1000);
  devices_.copy(data.data(), ones.data(), 4000);
  const DeviceSpan span{reinterpret_cast<float*>(data.data()), 1000};
  Plan plan = plan_allreduce(span, Op::sum, *comm_, {.algorithm = "two_shot", .stream = stream_->get()});
  EXPECT_THAT(plan.explain(), HasSubstr(world_size() > 1 ? "messages stay in the buffers" : "in a stream"));
  plan.start();
  plan.wait();
  devices_.copy(sums.data(), data.data(), 4000);
  EXPECT_EQ(sums, std::vector<float>(1000, static_cast<float>(world_size())));
}

TEST_F(StreamPlans, GraphsOutliveTheirPlans) {
  Ones data{3000};
  const Options options{.algorithm = "two_shot", .stream = stream_->get()};
  std::optional<Plan> plan = plan_allreduce(data.span(), Op::sum, *comm_, options);
  const TestGraph graph{*stream_, [&] { plan->start(); }};
  plan.reset();
  float expected = 1;
  for (int again = 0; again < 3; ++again) {
    Ones other{3000};  // whose allocation may take a place in the tables of mappings
    broadcast(other.span(), Rank{0}, *comm_);
    graph.launch(*stream_);
    stream_->synchronize();
    expected *= static_cast<float>(world_size());
  }
  EXPECT_EQ(data.value(), expected);
}

TEST_F(StreamPlans, InDifferentStreamsRunInOrder) {
  const TestStream other;
  Ones data{70'000};
  Plan first = plan_allreduce(data.span(), Op::sum, *comm_, {.algorithm = "two_shot", .stream = stream_->get()});
  Plan second = plan_allreduce(data.span(), Op::sum, *comm_, {.algorithm = "one_shot", .stream = other.get()});
  for (int again = 0; again < 2; ++again) {
    first.start();
    second.start();
    allreduce(data.span(), Op::sum, *comm_, {.stream = stream_->get()});
  }
  stream_->synchronize();
  other.synchronize();
  const auto p = static_cast<float>(world_size());
  EXPECT_EQ(data.value(), p * p * p * p * p * p);
}

/// Before any rank reaches another's memory.
TEST_F(StreamPlans, ThatDoNotMatchAreRefusedOnAllRanks) {
  if (world_size() == 1) GTEST_SKIP() << "one rank has no peers";
  Ones data{1000}, out{1000};
  const Options options{.stream = stream_->get()};
  const std::string counts = text_of<MismatchError>([&] {
    static_cast<void>(plan_allreduce(data.data(), out.data(), Count{world_rank() == 0 ? 1000 : 500}, Type::fp32,
                                     Op::sum, *comm_, options));
  });
  EXPECT_THAT(counts, HasSubstr("in the making of a plan in a stream"));
  EXPECT_THAT(counts, AllOf(HasSubstr("count "), HasSubstr("500 on rank")));
  const std::string operations = text_of<MismatchError>([&] {
    static_cast<void>(plan_allreduce(data.span(), out.span(), world_rank() == 0 ? Op::sum : Op::max, *comm_, options));
  });
  EXPECT_THAT(operations, AllOf(HasSubstr("operation "), HasSubstr("max on rank")));
  Plan plan = plan_allreduce(data.span(), out.span(), Op::sum, *comm_, options);
  plan.start();
  stream_->synchronize();
  EXPECT_EQ(out.value(), static_cast<float>(world_size()));
}

/// In the thread that captures, and beside a capture of any mode.
TEST_F(StreamPlans, MayBeMadeInACapture) {
  Ones data{1000}, out{1000};
  std::optional<Plan> plan;
  const TestGraph graph{
      *stream_, [&] {
        plan.emplace(plan_allreduce(data.span(), out.span(), Op::sum, *comm_, {.stream = stream_->get()}));
        plan->start();
      }};
  graph.launch(*stream_);
  stream_->synchronize();
  EXPECT_EQ(out.value(), static_cast<float>(world_size()));
  EXPECT_EQ(comm_->status(), "");
}

/// Only the root has a result of a reduction: the others' buffer may be anything.
TEST_F(StreamPlans, DoNotWatchBuffersThatARankDoesNotUse) {
  Ones data{1000};
  std::optional<Ones> out{1000};
  Plan plan = plan_reduce(data.data(), out->data(), Count{1000}, Type::fp32, Op::sum, Rank{0}, *comm_,
                          {.stream = stream_->get()});
  if (world_rank() > 0) out.reset();
  plan.start();
  stream_->synchronize();
  if (world_rank() == 0) {
    EXPECT_EQ(out->value(), static_cast<float>(world_size()));
  }
}

/// Nothing of it is asked any more: another context may have its handle.
TEST_F(StreamPlans, OfAContextThatIsGoneAreOver) {
  CUcontext own = nullptr;
  check(of_driver<CUresult(CUcontext*, unsigned, CUdevice)>("cuCtxCreate_v2")(&own, 0, 0), "cuCtxCreate");
  std::optional<Communicator> comm;
  {
    const TestStream stream;
    Ones data{1000};
    comm.emplace(MPI_COMM_WORLD);
    allreduce(data.span(), Op::sum, *comm, {.stream = stream.get()});
    stream.synchronize();
    EXPECT_EQ(data.value(), static_cast<float>(world_size()));
  }
  check(of_driver<decltype(cuCtxDestroy)>("cuCtxDestroy_v2")(own), "cuCtxDestroy");
  EXPECT_EQ(comm->status(), "");
  comm.reset();
}

}  // namespace
}  // namespace tutti::test
