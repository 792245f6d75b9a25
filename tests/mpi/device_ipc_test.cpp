// Device data inside a node: peers map each other's memory, and take messages where they are.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <string>
#include <thread>

#include "tests/mpi/device_cases.hpp"
#include "tests/mpi/mapped_memory.hpp"
#include "tests/support/mpi_support.hpp"
#include "tutti/device_memory.hpp"

namespace tutti::test {
namespace {

std::uint64_t sum_of_ranks(std::uint64_t mine) {
  std::uint64_t all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return all;
}
bool is_same_on_all(std::uint64_t mine) {
  std::uint64_t least = 0, most = 0;
  MPI_Allreduce(&mine, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&mine, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  return least == most;
}

class DeviceIpc : public OnDevices {
 protected:
  void SetUp() override {
    OnDevices::SetUp();
    if (world_size() == 1) GTEST_SKIP() << "one rank has no peers";
  }
  /// Of one call that is like others before it: all that the fake driver counts.
  template <class Call>
  FakeCudaCounters counted(const Call& call) const {
    call();
    MPI_Barrier(MPI_COMM_WORLD);
    const FakeCudaCounters before = devices_.counters();
    call();
    FakeCudaCounters after = devices_.counters();
    after.kernels -= before.kernels;
    after.copies -= before.copies;
    after.synchronisations -= before.synchronisations;
    after.bytes_to_host -= before.bytes_to_host;
    after.bytes_to_device -= before.bytes_to_device;
    after.bytes_within_devices -= before.bytes_within_devices;
    after.bytes_read -= before.bytes_read;
    after.bytes_written -= before.bytes_written;
    return after;
  }
  [[nodiscard]] bool counts() const { return devices_.is_fake(); }
  /// Read and written by kernels and copies of all ranks.
  static std::uint64_t traffic(const FakeCudaCounters& counters) {
    return sum_of_ranks(counters.bytes_read + counters.bytes_written + 2 * counters.bytes_within_devices);
  }

  Communicator comm_{MPI_COMM_WORLD, {.buffers = "device"}};
};

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
  // Both buffers are looked up by the call, and the input again before peers are told of it.
  EXPECT_EQ(calls, (std::vector<std::uint64_t>{1, 1, 3}));
  const Counters ours = comm_.counters();
  EXPECT_EQ(ours.at("device.ipc.reduced"), reduced + 1);
  EXPECT_EQ(ours.at("device.ipc.staged") + ours.at("device.ipc.refused"), 0U);
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

// The allocation at an address is another one each time.
TEST_F(DeviceIpc, AllocationsMayComeAndGo) {
  constexpr int rounds = 1000;
  std::uint64_t most_mapped = 0;
  for (int round = 0; round < rounds; ++round) {
    const Ones data(16 + static_cast<std::size_t>(round % 3));
    allreduce(data.span(), Op::sum, comm_);
    ASSERT_EQ(data.value(), static_cast<float>(world_size())) << "round " << round;
    most_mapped = std::max(most_mapped, devices_.counters().live_imported);
    MPI_Barrier(MPI_COMM_WORLD);  // the program frees no memory that a peer's call may still use
  }
  if (counts()) {
    EXPECT_LE(most_mapped, 64U * static_cast<unsigned>(world_size() - 1));
  }
  EXPECT_EQ(comm_.counters().at("device.ipc.staged"), 0U);
}

TEST_F(DeviceIpc, MoreAllocationsThanTheTableHasPlaces) {
  std::vector<Ones> many;
  for (int i = 0; i < 150; ++i)
    many.emplace_back(std::size_t{100});
  for (int again = 0; again < 2; ++again)
    for (const Ones& each : many)
      allreduce(each.span(), Op::max, comm_);
  EXPECT_TRUE(std::ranges::all_of(many, [](const Ones& each) { return each.value() == 1; }));
  if (counts()) {
    EXPECT_LE(devices_.counters().live_imported, 64U * static_cast<unsigned>(world_size() - 1));
  }
  EXPECT_EQ(comm_.counters().at("device.ipc.staged"), 0U);
}

// With FAKE_CUDA_STRICT_IPC=1 it is a fault to free memory that others have mapped.
TEST_F(DeviceIpc, TuttisMemoryIsFreedOnceNobodyHasIt) {
  devices_.use(world_rank() % devices_.count());
  const std::uint64_t before = devices_.counters().live_device;
  for (int round = 0; round < 20; ++round) {
    DeviceBuffer<float> data{1000U + static_cast<std::size_t>(round)};
    const std::vector<float> ones(data.size(), 1);
    devices_.copy(data.data(), ones.data(), ones.size() * sizeof(float));
    allreduce(data.span(), Op::sum, comm_);
    std::vector<float> found(data.size());
    devices_.copy(found.data(), data.data(), found.size() * sizeof(float));
    ASSERT_EQ(found, std::vector<float>(data.size(), static_cast<float>(world_size())));
  }
  // Peers close their mappings while they wait.
  DeviceBuffer<float> other{10};
  for (int round = 0; round < 1000 && !is_same_on_all(devices_.counters().live_device - before); ++round)
    allreduce(other.span(), Op::max, comm_);
  for (int round = 0; round < 5; ++round)
    allreduce(other.span(), Op::max, comm_);
  if (counts()) {
    EXPECT_LE(devices_.counters().live_device, before + 2) << "`other`, and scratch";
  }
}

/// Where memory has handles for other processes, and their messages between peers that staged some.
struct Kept {
  std::uint64_t taken, staged;
};
Kept allreduce_of_mapped(CUmemAllocationHandleType handles, const TestDevices& devices, const Communicator& comm) {
  const Mapped mapped{world_rank() % devices.count(), handles};
  const std::vector<std::int32_t> numbers(1000, world_rank() + 1);
  devices.copy(mapped.data(), numbers.data(), numbers.size() * sizeof(std::int32_t));
  const Counters before = comm.counters();
  allreduce(DeviceSpan{reinterpret_cast<std::int32_t*>(mapped.data()), numbers.size()}, Op::sum, comm);
  const Counters after = comm.counters();
  std::vector<std::int32_t> found(numbers.size());
  devices.copy(found.data(), mapped.data(), found.size() * sizeof(std::int32_t));
  EXPECT_EQ(found, std::vector<std::int32_t>(numbers.size(), world_size() * (world_size() + 1) / 2));
  MPI_Barrier(MPI_COMM_WORLD);
  return {after.at("device.ipc.taken") - before.at("device.ipc.taken"),
          after.at("device.ipc.staged") - before.at("device.ipc.staged")};
}

TEST_F(DeviceIpc, MappedMemoryIsSharedByWhatHandlesItHas) {
  // Of two ranks: of more, short calls in place run on a copy.
  if (world_size() != 2) GTEST_SKIP() << "two ranks show it";
  for (int again = 0; again < 3; ++again) {
    const Kept by_descriptor = allreduce_of_mapped(CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, devices_, comm_);
    EXPECT_GT(by_descriptor.taken, 0U);
    EXPECT_EQ(by_descriptor.staged, 0U);
    const Kept by_none = allreduce_of_mapped(CU_MEM_HANDLE_TYPE_NONE, devices_, comm_);
    EXPECT_GT(by_none.staged, 0U);
  }
  if (std::getenv("FAKE_CUDA_FABRIC") == nullptr) return;
  const Kept by_fabric = allreduce_of_mapped(CU_MEM_HANDLE_TYPE_FABRIC, devices_, comm_);
  EXPECT_GT(by_fabric.taken, 0U);
  EXPECT_EQ(by_fabric.staged, 0U);
}

TEST_F(DeviceIpc, RefusedBySystemOrDriverDataAreStaged) {
  if (!counts()) GTEST_SKIP() << "only the fake driver fails when it is told to";
  for (const char* name :
       {"cuIpcGetMemHandle", "cuIpcOpenMemHandle", "cuMemRetainAllocationHandle", "cuMemExportToShareableHandle",
        "cuMemImportFromShareableHandle", "cuMemAddressReserve", "cuMemMap", "cuMemSetAccess"}) {
    const Communicator comm{MPI_COMM_WORLD, {.buffers = "device"}};
    const bool is_legacy = std::string_view{name}.find("Ipc") != std::string_view::npos;
    const Mapped mapped{world_rank() % devices_.count(), CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
    const Ones plain(1000), out(1000);
    const std::vector<float> ones(1000, 1);
    devices_.copy(mapped.data(), ones.data(), ones.size() * sizeof(float));
    const std::uint64_t mapped_before = devices_.counters().live_imported;
    devices_.fail(std::string{name} + ":1+:999");
    const auto* const in = is_legacy ? plain.data() : reinterpret_cast<const float*>(mapped.data());
    for (int again = 0; again < 2; ++again)
      allreduce(in, out.data(), Count{1000}, Type::fp32, Op::sum, comm);
    devices_.fail("");
    EXPECT_EQ(out.value(), static_cast<float>(world_size())) << name;
    EXPECT_GT(comm.counters().at("device.ipc.staged"), 0U) << name;
    EXPECT_LE(devices_.counters().live_imported, mapped_before) << name;
    MPI_Barrier(MPI_COMM_WORLD);
  }
}

TEST_F(DeviceIpc, DeviceMemoryIsCheckedByName) {
  expect_throw<ArgumentError>([] { static_cast<void>(allocate_device(Bytes{-1})); }, {"-1 bytes", "0 or more"});
  int host = 0;
  expect_throw<ArgumentError>([&] { deallocate_device(&host); }, {"deallocate_device", "allocate_device gave"});
  deallocate_device(nullptr);
  devices_.use(0);
  expect_throw<Error>([] { static_cast<void>(allocate_device(Bytes{std::int64_t{1} << 46})); }, {"no 70368744177664"});
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

// The program frees a buffer that its plan is bound to: an error on this rank, and on those that wait for its data.
TEST_F(DeviceIpc, FreedBuffersAreNamedOnAllRanks) {
  if (world_size() != 2) GTEST_SKIP() << "of two ranks, both hear of it";
  const Communicator comm{MPI_COMM_WORLD, {.buffers = "device"}};
  {
    std::optional<Ones> in{std::in_place, 1000U};
    const Ones out(1000);
    Plan plan = plan_allreduce(in->data(), out.data(), Count{1000}, Type::fp32, Op::sum, comm);
    plan.start();
    plan.wait();
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank() == 0) in.reset();
    if (world_rank() == 0)
      expect_throw<Error>([&] { plan.start(), plan.wait(); },
                          {"allreduce", "rank 0", "send to rank 1", "has freed it"});
    else
      expect_throw<Error>([&] { plan.start(), plan.wait(); },
                          {"allreduce", "rank 1", "receive from rank 0", "freed during the call"});
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
