// Device data inside a node: peers map each other's memory, and take messages where they are.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <string>
#include <thread>

#include "lib/core/communicator/communicator_state.hpp"
#include "tests/mpi/device_ipc_cases.hpp"

namespace tutti::test {
namespace {

TEST_F(DeviceIpc, AllreduceOfFewBytesIsOneKernelARank) {
  if (!counts()) GTEST_SKIP() << "only the fake driver counts";
  const Ones in(2), out(2);
  const auto call = [&] { allreduce(in.data(), out.data(), Count{2}, Type::fp32, Op::sum, comm_); };
  const FakeCudaCounters counters = counted(call);
  const std::uint64_t reduced = comm_.counters().at("device.ipc.reduced");
  EXPECT_EQ(out.value(), static_cast<float>(world_size()));
  EXPECT_EQ(counters.kernels, 1U);
  EXPECT_EQ(counters.copies, 0U);
  EXPECT_EQ(counters.synchronisations, 0U);
  const std::vector<const char*> posts{"cuLaunchKernel", "cuEventRecord", "cuPointerGetAttributes"};
  std::vector<std::uint64_t> before, calls;
  for (const char* name : posts)
    before.push_back(devices_.calls(name));
  call();
  for (std::size_t i = 0; i < posts.size(); ++i)
    calls.push_back(devices_.calls(posts[i]) - before[i]);
  MPI_Barrier(MPI_COMM_WORLD);  // as in counted()
  // Both buffers are looked up by the call, and the input again before peers are told of it.
  EXPECT_EQ(calls, (std::vector<std::uint64_t>{1, 1, 3}));
  const Counters ours = comm_.counters();
  EXPECT_EQ(ours.at("device.ipc.reduced"), reduced + 1);
  EXPECT_EQ(ours.at("device.ipc.staged") + ours.at("device.ipc.refused"), 0U);
}

TEST_F(DeviceIpc, MeasurementsMayHaveOtherThresholds) {
  if (!counts()) GTEST_SKIP() << "only the fake driver counts";
  if (world_size() == 2) GTEST_SKIP() << "two ranks need no copy";
  const Communicator comm{MPI_COMM_WORLD, {.buffers = "device"}};
  comm.state().tune({.copied_in_place = 0});
  const Ones data(2);
  const FakeCudaCounters counters = counted([&] { allreduce(data.span(), Op::max, comm); });
  EXPECT_EQ(data.value(), 1);
  // A copy and a kernel on each rank, else.
  EXPECT_GT(sum_of_ranks(counters.copies + counters.kernels), 2U * static_cast<std::uint64_t>(world_size()));
}

TEST_F(DeviceIpc, AllreduceOfFewBytesInPlaceIsACopyAndAKernel) {
  if (!counts()) GTEST_SKIP() << "only the fake driver counts";
  if (world_size() == 2) GTEST_SKIP() << "two ranks need no copy";
  const Ones data(2);
  const FakeCudaCounters counters = counted([&] { allreduce(data.span(), Op::sum, comm_); });
  EXPECT_EQ(data.value(), static_cast<float>(world_size() * world_size()));
  EXPECT_EQ(counters.kernels, 1U);
  EXPECT_EQ(counters.copies, 1U);
  EXPECT_EQ(counters.synchronisations, 0U);
}

// Every input is read once, every output written once: 2kn bytes for k ranks.
TEST_F(DeviceIpc, LongAllreducesMoveTheLeastBytes) {
  if (!counts()) GTEST_SKIP() << "only the fake driver counts";
  for (const std::size_t bytes : {std::size_t{1} << 20, (std::size_t{3} << 20) + 20})
    for (const bool in_place : {false, true}) {
      const Ones in(bytes / sizeof(float)), out(bytes / sizeof(float));
      const Ones& from = in_place ? out : in;
      const auto count = static_cast<std::int64_t>(bytes / sizeof(float));
      const FakeCudaCounters counters =
          counted([&] { allreduce(from.data(), out.data(), Count{count}, Type::fp32, Op::max, comm_); });
      EXPECT_EQ(out.value(), 1);
      EXPECT_EQ(counters.kernels, 1U);
      EXPECT_EQ(counters.bytes_to_host + counters.bytes_to_device, 0U);
      const double least = 2.0 * world_size() * static_cast<double>(bytes);
      EXPECT_NEAR(static_cast<double>(traffic(counters)), least, 0.05 * least)
          << bytes << (in_place ? " in place" : "");
    }
  EXPECT_GT(comm_.counters().at("device.ipc.put"), 0U);
}

TEST_F(DeviceIpc, OthersMoveTheLeastBytes) {
  if (!counts()) GTEST_SKIP() << "only the fake driver counts";
  constexpr std::int64_t count = 50'000;
  constexpr std::uint64_t bytes = count * sizeof(float);
  const auto ranks = static_cast<std::uint64_t>(world_size());
  const Ones in(count * ranks), out(count * ranks);
  const auto copied = [&](const auto& call) {
    const FakeCudaCounters counters = counted(call);
    EXPECT_EQ(counters.kernels, 0U);
    EXPECT_EQ(counters.bytes_to_host + counters.bytes_to_device, 0U);
    return sum_of_ranks(counters.bytes_within_devices);
  };
  EXPECT_EQ(copied([&] { broadcast(out.data(), Count{count}, Type::fp32, Rank{0}, comm_); }), (ranks - 1) * bytes);
  EXPECT_EQ(copied([&] { allgather(in.data(), out.data(), Count{count}, Type::fp32, comm_); }), ranks * ranks * bytes);
  EXPECT_EQ(copied([&] { alltoall(in.data(), out.data(), Count{count}, Type::fp32, comm_); }), ranks * ranks * bytes);
  const FakeCudaCounters counters =
      counted([&] { reduce_scatter(in.data(), out.data(), Count{count}, Type::fp32, Op::min, comm_); });
  EXPECT_EQ(counters.kernels, 1U);
  EXPECT_EQ(traffic(counters), ranks * ranks * bytes + ranks * bytes);
}

// Messages between pairs are in a lane of their own: a collective that has begun elsewhere is no other kind of call.
TEST_F(DeviceIpc, MessagesMayComeBeforeACollectiveThatPeersHaveBegun) {
  const Ones data(100), received(100);
  std::vector<float> number(1, 7);
  if (world_rank() == 1) {
    Request begun = broadcast_async(std::span{number}, Rank{1}, comm_);
    std::this_thread::sleep_for(std::chrono::milliseconds{200});
    send(data.data(), Count{100}, Type::fp32, Rank{0}, comm_);
    begun.wait();
    return;
  }
  if (world_rank() == 0) {
    recv(received.data(), Count{100}, Type::fp32, Rank{1}, comm_);
    EXPECT_EQ(received.value(), 1);
    EXPECT_GT(comm_.counters().at("device.ipc.taken"), 0U);
  }
  broadcast_async(std::span{number}, Rank{1}, comm_).wait();
}

TEST_F(DeviceIpc, ATestOfTwoKindsOfMemory) {
  std::vector<float> host(1000, 1);
  const Ones device(1000);
  for (int again = 0; again < 3; ++again)
    if (world_rank() == 0)
      allreduce(std::span{host}, Op::max, comm_);
    else
      allreduce(device.span(), Op::max, comm_);
  EXPECT_EQ(world_rank() == 0 ? host.back() : device.value(), 1);
  if (world_rank() != 0) {
    EXPECT_GT(comm_.counters().at("device.ipc.staged"), 0U);
  }
}

TEST_F(DeviceIpc, AForcedWayThatIsNotThereIsRefused) {
  const Setting path{"TUTTI_DEVICE_PATH", "ipc"};
  expect_throw<ArgumentError>(
      [] { const Communicator comm(MPI_COMM_WORLD, {.transport = "mpi"}); },
      {"TUTTI_DEVICE_PATH is 'ipc'", "rank 0: no message goes through shared memory", "allowed: auto, staging"});
  const Setting other{"TUTTI_DEVICE_PATH", "pigeon"};
  expect_throw<ArgumentError>([] { const Communicator comm(MPI_COMM_WORLD); },
                              {"TUTTI_DEVICE_PATH is 'pigeon'", "auto, ipc, ucx, mpi, staging"});
}

TEST_F(DeviceIpc, StagingCanBeForced) {
  const Setting path{"TUTTI_DEVICE_PATH", "staging"};
  const Communicator comm{MPI_COMM_WORLD};
  const Ones data(1000);
  allreduce(data.span(), Op::sum, comm);
  EXPECT_EQ(data.value(), static_cast<float>(world_size()));
  const Counters counters = comm.counters();
  EXPECT_EQ(counters.at("device.ipc.taken"), 0U);
  EXPECT_GT(counters.at("device.fetched"), 0U);
}

TEST_F(DeviceIpc, IsExplained) {
  const Ones in(4), out(4);
  const Plan plan = plan_allreduce(in.data(), out.data(), Count{4}, Type::fp32, Op::sum, comm_);
  EXPECT_THAT(plan.explain(), testing::HasSubstr("one_shot, as one kernel a rank reads all inputs"));
  EXPECT_THAT(plan.explain(), testing::HasSubstr("peers take data of devices where they are (CUDA IPC)"));
}

}  // namespace
}  // namespace tutti::test
