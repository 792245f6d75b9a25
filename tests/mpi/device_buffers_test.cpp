// Device buffers in the API: spans and pointers, in every way of calling. What is refused, and that nothing is lost.
#include <bit>
#include <set>

#include "tests/mpi/device_cases.hpp"
#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

using Kind = TestDevices::Kind;

class DeviceBuffers : public OnDevices {
 protected:
  static constexpr std::size_t count = 1000;
  Communicator comm_{MPI_COMM_WORLD};
  const float all_ = static_cast<float>(comm_.size());
};

TEST_F(DeviceBuffers, AreSpans) {
  Ones in(count), out(count);
  const DeviceSpan<const float> read_only = in.span();
  EXPECT_EQ(read_only.data(), in.data());
  EXPECT_EQ(read_only.size(), count);
  allreduce(read_only, out.span(), Op::sum, comm_);
  EXPECT_EQ(out.value(), all_);
  EXPECT_EQ(in.value(), 1);
  allreduce(in.span(), Op::sum, comm_);
  EXPECT_EQ(in.value(), all_);
  allreduce_async(in.span(), out.span(), Op::max, comm_).wait();
  EXPECT_EQ(out.value(), all_);
  Plan plan = plan_allreduce(in.span(), out.span(), Op::avg, comm_);
  for (int again = 0; again < 3; ++again) {
    in.write();
    plan.start();
    plan.wait();
    EXPECT_EQ(out.value(), 1);
  }
}

TEST_F(DeviceBuffers, MixWithRangesOfTheHost) {
  Ones on_device(count);
  std::vector<float> on_host(count);
  allreduce(on_device.span(), on_host, Op::sum, comm_);
  EXPECT_EQ(on_host, std::vector<float>(count, all_));
  allreduce(on_host, on_device.span(), Op::max, comm_);
  EXPECT_EQ(on_device.value(), all_);
}

/// Messages with tags, between devices and the host, received before and after they come, and to the rank itself.
TEST_F(DeviceBuffers, GoWithTags) {
  const int size = world_size(), next = (world_rank() + 1) % size, last = (world_rank() + size - 1) % size;
  for (const std::size_t elements : {std::size_t{1}, std::size_t{100}, std::size_t{50'000}})
    for (const bool from_device : {false, true})
      for (const bool to_device : {false, true})
        for (const bool is_early : {false, true}) {
          Ones device_in(elements), device_out(elements);
          std::vector<float> host_in(elements, 1), host_out(elements, 7);
          allreduce(device_out.span(), Op::sum, comm_);  // other values than those that come
          allreduce(device_out.span(), Op::sum, comm_);
          float* const in = from_device ? device_in.data() : host_in.data();
          float* const out = to_device ? device_out.data() : host_out.data();
          Received received;
          Request recv, send;
          const auto post = [&] {
            recv = recv_async(out, Count{elements}, Type::fp32, is_early ? any_source : Rank{last}, Tag{5}, comm_,
                              &received);
          };
          if (is_early) post();
          send = send_async(in, Count{elements}, Type::fp32, Rank{next}, Tag{5}, comm_);
          barrier(comm_);
          if (!is_early) post();
          recv.wait();
          send.wait();
          EXPECT_EQ(received.count, Count{elements});
          EXPECT_EQ(to_device ? device_out.value() : host_out.back(), 1)
              << elements << from_device << to_device << is_early;
          barrier(comm_);
        }
}

TEST_F(DeviceBuffers, HoldBooleans) {
  std::vector<std::uint8_t> bytes(count, 0), back(count);
  bytes[3] = world_rank() == 0 ? 1 : 0;
  bytes[4] = 1;
  DeviceArray data(count);
  const auto reduced = [&](const Op& op) {
    devices_.copy(data.data(), bytes.data(), count);
    allreduce(data.data(), data.data(), Count{count}, Type::boolean, op, comm_);
    devices_.copy(back.data(), data.data(), count);
    return back;
  };
  std::vector<std::uint8_t> any(count, 0), all(count, 0);
  any[3] = any[4] = all[4] = 1;
  all[3] = world_size() == 1 ? 1 : 0;
  EXPECT_EQ(reduced(Op::sum), any);
  EXPECT_EQ(reduced(Op::bor), any);
  EXPECT_EQ(reduced(Op::min), all);
  EXPECT_EQ(reduced(Op::land), all);
}

TEST_F(DeviceBuffers, AreAnyMemoryOfADevice) {
  for (const Kind kind : {Kind::device, Kind::pool, Kind::managed}) {
    Ones data(count, kind);
    allreduce(data.span(), Op::sum, comm_);
    EXPECT_EQ(data.value(), all_);
  }
}

/// The devices of a rank: two, if there are.
TEST_F(DeviceBuffers, OfSeveralDevicesAreUsedAtOnce) {
  const int mine = world_rank() % devices_.count(), other = (world_rank() + 1) % devices_.count();
  const Communicator second{MPI_COMM_WORLD};
  Ones here(count), result(count);
  devices_.use(other);
  Ones there(count);
  devices_.use(mine);
  // From one device to the other.
  allreduce(here.span(), there.span(), Op::sum, comm_);
  EXPECT_EQ(there.value(), all_);
  // Two communicators, each with a device, in flight together; blocking, nonblocking and persistent beside each other.
  for (int again = 0; again < 3; ++again) {
    here.write();
    there.write();
    Plan plan = plan_allreduce(there.span(), Op::avg, second);
    Request request = allreduce_async(here.span(), result.span(), Op::sum, comm_);
    plan.start();
    plan.wait();
    request.wait();
    EXPECT_EQ(result.value(), all_);
    EXPECT_EQ(there.value(), 1);
  }
}

TEST_F(DeviceBuffers, TravelInMessages) {
  Ones in(count), out(count);
  const int next = (world_rank() + 1) % world_size(), previous = (world_rank() + world_size() - 1) % world_size();
  allreduce(in.span(), Op::sum, comm_);
  Batch batch(comm_);
  batch.send(in.span(), Rank{next});
  batch.recv(out.span(), Rank{previous});
  batch.run();
  EXPECT_EQ(out.value(), all_);
}

TEST_F(DeviceBuffers, HaveNoSpanOfOtherMemory) {
  std::vector<float> host(count);
  const Ones pinned(count, Kind::pinned);
  const std::string rank = "on rank " + std::to_string(world_rank());
  expect_throw<ArgumentError>(
      [&] { DeviceSpan(host.data(), count); },
      {rank, "'data'", "memory that CUDA does not know", "memory of a CUDA device", "std::span"});
  expect_throw<ArgumentError>([&] { DeviceSpan(pinned.data(), count); }, {rank, "'data'", "CUDA pinned memory"});
  const DeviceSpan<float> none(nullptr, 0);
  EXPECT_EQ(none.size(), 0U);
  allreduce(none, Op::sum, comm_);
}

TEST_F(DeviceBuffers, AreRefusedOnceFreed) {
  std::vector<float> host(count, 1);
  float* freed = nullptr;
  {
    const Ones data(count);
    freed = data.data();
    for (int again = 0; again < 3; ++again)  // Behind a call that repeats, too.
      allreduce(data.data(), host.data(), Count{count}, Type::fp32, Op::sum, comm_);
  }
  for (int again = 0; again < 2; ++again)
    expect_throw<ArgumentError>([&] { allreduce(freed, host.data(), Count{count}, Type::fp32, Op::sum, comm_); },
                                {"rank " + std::to_string(world_rank()), "'in'", "was it freed", "this process"});
  expect_throw<ArgumentError>([&] { DeviceSpan(freed, count); }, {"memory that CUDA does not know"});
  expect_works(comm_);
}

TEST_F(DeviceBuffers, AreFoundAgainWhereOthersWere) {
  const Setting path{"TUTTI_DEVICE_PATH", "staging"};  // mappings of peers' memory take addresses, too
  const Communicator comm{MPI_COMM_WORLD};
  std::set<const float*> seen;
  int found_again = 0;
  for (int round = 0; round < 200; ++round) {  // the fake gives out other addresses that are free first
    const auto factor = static_cast<float>(round % 4 + 1);
    Ones data(count);
    found_again += seen.insert(data.data()).second ? 0 : 1;
    allreduce(data.span(), Op::scaled_sum(factor), comm);
    EXPECT_EQ(data.value(), factor * all_);
  }
  EXPECT_TRUE(found_again > 0 || !devices_.is_fake());
}

TEST_F(DeviceBuffers, AreRefusedIfTheirMemoryIsShort) {
  constexpr std::size_t granted = 1 << 21;  // no driver gives a part of a larger piece then
  const DeviceArray data(granted);
  std::vector<std::byte> host(granted + 1);
  const std::string rank = "rank " + std::to_string(world_rank());
  expect_throw<ArgumentError>(
      [&] { allreduce(host.data(), data.data(), Count{granted + 1}, Type::uint8, Op::bor, comm_); },
      {rank, "'out'", "CUDA device memory", "ends after 2097152 bytes", "all 2097153 bytes"});
  expect_works(comm_);
}

TEST_F(DeviceBuffers, AreToldOnceIfTheLogIsOn) {
  const Setting path{"TUTTI_DEVICE_PATH", "staging"};
  const Setting log{"TUTTI_LOG", "1"};
  Ones data(count);
  testing::internal::CaptureStderr();
  {
    const Communicator comm{MPI_COMM_WORLD};
    for (const std::size_t some : {count, count / 2})
      allreduce(DeviceSpan{data.data(), some}, Op::max, comm);
  }
  const std::string told = testing::internal::GetCapturedStderr();
  const auto first = told.find("device buffers are staged");
  EXPECT_EQ(first != std::string::npos, world_rank() == 0) << told;
  EXPECT_EQ(told.find("device buffers are staged", first == std::string::npos ? first : first + 1), std::string::npos);
}

// Failures below come on every rank alike, so that none waits for another.

constexpr const char* out_of_pinned_memory = "cuMemHostRegister:1+:2";
constexpr const char* out_of_device_memory = "cuMemAlloc:1+:2";

TEST_F(DeviceBuffers, AreRefusedWithoutPinnedMemory) {
  if (!devices_.is_fake()) GTEST_SKIP() << "only the fake driver fails when it is told to";
  const Setting path{"TUTTI_DEVICE_PATH", "staging"};
  const Communicator comm{MPI_COMM_WORLD};
  Ones data(count);
  const FakeCudaCounters before = devices_.counters();
  devices_.fail(out_of_pinned_memory);
  const std::string rank = "rank " + std::to_string(world_rank());
  const auto call = [&] { allreduce(data.span(), Op::sum, comm); };
  if (comm_.size() > 1)
    expect_throw<ArgumentError>(call,
                                {rank, "'count' is 1000, on device buffers", "of pinned host memory", "docs/gpu.md"});
  devices_.fail("");
  EXPECT_EQ(devices_.counters().live_pinned, before.live_pinned);
  for (int again = 0; again < 2; ++again) {
    data.write();
    call();
    EXPECT_EQ(data.value(), all_);
  }
}

TEST_F(DeviceBuffers, OfRepeatedMessagesAreRefusedByName) {
  if (!devices_.is_fake()) GTEST_SKIP() << "only the fake driver fails when it is told to";
  if (comm_.size() == 1) GTEST_SKIP() << "messages to itself need no staging";
  const Setting path{"TUTTI_DEVICE_PATH", "staging"};
  const Communicator comm{MPI_COMM_WORLD};
  const Ones out(count), in(count);
  const int next = (world_rank() + 1) % world_size(), previous = (world_rank() + world_size() - 1) % world_size();
  const auto exchange = [&] {
    return sendrecv_async(out.data(), Count{count}, Rank{next}, in.data(), Count{count}, Rank{previous}, Type::fp32,
                          comm);
  };
  exchange().wait();
  Request first = exchange();
  devices_.fail(out_of_pinned_memory);  // the first has the only block
  expect_throw<ArgumentError>([&] { exchange().wait(); },
                              {"sendrecv on rank " + std::to_string(world_rank()), "of pinned host memory"});
  devices_.fail("");
  first.wait();
  EXPECT_EQ(in.value(), 1);
}

TEST_F(DeviceBuffers, AreRefusedWithoutScratchOnTheDevice) {
  if (!devices_.is_fake()) GTEST_SKIP() << "only the fake driver fails when it is told to";
  if (!std::has_single_bit(static_cast<unsigned>(comm_.size()))) GTEST_SKIP() << "some ranks need no scratch";
  const Setting path{"TUTTI_DEVICE_PATH", "staging"}, on_device{"TUTTI_STAGING", "device"};
  const Communicator comm{MPI_COMM_WORLD};
  Ones in(count), out(count);
  devices_.fail(out_of_device_memory);
  const auto call = [&] { allreduce(in.span(), out.span(), Op::sum, comm, {.algorithm = "recursive_doubling"}); };
  if (comm.size() > 1) expect_throw<ArgumentError>(call, {"'count' is 1000", "of memory on the device"});
  devices_.fail("");
  call();
  EXPECT_EQ(out.value(), all_);
}

TEST_F(DeviceBuffers, LeaveNothingBehind) {
  if (!devices_.is_fake()) GTEST_SKIP() << "only the fake driver counts";
  const auto life = [&] {
    const Communicator comm{MPI_COMM_WORLD};
    Ones data(count);
    for (int again = 0; again < 3; ++again)
      allreduce(data.span(), Op::avg, comm);
    EXPECT_EQ(data.value(), 1);
  };
  life();
  const FakeCudaCounters before = devices_.counters();
  life();
  const FakeCudaCounters after = devices_.counters();
  EXPECT_EQ(after.live_device, before.live_device);
  EXPECT_EQ(after.live_pinned, before.live_pinned);
  EXPECT_EQ(after.live_events, before.live_events);
  EXPECT_EQ(after.live_streams, before.live_streams);
  EXPECT_EQ(after.live_modules, before.live_modules);
}

// This program makes the contexts of two devices of three; Tutti must make none.
TEST_F(DeviceBuffers, MakeNoContext) {
  if (!devices_.is_fake()) GTEST_SKIP() << "only the fake driver counts";
  Ones data(count);
  Ones pooled(count, Kind::pool);
  const std::uint64_t before = devices_.counters().contexts;
  allreduce(data.span(), pooled.span(), Op::sum, comm_);
  EXPECT_EQ(pooled.value(), all_);
  EXPECT_EQ(devices_.counters().contexts, before);
  EXPECT_LE(before, 2U) << "those that this program made";
}

}  // namespace
}  // namespace tutti::test
