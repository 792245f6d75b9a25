// Messages of several ranks that are reduced in one pass: that it happens, where it cannot, and that nobody waits for
// ever for a message that is late.
#include <chrono>
#include <complex>
#include <thread>

#include "tests/mpi/collective_cases.hpp"

namespace tutti::test {
namespace {

using std::chrono::seconds;

class JointReductions : public testing::Test {
 protected:
  [[nodiscard]] std::uint64_t joint() const { return comm_.counters().at("shm.reduce.multi_operand"); }
  /// Pieces that all ranks reduced so in this call; its result is compared with the MPI's. How many these are is known
  /// only if the ranks meet: on a machine that is busy with other things messages may else be too far apart.
  template <class T>
  std::uint64_t joint_in(const Trial& trial, const Op& op) {
    const std::uint64_t before = joint();
    expect_right<T>(trial, op, comm_);
    return sum(joint() - before);
  }
  static std::uint64_t sum(std::uint64_t mine) {
    MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return mine;
  }
  Communicator comm_{MPI_COMM_WORLD, {.transport = "shm"}};
};

constexpr std::int64_t small = 512, middling = 6000, several_pieces = 90'000;

TEST_F(JointReductions, HappenWhereThreeOperandsOrMoreMeet) {
  const bool many = world_size() > 2;
  for (const Way way : {Way::blocking, Way::async, Way::plan})
    for (const std::int64_t count : {middling, several_pieces}) {
      const auto expect_joint = [&](Collective collective, const char* algorithm) {
        Trial trial{.collective = collective, .algorithm = algorithm, .way = way, .count = count};
        trial.meets = way != Way::blocking;
        const std::uint64_t pieces = joint_in<double>(trial, Op::sum);
        if (many && !trial.meets) return;
        EXPECT_EQ(pieces > 0, many) << describe(trial, Op::sum, Type::fp64);
      };
      expect_joint(Collective::allreduce, "one_shot");
      expect_joint(Collective::allreduce, "two_shot");
      expect_joint(Collective::allreduce, "reduce_broadcast:64");
      expect_joint(Collective::reduce, "knomial:16");
      expect_joint(Collective::reduce_scatter, "one_shot");
    }
}

TEST_F(JointReductions, AreNotForSmallMessagesNorForTwo) {
  for (const char* const algorithm : {"one_shot", "two_shot"})
    EXPECT_EQ(joint_in<double>({.algorithm = algorithm, .count = small}, Op::sum), 0);
  for (const char* const algorithm : {"recursive_doubling", "ring", "rabenseifner"})
    EXPECT_EQ(joint_in<double>({.algorithm = algorithm, .count = several_pieces}, Op::sum), 0) << algorithm;
}

/// In place, results may only be written once the elements that they overwrite have left.
TEST_F(JointReductions, InPlace) {
  for (const Collective collective : {Collective::allreduce, Collective::reduce, Collective::reduce_scatter})
    for (const std::string& algorithm : whole_choices_of(collective))
      for (const std::int64_t count : {middling, several_pieces}) {
        Trial trial{.collective = collective, .algorithm = algorithm, .buffers = BufferUse::in_place, .count = count};
        trial.way = Way::async;
        trial.meets = true;
        const std::uint64_t pieces = joint_in<double>(trial, Op::sum);
        if (algorithm != "two_shot") continue;
        EXPECT_EQ(pieces > 0, world_size() > 2) << describe(trial, Op::sum, Type::fp64);
      }
}

/// fp16 is rounded after every step, products depend on their order: the bits say whether it is that of ranks.
TEST_F(JointReductions, HaveTheBitsOfOneByOne) {
  std::uint64_t pieces = 0;
  for (const char* const algorithm : {"one_shot", "two_shot", "reduce_broadcast:64"}) {
    std::vector<Half> in(several_pieces), out(several_pieces), first(several_pieces);
    for (std::size_t i = 0; i < in.size(); ++i)
      in[i] = Half{1.0F + static_cast<float>((i * 37 + static_cast<std::size_t>(world_rank()) * 101) % 1999) / 2048.0F};
    const std::uint64_t before = joint();
    Request request =
        allreduce_async(std::span<const Half>{in}, std::span{out}, Op::prod, comm_, {.algorithm = algorithm});
    MPI_Barrier(MPI_COMM_WORLD);
    request.wait();
    pieces += sum(joint() - before);
    first = out;
    MPI_Bcast(first.data(), static_cast<int>(first.size()), MPI_UINT16_T, 0, MPI_COMM_WORLD);
    EXPECT_EQ(std::memcmp(out.data(), first.data(), out.size() * sizeof(Half)), 0) << algorithm << ": ranks differ";
    const Communicator over_mpi{MPI_COMM_WORLD, {.transport = "mpi"}};
    std::vector<Half> one_by_one(several_pieces);
    allreduce(std::span<const Half>{in}, std::span{one_by_one}, Op::prod, over_mpi, {.algorithm = algorithm});
    EXPECT_EQ(std::memcmp(out.data(), one_by_one.data(), out.size() * sizeof(Half)), 0) << algorithm;
  }
  EXPECT_EQ(pieces > 0, world_size() > 2);
}

/// Messages that have arrived are reduced one by one if another one does not come for long.
TEST_F(JointReductions, WaitForNoLateRank) {
  if (world_size() < 3) GTEST_SKIP() << "needs three ranks";
  const std::vector<std::int64_t> in = addends(middling, world_rank(), 5);
  std::vector<std::int64_t> out(middling), expected(middling);
  MPI_Allreduce(in.data(), expected.data(), middling, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  for (const int late : {0, world_size() - 1}) {
    const std::uint64_t before = joint();
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank() == late) std::this_thread::sleep_for(seconds{2});
    allreduce(std::span{std::as_const(in)}, std::span{out}, Op::sum, comm_, {.algorithm = "one_shot"});
    EXPECT_EQ(out, expected) << "rank " << late << " was late";
    if (world_rank() == late) continue;
    EXPECT_EQ(joint(), before) << "rank " << late << " was late";
  }
}

/// A rank that stops in the middle: its first pieces are reduced with those of others, the rest one by one.
TEST_F(JointReductions, EndWhereARankStops) {
  if (world_size() < 3) GTEST_SKIP() << "needs three ranks";
  constexpr std::int64_t count = 20 * 65536 / 8;
  const std::vector<std::int64_t> in = addends(count, world_rank(), 7);
  std::vector<std::int64_t> out(count), expected(count);
  MPI_Allreduce(in.data(), expected.data(), count, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  std::uint64_t pieces = 0;
  for (const int late : {0, world_size() - 1}) {
    const std::uint64_t before = joint();
    Request request =
        allreduce_async(std::span{std::as_const(in)}, std::span{out}, Op::sum, comm_, {.algorithm = "one_shot"});
    MPI_Barrier(MPI_COMM_WORLD);  // the first pieces of all are there
    if (world_rank() == late) std::this_thread::sleep_for(seconds{1});
    request.wait();
    EXPECT_EQ(out, expected) << "rank " << late << " stopped";
    if (world_rank() == late) continue;
    pieces += joint() - before;
    EXPECT_LT(joint(), before + 20) << "rank " << late << " stopped";
  }
  EXPECT_GT(sum(pieces), 0);
}

}  // namespace
}  // namespace tutti::test
