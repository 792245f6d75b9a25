// Data on devices of two nodes, which may be pretended (TUTTI_NODES), with the algorithms that Tutti chooses: the bits
// of the host, and no more bytes between the nodes than must cross. Inside a node ranks map each other's memory.
#include <array>
#include <cstdlib>

#include "lib/core/communicator/communicator_state.hpp"
#include "tests/mpi/device_cases.hpp"
#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

/// Bytes that leave and enter a node.
struct Crossing {
  std::uint64_t sent = 0, received = 0;
  bool operator==(const Crossing&) const = default;
};

/// The least for a call with `bytes` in each block, for one of two nodes, which has `own` ranks and the other `others`.
Crossing least(Collective collective, std::uint64_t bytes, std::uint64_t own, std::uint64_t others, bool has_root) {
  const auto to_root = [&](std::uint64_t far, std::uint64_t near) {
    return has_root ? Crossing{0, far * bytes} : Crossing{near * bytes, 0};
  };
  const auto backwards = [](const Crossing& way) { return Crossing{way.received, way.sent}; };
  switch (collective) {
    case Collective::barrier:
      return {};
    case Collective::broadcast:
      return backwards(to_root(1, 1));
    case Collective::reduce:
      return to_root(1, 1);
    case Collective::allreduce:
      return {bytes, bytes};
    case Collective::reduce_scatter:
      return {others * bytes, own * bytes};
    case Collective::allgather:
      return {own * bytes, others * bytes};
    case Collective::gather:
      return to_root(others, own);
    case Collective::scatter:
      return backwards(to_root(others, own));
    case Collective::alltoall:
      return {own * others * bytes, own * others * bytes};
    case Collective::scan:
    case Collective::exscan:
      return backwards(to_root(1, 1));  // from the first node, as from that of rank 0
  }
  return {};
}

class DevicesOnTwoNodes : public OnDevices {
 protected:
  void SetUp() override {
    OnDevices::SetUp();
    if (!IsSkipped() && comm_.node_count() != 2) GTEST_SKIP() << comm_.node_count() << " nodes, not 2";
  }
  /// What all ranks of this node have sent, since the communicator was made.
  [[nodiscard]] Crossing crossed() const {
    barrier(comm_);  // its messages have no bytes; MPI's calls below would not move what UCX has still to send
    const MessageCounters all = comm_.message_counters();
    std::array sums{all.mpi.sent_bytes + all.network.sent_bytes, all.mpi.received_bytes + all.network.received_bytes};
    mpi::UniqueComm node;
    MPI_Comm_split(MPI_COMM_WORLD, comm_.node_of(comm_.rank()), 0, node.receive());
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), 2, MPI_UINT64_T, MPI_SUM, node.get());
    return {sums[0], sums[1]};
  }
  [[nodiscard]] Crossing least_of(const Trial& trial) const {
    const int own = comm_.node().size();
    const bool has_root = comm_.node_of(Rank{trial.root}) == comm_.node_of(comm_.rank());
    return least(trial.collective, static_cast<std::uint64_t>(trial.count) * sizeof(float),
                 static_cast<std::uint64_t>(own), static_cast<std::uint64_t>(comm_.size() - own), has_root);
  }

  Communicator comm_{MPI_COMM_WORLD};
};

/// TUTTI_TEST_NODES: how many nodes the launcher was told to use. There the tests of this suite must not be skipped.
TEST(DevicesOnNodes, AreThereWhereTheyWereAskedFor) {
  if (std::getenv("TUTTI_TEST_NODES") == nullptr) GTEST_SKIP() << "TUTTI_TEST_NODES is not set";
  EXPECT_EQ(Communicator{MPI_COMM_WORLD}.node_count(), 2);
  EXPECT_GT(TestDevices::get().count(), 0);
}

/// A call on the host's memory and one on memory of devices: together they cannot send less than twice the least, and
/// do only if both send the least.
TEST_F(DevicesOnTwoNodes, SendTheLeastThatMustCross) {
  const bool in_rows = follow_each_other(comm_.state().members().nodes());
  for (const Collective collective : all_collectives()) {
    if ((collective == Collective::scan || collective == Collective::exscan) && !in_rows) continue;
    for (const int root : {0, comm_.size() - 1})
      for (const std::int64_t count : {0, 1, 3, 1'001, 100'003}) {
        if (!has_root(collective) && root != 0) continue;
        const Trial trial{.collective = collective, .count = count, .root = root};
        const Crossing before = crossed();
        expect_bits_of_host<float>(trial, Op::sum, comm_, {});
        const Crossing after = crossed(), least = least_of(trial);
        EXPECT_EQ(after.sent - before.sent, 2 * least.sent) << describe(trial, Op::sum, Type::fp32);
        EXPECT_EQ(after.received - before.received, 2 * least.received) << describe(trial, Op::sum, Type::fp32);
      }
  }
}

/// Nothing is staged inside a node: what a rank fetches from its device, and stores there, is what it sends to the
/// other node, and gets from there. If UCX or the MPI takes data on devices, it is nothing at all.
TEST_F(DevicesOnTwoNodes, StageNoMoreThanCrosses) {
  if (!devices_.is_fake()) GTEST_SKIP() << "real devices may not reach each other";
  Ones data(100'003);
  const auto far = [&](auto bytes) {
    return comm_.message_counters().mpi.*bytes + comm_.message_counters().network.*bytes;
  };
  for (int again = 0; again < 3; ++again) {
    data.write();
    allreduce(data.span(), Op::sum, comm_);
    EXPECT_EQ(data.value(), static_cast<float>(comm_.size()));
    broadcast(data.span(), Rank{0}, comm_);
  }
  const Counters counters = comm_.counters();
  using Far = MessageCounters::Transport;
  const std::uint64_t fetched = counters.at("device.fetched_bytes"), stored = counters.at("device.stored_bytes");
  if (fetched + stored > 0) {
    EXPECT_EQ(fetched, far(&Far::sent_bytes));
    EXPECT_EQ(stored, far(&Far::received_bytes));
  }
  EXPECT_EQ(counters.at("device.ipc.refused"), 0);
  const std::uint64_t by_ipc =
      counters.at("device.ipc.taken") + counters.at("device.ipc.reduced") + counters.at("device.ipc.put");
  EXPECT_EQ(by_ipc > 0, comm_.node().size() > 1);
}

}  // namespace
}  // namespace tutti::test
