// Data on devices that UCX or the MPI takes where they are: nothing is staged, and the bits are those of the host. For
// machines, or pretended nodes, on which TUTTI_TRANSPORT has far messages.
#include <array>
#include <cstdlib>
#include <numeric>
#include <string_view>
#include <thread>

#include "tests/mpi/device_cases.hpp"
#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

using Kind = TestDevices::Kind;

bool is_over_ucx() {
  const char* const transport = std::getenv("TUTTI_TRANSPORT");
  return transport != nullptr && std::string_view{transport}.find("ucx") != std::string_view::npos;
}

class FarDevices : public OnDevices {
 protected:
  struct Totals {
    std::uint64_t staged = 0, far = 0;
  };
  /// The totals of all ranks, since the communicator was made.
  [[nodiscard]] static Totals totals_of(const Communicator& comm) {
    Counters counters = comm.counters();
    std::array all{counters["device.fetched"] + counters["device.stored"],
                   counters[is_over_ucx() ? "network.sent" : "mpi.sent"]};
    MPI_Allreduce(MPI_IN_PLACE, all.data(), 2, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return {all[0], all[1]};
  }
  void expect_direct(const std::string& what) const {
    const Totals totals = totals_of(comm_);
    EXPECT_EQ(totals.staged, 0) << what;
    EXPECT_EQ(totals.far > 0, world_size() > 1) << what;
  }

  static constexpr std::size_t count_ = 1000;
  Communicator comm_{MPI_COMM_WORLD};
  const float all_ = static_cast<float>(world_size());
};

TEST_F(FarDevices, TakePartInEveryAlgorithm) {
  for (const Collective collective : all_collectives())
    for (const std::string& choice : whole_choices_of(collective))
      for (const std::int64_t count : {1, 300, 20'000}) {
        Trial trial{.collective = collective, .algorithm = choice, .count = count, .root = world_size() - 1};
        if (!has_root(collective)) trial.root = 0;
        expect_bits_of_host<float>(trial, Op::sum, comm_, {});
        expect_direct(describe(trial, Op::sum, Type::fp32));
      }
}

// UCX changes protocols between these sizes.
TEST_F(FarDevices, SendAllSizes) {
  for (const Kind kind : {Kind::device, Kind::pool})
    for (const std::int64_t bytes : {0, 1, 63, 64, 65, 1'024, 8'180, 8'200, 65'535, 262'145, 3'000'001})
      for (const Collective collective : {Collective::allreduce, Collective::broadcast})
        expect_bits_of_host<std::uint8_t>({.collective = collective, .count = bytes}, Op::max, comm_, {kind, kind});
  expect_direct("all sizes");
}

/// A ring of messages from each kind of memory into each.
TEST_F(FarDevices, SendToHostsAndDevices) {
  constexpr int kinds = 4;
  const auto kind_of = [](int number) { return number % 2 == 0 ? std::optional{Kind::device} : std::nullopt; };
  for (const std::size_t bytes : {100, 30'000, 1'000'000}) {
    std::vector<AnyArray> sent, received;
    const int next = (world_rank() + 1) % world_size(), previous = (world_rank() + world_size() - 1) % world_size();
    Batch batch(comm_);
    for (int number = 0; number < kinds; ++number) {
      const std::vector<char> text(bytes, static_cast<char>('a' + number + 4 * world_rank())), none(bytes);
      sent.emplace_back(text.data(), bytes, kind_of(number));
      received.emplace_back(none.data(), bytes, kind_of(number / 2));
    }
    for (std::size_t number = 0; number < kinds; ++number) {
      batch.send(sent[number].data(), Count{bytes}, Type::int8, Rank{next});
      batch.recv(received[number].data(), Count{bytes}, Type::int8, Rank{previous});
    }
    for (int again = 0; again < 2; ++again)
      batch.run();
    for (std::size_t number = 0; number < kinds; ++number)
      EXPECT_EQ(received[number].contents(),
                std::vector(bytes, static_cast<std::byte>('a' + static_cast<int>(number) + 4 * previous)));
  }
  EXPECT_EQ(totals_of(comm_).staged, 0);
}

/// A thread that never used CUDA waits: the context of the memory has to be current there meanwhile.
TEST_F(FarDevices, AreWaitedForInAnyThread) {
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  if (provided != MPI_THREAD_MULTIPLE) GTEST_SKIP() << "threads must not call this MPI";
  for (const std::size_t count : {std::size_t{10}, std::size_t{10'000}, std::size_t{300'000}}) {
    Ones data(count);
    std::thread{[&] { allreduce(data.span(), Op::sum, comm_); }}.join();
    EXPECT_EQ(data.value(), all_);
    data.write();
    Request request = allreduce_async(data.span(), Op::sum, comm_);
    std::thread{[&] { request.wait(); }}.join();
    EXPECT_EQ(data.value(), all_);
  }
  expect_direct("in threads");
}

/// Calls on the host's memory move them, too.
TEST_F(FarDevices, MoveWhileOthersAreWaitedFor) {
  const Communicator second{MPI_COMM_WORLD};
  Ones data(300'000);
  for (int again = 0; again < 3; ++again) {
    data.write();
    Request request = allreduce_async(data.span(), Op::sum, comm_);
    std::vector<float> host(count_, 1);
    std::thread{[&] { allreduce(host, Op::sum, second); }}.join();
    EXPECT_EQ(host, std::vector<float>(count_, all_));
    request.wait();
    EXPECT_EQ(data.value(), all_);
  }
  expect_direct("beside the host's");
}

/// Memory comes and goes: no library may keep what it knows of an address for the next memory there.
TEST_F(FarDevices, AreNewMemoryAtOldAddresses) {
  for (int again = 0; again < 20; ++again) {
    const std::size_t count = again % 2 == 0 ? 100'000 : 60'000;
    Ones data(count);
    allreduce(data.span(), Op::sum, comm_);
    EXPECT_EQ(data.value(), all_);
  }
  expect_direct("new memory");
}

/// Fewer bytes than expected: the receiver is told, and other communicators go on.
TEST_F(FarDevices, ThatAreTooShortAreErrors) {
  if (world_size() == 1) GTEST_SKIP() << "has no peer";
  const int peer = world_size() / 2;
  for (const std::int64_t count : {10, 100'000}) {
    const Communicator comm{MPI_COMM_WORLD};
    Ones data(static_cast<std::size_t>(2 * count));
    if (world_rank() == 0) send(data.data(), Count{count}, Type::fp32, Rank{peer}, comm);
    if (world_rank() == peer)
      expect_throw<Error>([&] { recv(data.data(), Count{2 * count}, Type::fp32, Rank{0}, comm); },
                          {"receive from rank 0", std::to_string(4 * count) + " bytes arrived where"});
    Ones other(count_);
    allreduce(other.span(), Op::sum, comm_);
    EXPECT_EQ(other.value(), all_);
  }
}

/// In turns with memory of another device of the same process, each communicator with one of them.
TEST_F(FarDevices, OfTwoDevicesInOneProcess) {
  if (devices_.count() < 2) GTEST_SKIP() << "there is one device";
  const int mine = world_rank() % devices_.count(), other = (world_rank() + 1) % devices_.count();
  const Communicator second{MPI_COMM_WORLD};
  for (const std::size_t count : {std::size_t{10}, std::size_t{100'000}}) {
    Ones here(count);
    devices_.use(other);
    Ones there(count);
    devices_.use(mine);
    Request request = allreduce_async(here.span(), Op::sum, comm_);
    allreduce(there.span(), Op::sum, second);
    request.wait();
    EXPECT_EQ(here.value(), all_);
    EXPECT_EQ(there.value(), all_);
  }
  expect_direct("two devices");
}

}  // namespace
}  // namespace tutti::test
