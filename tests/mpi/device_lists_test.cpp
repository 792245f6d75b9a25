// Lists of buffers on devices: the bits of the host, packed on the device or beside it, and in streams.
#include <algorithm>
#include <array>
#include <deque>

#include "tests/mpi/device_stream_cases.hpp"
#include "tutti/lists.hpp"

namespace tutti::test {
namespace {

using Kind = TestDevices::Kind;
using Where = std::optional<Kind>;  // nothing: the host's ordinary memory

/// Short buffers, a long one, and an empty one.
constexpr std::array<std::int64_t, 6> counts{5, 300, 0, 17, 40'000, 1};
constexpr std::array collectives{Collective::allreduce, Collective::broadcast, Collective::allgather,
                                 Collective::reduce_scatter};

/// A list on this rank, whose buffers have the kinds in turn.
class DeviceList {
 public:
  DeviceList(Collective collective, bool is_in_place, const std::vector<Where>& kinds) : collective_(collective) {
    const bool gathers = collective == Collective::allgather, scatters = collective == Collective::reduce_scatter;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::int64_t all = counts[i] * world_size(), offset = gathers ? counts[i] * world_rank() : 0;
      std::vector<float> in(static_cast<std::size_t>(scatters ? all : counts[i]));
      std::vector<float> out(static_cast<std::size_t>(gathers || scatters ? all : counts[i]), -1);
      for (std::size_t k = 0; k < in.size(); ++k)
        in[k] = static_cast<float>((world_rank() + 1) * static_cast<int>(i + 2)) / 7 + static_cast<float>(k % 97) / 8;
      if (is_in_place) std::ranges::copy(in, out.begin() + offset);
      const Where& kind = kinds[i % kinds.size()];
      inputs_.emplace_back(in.data(), in.size() * sizeof(float), kind);
      outputs_.emplace_back(out.data(), out.size() * sizeof(float), kind);
      std::byte* const data = outputs_.back().data();
      const auto bytes = offset * static_cast<std::int64_t>(sizeof(float));
      buffers_.push_back({is_in_place ? data + bytes : inputs_.back().data(), data, Count{counts[i]}});
    }
  }
  [[nodiscard]] detail::ListCall call() const {
    return {"list", collective_, buffers_, Type::fp32, Op::sum, Rank{world_size() - 1}};
  }
  void run(Way way, const Communicator& comm) const {
    if (way == Way::blocking) return detail::run(call(), comm, {});
    if (way == Way::async) return detail::start(call(), comm, {}).wait();
    Plan plan = detail::prepare(call(), comm, {});
    plan.start();
    plan.wait();
  }
  [[nodiscard]] std::vector<std::vector<std::byte>> contents() const {
    std::vector<std::vector<std::byte>> all;
    for (const AnyArray& output : outputs_)
      all.push_back(output.contents());
    return all;
  }

 private:
  Collective collective_;
  std::deque<AnyArray> inputs_{}, outputs_{};
  std::vector<ListedBuffer> buffers_{};
};

class DeviceLists : public OnStream {
 protected:
  [[nodiscard]] std::uint64_t packed() const { return comm_->counters().at("calls.packed"); }
};

TEST_F(DeviceLists, GiveTheBitsOfTheHost) {
  const std::vector<std::vector<Where>> all_kinds{{Kind::device},
                                                  {Kind::device, std::nullopt},
                                                  {Kind::managed, Kind::device, Kind::pinned},
                                                  {world_rank() % 2 == 0 ? Where{Kind::device} : std::nullopt}};
  for (const Collective collective : collectives)
    for (const bool is_in_place : {false, true})
      for (std::size_t i = 0; i < ways * all_kinds.size(); ++i) {
        const std::vector<Where>& kinds = all_kinds[i / ways];
        const DeviceList host{collective, is_in_place, {std::nullopt}}, device{collective, is_in_place, kinds};
        host.run(static_cast<Way>(i % ways), *comm_);
        const std::uint64_t before = packed();
        device.run(static_cast<Way>(i % ways), *comm_);
        EXPECT_GT(packed(), before);
        EXPECT_EQ(device.contents(), host.contents())
            << to_string(collective) << ", in place " << is_in_place << ", kinds " << i / ways << ", way " << i % ways;
      }
}

TEST_F(DeviceLists, ArePackedOnTheirDevice) {
  if (!devices_.is_fake()) GTEST_SKIP() << "only the fake driver counts copies";
  const DeviceList list{Collective::allreduce, true, {Kind::device}};
  list.run(Way::blocking, *comm_);
  const FakeCudaCounters before = devices_.counters();
  list.run(Way::blocking, *comm_);
  // Four short buffers have 323 elements; they are copied there and back, and nothing of them goes to the host for it.
  EXPECT_GE(devices_.counters().bytes_within_devices - before.bytes_within_devices, 2 * 323 * sizeof(float));
  EXPECT_EQ(comm_->counters().at("calls.packed_buffers"), 8U);
}

TEST_F(DeviceLists, InStreamsEachBufferIsACall) {
  for (const Collective collective : collectives)
    for (const bool is_in_place : {false, true}) {
      const DeviceList host{collective, is_in_place, {std::nullopt}}, device{collective, is_in_place, {Kind::device}};
      host.run(Way::blocking, *comm_);
      const std::uint64_t before = packed();
      detail::run(device.call(), *comm_, {.stream = stream_->get()});
      stream_->synchronize();
      EXPECT_EQ(packed(), before);
      EXPECT_EQ(device.contents(), host.contents()) << to_string(collective) << ", in place " << is_in_place;
    }
}

TEST_F(DeviceLists, RefuseWhatStreamsDoNotTake) {
  const Options options{.stream = stream_->get()};
  const DeviceList device{Collective::allreduce, true, {Kind::device}};
  const DeviceList mixed{Collective::allreduce, true, {Kind::device, std::nullopt}};
  const std::string rank = "on rank " + std::to_string(world_rank());
  expect_throw<ArgumentError>([&] { (void)detail::start(device.call(), *comm_, options); },
                              {"'stream'", "given to a nonblocking call", rank});
  expect_throw<ArgumentError>([&] { (void)detail::prepare(device.call(), *comm_, options); },
                              {"'stream'", "given to a plan of a list", rank});
  expect_throw<ArgumentError>([&] { detail::run(mixed.call(), *comm_, options); },
                              {"'buffers[1].in'", "memory of the host, in a call with a stream", rank});
  device.run(Way::blocking, *comm_);
}

/// The copies fail when others may already wait for this rank: the communicator is over, with the cause.
TEST_F(DeviceLists, ThatCannotBePackedEndTheCommunicator) {
  if (!devices_.is_fake()) GTEST_SKIP() << "only the fake driver fails when it is told to";
  const DeviceList list{Collective::allreduce, true, {Kind::device}};
  list.run(Way::blocking, *comm_);
  MPI_Barrier(MPI_COMM_WORLD);  // no rank is in that call any more
  devices_.fail("cuMemcpyAsync:1:1");
  expect_throw<Error>([&] { list.run(Way::blocking, *comm_); }, {"list on rank", "cuMemcpyAsync"});
  devices_.fail("");
  expect_throw<Error>([&] { list.run(Way::blocking, *comm_); }, {"cuMemcpyAsync"});
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace
}  // namespace tutti::test
