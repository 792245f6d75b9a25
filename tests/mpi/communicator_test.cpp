// Making, using, moving and closing communicators.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <mpi.h>

#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/core/transport/mpi/tag_layout.hpp"
#include "tutti/tutti.hpp"

namespace tutti {
namespace {

using testing::HasSubstr;

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
int world_size() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

/// The result of an allreduce of each rank's world rank.
int sum_of_world_ranks(const Communicator& comm) {
  int sum = world_rank();
  allreduce(std::span<int>{&sum, 1}, Op::sum, comm);
  return sum;
}

template <class Function>
std::string error_of(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

/// An environment variable for as long as it lives.
class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  ~Environment() { unsetenv(name_); }

 private:
  const char* name_;
};

TEST(Communicator, KnowsRanksAndNodes) {
  const Communicator comm{MPI_COMM_WORLD};
  EXPECT_EQ(comm.rank().value(), world_rank());
  EXPECT_EQ(comm.size(), world_size());
  MPI_Comm node = MPI_COMM_NULL;
  int node_size = 0, node_rank = 0;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, world_rank(), MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &node_size);
  MPI_Comm_rank(node, &node_rank);
  MPI_Comm_free(&node);
  EXPECT_EQ(comm.node().size(), node_size);
  EXPECT_EQ(comm.node().me, node_rank);
  EXPECT_EQ(comm.node().at(node_rank), comm.rank());
  EXPECT_EQ(comm.leaders().size(), comm.node_count());
  EXPECT_EQ(comm.leaders().me >= 0, node_rank == 0);
  EXPECT_EQ(comm.leaders().at(comm.node_of(comm.rank())), comm.node().at(0));
  EXPECT_THROW(static_cast<void>(comm.node_of(Rank{comm.size()})), ArgumentError);
}

TEST(Communicator, ServesPartsOfTheWorld) {
  const Communicator world{MPI_COMM_WORLD};
  MPI_Comm part = MPI_COMM_NULL;
  // Odd and even ranks, in reverse order.
  MPI_Comm_split(MPI_COMM_WORLD, world_rank() % 2, -world_rank(), &part);
  int mpi_rank = 0, mpi_sum = world_rank();
  MPI_Comm_rank(part, &mpi_rank);
  MPI_Allreduce(MPI_IN_PLACE, &mpi_sum, 1, MPI_INT, MPI_SUM, part);
  const Communicator comm{part};
  MPI_Comm_free(&part);  // independent of it from now on
  EXPECT_EQ(comm.rank().value(), mpi_rank);
  EXPECT_EQ(sum_of_world_ranks(comm), mpi_sum);
  EXPECT_EQ(sum_of_world_ranks(world), world_size() * (world_size() - 1) / 2);
}

TEST(Communicator, ServesSelf) {
  const Communicator self{MPI_COMM_SELF};
  EXPECT_EQ(self.size(), 1);
  EXPECT_EQ(sum_of_world_ranks(self), world_rank());
}

TEST(Communicator, AThousandAreAliveAtOnce) {
  std::vector<std::unique_ptr<Communicator>> all;
  for (int i = 0; i < 1000; ++i)
    all.push_back(std::make_unique<Communicator>(MPI_COMM_WORLD));
  std::vector<int> values(all.size());
  std::vector<Request> requests;
  for (std::size_t i = 0; i < all.size(); ++i) {
    values[i] = world_rank() + static_cast<int>(i);
    requests.push_back(allreduce_async(std::span<int>{&values[i], 1}, Op::sum, *all[i]));
  }
  for (std::size_t i = all.size(); i-- > 0;)
    requests[i].wait();
  const int ranks = world_size() * (world_size() - 1) / 2;
  for (std::size_t i = 0; i < all.size(); ++i)
    EXPECT_EQ(values[i], ranks + world_size() * static_cast<int>(i));
}

TEST(Communicator, GivesContextsBack) {
  for (int i = 0; i < 5000; ++i) {
    const Communicator comm{MPI_COMM_SELF};
    ASSERT_TRUE(comm.is_open());
  }
}

TEST(Communicator, SaysWhenContextsRunOut) {
  const int most = mpi::TagLayout::within(32767).communicators();
  if (std::getenv("TUTTI_TEST_TAG_UB") == nullptr)
    GTEST_SKIP() << "needs TUTTI_TEST_TAG_UB=32767: the run named small_tags has it";
  const Communicator world{MPI_COMM_WORLD};
  std::vector<std::unique_ptr<Communicator>> all;
  for (int i = 1; i < most; ++i)
    all.push_back(std::make_unique<Communicator>(MPI_COMM_WORLD));
  EXPECT_THAT(error_of([] { const Communicator one_more{MPI_COMM_WORLD}; }),
              HasSubstr(std::to_string(most) + " communicators are alive"));
  all.pop_back();
  const Communicator fits{MPI_COMM_WORLD};
  EXPECT_EQ(sum_of_world_ranks(fits), sum_of_world_ranks(world));
}

TEST(Communicator, ClosedOrMovedFromIsAnError) {
  Communicator comm{MPI_COMM_WORLD};
  Communicator other = std::move(comm);
  // NOLINTNEXTLINE(bugprone-use-after-move): that is the subject of this test
  EXPECT_THAT(error_of([&] { sum_of_world_ranks(comm); }), HasSubstr("moved from"));
  EXPECT_FALSE(comm.is_open());
  other.close();
  other.close();
  EXPECT_FALSE(other.is_open());
  EXPECT_THAT(error_of([&] { sum_of_world_ranks(other); }), HasSubstr("was closed"));
  other = Communicator{MPI_COMM_WORLD};
  EXPECT_EQ(sum_of_world_ranks(other), world_size() * (world_size() - 1) / 2);
}

TEST(Communicator, RefusesWhatIsNoIntraCommunicator) {
  EXPECT_THAT(error_of([] { const Communicator comm{MPI_COMM_NULL}; }), HasSubstr("MPI_COMM_NULL"));
  if (world_size() < 2) return;
  MPI_Comm half = MPI_COMM_NULL, inter = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, world_rank() % 2, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - world_rank() % 2, 7, &inter);
  EXPECT_THAT(error_of([&] { const Communicator comm{inter}; }), HasSubstr("inter-communicator"));
  MPI_Comm_free(&inter);
  MPI_Comm_free(&half);
}

TEST(Settings, OfRankZeroCountForAll) {
  if (world_rank() == 0) setenv("TUTTI_ALGORITHM", "ring", 1);
  if (world_rank() == 1) setenv("TUTTI_ALGORITHM", "rabenseifner", 1);
  const Communicator comm{MPI_COMM_WORLD};
  unsetenv("TUTTI_ALGORITHM");
  std::vector<float> data(3);
  EXPECT_EQ(plan_allreduce(std::span<float>{data}, Op::sum, comm).algorithm(), "ring");
  EXPECT_EQ(plan_allreduce(std::span<float>{data}, Op::sum, comm, {.algorithm = "recursive_doubling"}).algorithm(),
            "recursive_doubling");
}

TEST(Settings, WithBadValuesAreNamedOnAllRanks) {
  const std::vector<std::pair<const char*, const char*>> bad{
      {"TUTTI_ALGORITHM", "rign"}, {"TUTTI_MESSAGE_LIMIT", "0"}, {"TUTTI_MESSAGE_LIMIT", "1k"},
      {"TUTTI_PLAN_CACHE", "-3"},  {"TUTTI_STAGING", "1"},       {"TUTTI_LOG", "yes"}};
  for (const auto& [name, value] : bad) {
    const Environment set{name, value};
    const std::string error = error_of([] { const Communicator comm{MPI_COMM_WORLD}; });
    EXPECT_THAT(error, HasSubstr(name));
    EXPECT_THAT(error, HasSubstr(std::string{"'"}.append(value).append("'")));
    EXPECT_THAT(error, HasSubstr("allowed"));
  }
}

TEST(TagLayout, TellsMessagesApartWithinAnyBound) {
  for (const std::int64_t bound : {32767LL, 65535LL, 524287LL, 1048575LL, 268435455LL, 2147483647LL}) {
    const auto layout = mpi::TagLayout::within(bound);
    EXPECT_GE(layout.contexts(), 1000);
    EXPECT_GE(layout.sequences(), 8);
    EXPECT_GE(layout.messages(), 4);
    const auto last = static_cast<std::uint64_t>(layout.turns()) - 1;
    EXPECT_LE(layout.tag(layout.base(layout.contexts() - 1, last), layout.messages() - 1), bound);
    EXPECT_NE(layout.tag(layout.base(1, 0), 0), layout.tag(layout.base(0, last), layout.messages() - 1));
    EXPECT_EQ(layout.base(5, 3), layout.base(5, 3 + last + 1));
    EXPECT_LE(layout.tag(layout.pairwise(layout.contexts() - 1), layout.messages() - 1), bound);
    EXPECT_GT(layout.pairwise(5), layout.tag(layout.base(5, last), layout.messages() - 1));
    EXPECT_LT(layout.tag(layout.pairwise(5), layout.messages() - 1), layout.base(6, 0));
  }
}

}  // namespace
}  // namespace tutti
