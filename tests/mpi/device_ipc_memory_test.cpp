// Memory that peers have mapped: it comes and goes, has other handles or none, belongs to Tutti, or was freed.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "tests/mpi/device_ipc_cases.hpp"
#include "tests/mpi/mapped_memory.hpp"
#include "tutti/device_memory.hpp"

namespace tutti::test {
namespace {

bool is_same_on_all(std::uint64_t mine) {
  std::uint64_t least = 0, most = 0;
  MPI_Allreduce(&mine, &least, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
  MPI_Allreduce(&mine, &most, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  return least == most;
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

/// With FAKE_CUDA_ALREADY_MAPPED=1 peers cannot open the second one's memory before they close what was there.
TEST_F(DeviceIpc, AnAllocationMayBeWhereAnotherOneWas) {
  {
    const Ones first(5000), second(50000);
    allreduce(first.span(), Op::sum, comm_);
    allreduce(second.span(), Op::sum, comm_);
    MPI_Barrier(MPI_COMM_WORLD);
  }
  const Ones second(50000), out(50000);
  for (int again = 0; again < 40; ++again)
    allreduce(second.data(), out.data(), Count{50000}, Type::fp32, Op::sum, comm_);
  EXPECT_EQ(out.value(), static_cast<float>(world_size()));
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
    EXPECT_LE(devices_.counters().live_device, before + 3) << "`other`, scratch, and what marks the context";
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
  // On more than two ranks, short calls in place run on a copy.
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
  if (!counts()) return;
  // A fabric handle that its owner exports may be one that no peer can open.
  const auto both =
      static_cast<CUmemAllocationHandleType>(CU_MEM_HANDLE_TYPE_FABRIC | CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR);
  const std::uint64_t before = devices_.calls("cuMemImportFromShareableHandle");
  devices_.fail("cuMemImportFromShareableHandle:1:801");
  const Kept by_either = allreduce_of_mapped(both, devices_, comm_);
  devices_.fail("");
  EXPECT_EQ(devices_.calls("cuMemImportFromShareableHandle") - before, 2U);
  EXPECT_GT(by_either.taken, 0U);
  EXPECT_EQ(by_either.staged, 0U);
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

/// Two buffers of one plan, which a peer cannot map once.
TEST_F(DeviceIpc, ARefusalIsOfOneBuffer) {
  if (!counts() || world_size() != 2)
    GTEST_SKIP() << "only the fake driver fails when it is told to; two ranks show it";
  const Ones refused(1000), other(1000), out(1000);
  const auto staged_by = [&](const Ones& in) {
    const std::uint64_t before = comm_.counters().at("device.ipc.staged");
    allreduce(in.data(), out.data(), Count{1000}, Type::fp32, Op::sum, comm_);
    EXPECT_EQ(out.value(), 2);
    return comm_.counters().at("device.ipc.staged") - before;
  };
  devices_.fail("cuIpcOpenMemHandle:1+:999");
  EXPECT_GT(staged_by(refused), 0U);
  devices_.fail("");
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(staged_by(other), 0U);
  EXPECT_GT(staged_by(refused), 0U);
}

TEST_F(DeviceIpc, DeviceMemoryIsCheckedByName) {
  expect_throw<ArgumentError>([] { static_cast<void>(allocate_device(Bytes{-1})); }, {"-1 bytes", "0 or more"});
  int host = 0;
  expect_throw<ArgumentError>([&] { deallocate_device(&host); }, {"deallocate_device", "allocate_device gave"});
  deallocate_device(nullptr);
  devices_.use(0);
  expect_throw<Error>([] { static_cast<void>(allocate_device(Bytes{std::int64_t{1} << 46})); }, {"no 70368744177664"});
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

}  // namespace
}  // namespace tutti::test
