// Ends that nobody waits for: time limits, aborted communicators, messages that nobody receives; and forms that match.
#include <chrono>
#include <thread>

#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

using std::chrono::milliseconds;

class Abort : public testing::Test {
 protected:
  [[nodiscard]] static Rank next() { return Rank{(world_rank() + 1) % world_size()}; }
  [[nodiscard]] static Rank last() { return Rank{(world_rank() + world_size() - 1) % world_size()}; }
  static std::string error_of(const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
};

TEST_F(Abort, AWaitHasALimit) {
  Communicator comm{MPI_COMM_WORLD};
  std::int64_t sum = 1;
  if (world_size() == 1) {
    EXPECT_TRUE(allreduce_async(sum, Op::sum, comm).wait_for(milliseconds{1}));
    return;
  }
  std::vector<double> data(100'000, 1.0);
  if (world_rank() == 0) {
    Request request = allreduce_async(std::span{data}, Op::sum, comm);
    EXPECT_FALSE(request.wait_for(milliseconds{5}));
    EXPECT_FALSE(request.wait_for(std::chrono::duration<double>{0}));
    EXPECT_FALSE(request.cancel());  // others have a part in it
    MPI_Barrier(MPI_COMM_WORLD);
    EXPECT_TRUE(request.wait_for(std::chrono::hours{1'000'000'000}));
  } else {
    MPI_Barrier(MPI_COMM_WORLD);
    Plan plan = plan_allreduce(std::span{data}, Op::sum, comm);
    EXPECT_TRUE(plan.wait_for(milliseconds{1}));  // it was not started
    allreduce_async(std::span{data}, Op::sum, comm).wait();
  }
  EXPECT_EQ(data, std::vector<double>(100'000, world_size()));
}

TEST_F(Abort, EndsWhatIsUnderWayWithoutTheOthers) {
  if (world_size() == 1) GTEST_SKIP() << "needs two ranks";
  for (const std::size_t count : {std::size_t{1}, std::size_t{200'000}}) {
    Communicator comm{MPI_COMM_WORLD}, other{MPI_COMM_WORLD};
    std::vector<double> data(count, 1.0), kept(count, 1.0);
    std::vector<Request> requests;
    if (world_rank() == 0) {
      requests.push_back(allreduce_async(std::span{data}, Op::sum, comm));
      requests.push_back(recv_async(std::span{kept}, next(), Tag{4}, comm));
      requests.push_back(recv_async(std::span{kept}, next(), comm));
      comm.abort("enough");
      EXPECT_FALSE(comm.is_open());
      static_cast<void>(error_of([&] { requests[0].wait(); }));  // it may have been over
      for (Request& request : std::span{requests}.subspan(1))
        EXPECT_THAT(error_of([&] { request.wait(); }), testing::HasSubstr("aborted on rank 0: enough"));
      EXPECT_THAT(error_of([&] { barrier(comm); }), testing::HasSubstr("aborted on rank 0: enough"));
      comm.abort("again");
    } else {
      // The others hear of it in the call that they wait in.
      EXPECT_THAT(error_of([&] {
                    allreduce_async(std::span{data}, Op::sum, comm).wait();
                    for (int i = 0; i < 10'000; ++i)
                      barrier(comm);
                  }),
                  testing::HasSubstr("aborted on rank 0: enough"));
    }
    std::int64_t sum = 1;
    allreduce(sum, Op::sum, other);  // works on
    EXPECT_EQ(sum, world_size());
    barrier(other);
  }
}

TEST_F(Abort, AnotherThreadEndsABlockingCall) {
  int level = MPI_THREAD_SINGLE;
  MPI_Query_thread(&level);
  if (level != MPI_THREAD_MULTIPLE) GTEST_SKIP() << "MPI has no threads";
  if (world_size() == 1) GTEST_SKIP() << "needs two ranks";
  Communicator comm{MPI_COMM_WORLD};
  if (world_rank() == 0) {
    std::thread aborting{[&] {
      std::this_thread::sleep_for(milliseconds{20});
      comm.abort("by a thread");
    }};
    EXPECT_THAT(error_of([&] { barrier(comm); }), testing::HasSubstr("aborted on rank 0: by a thread"));
    aborting.join();
  }
  MPI_Barrier(MPI_COMM_WORLD);
  if (world_rank() != 0) comm.abort("too");
}

/// The next communicators have the context of an earlier one, some of whose messages were never received.
TEST_F(Abort, MessagesOfAnEarlierCommunicatorDoNotArrive) {
  if (world_size() == 1) GTEST_SKIP() << "needs two ranks";
  for (int round = 0; round < 40; ++round) {
    for (const std::size_t count : {std::size_t{1}, std::size_t{20}, std::size_t{300}}) {
      const std::vector<std::int64_t> lost(count, -round);
      Communicator comm{MPI_COMM_WORLD};
      if (round % 2 == 0) send(std::span{lost}, next(), comm);
      if (round % 3 == 0) send(std::span{lost}, next(), Tag{3}, comm);
    }
    Communicator comm{MPI_COMM_WORLD};
    const std::vector<std::int64_t> mine(20, 1000 + round);
    std::vector<std::int64_t> plain(20), tagged(20);
    sendrecv(std::span{mine}, next(), std::span{plain}, last(), comm);
    Request send = send_async(std::span{mine}, next(), Tag{3}, comm);
    EXPECT_EQ(recv(std::span{tagged}, any_source, any_tag, comm).count, Count{20});
    send.wait();
    EXPECT_EQ(plain, mine) << round;
    EXPECT_EQ(tagged, mine) << round;
  }
}

/// Ranks mix blocking, nonblocking and persistent calls of the same collectives.
TEST_F(Abort, FormsMatchWhereTheyAreTold) {
  const Communicator comm{MPI_COMM_WORLD, {.forms_match = true}};
  for (const std::size_t count : {std::size_t{1}, std::size_t{3000}, std::size_t{150'000}}) {
    std::vector<std::int64_t> planned(count);
    Plan plan = plan_allreduce(std::span{planned}, Op::sum, comm);
    for (int call = 0; call < 12; ++call) {
      std::vector<std::int64_t> sum(count, call), more(count, 1);
      switch ((world_rank() + call) % 3) {
        case 0:
          allreduce(std::span{sum}, Op::sum, comm);
          allreduce(std::span{more}, Op::max, comm);
          break;
        case 1: {
          Request first = allreduce_async(std::span{sum}, Op::sum, comm);
          Request second = allreduce_async(std::span{more}, Op::max, comm);
          second.wait();
          first.wait();
          break;
        }
        default:
          planned = sum;
          plan.start();
          plan.wait();
          sum = planned;
          allreduce_async(std::span{more}, Op::max, comm).wait();
      }
      ASSERT_EQ(sum, std::vector<std::int64_t>(count, call * world_size()));
      ASSERT_EQ(more, std::vector<std::int64_t>(count, 1));
    }
  }
}

TEST_F(Abort, BooleansHaveTheirOperations) {
  const Communicator comm{MPI_COMM_WORLD};
  for (const std::size_t count : {std::size_t{1}, std::size_t{33}, std::size_t{100'000}}) {
    const auto mine = std::make_unique<bool[]>(count);
    const auto result = std::make_unique<bool[]>(count);
    const std::span in{mine.get(), count}, out{result.get(), count};
    const auto value = [](int rank, std::size_t i) { return (i * 7 + static_cast<std::size_t>(rank) * 3) % 4 == 0; };
    for (std::size_t i = 0; i < count; ++i)
      in[i] = value(world_rank(), i);
    const auto expect = [&](const Op& op, const auto& combine) {
      allreduce(in, out, op, comm);
      for (std::size_t i = 0; i < count; ++i) {
        bool expected = value(0, i);
        for (int rank = 1; rank < world_size(); ++rank)
          expected = combine(expected, value(rank, i));
        ASSERT_EQ(out[i], expected) << to_string(op.kind()) << " at " << i;
      }
    };
    for (const Op& op : {Op::sum, Op::max, Op::lor, Op::bor})
      expect(op, [](bool a, bool b) { return a || b; });
    for (const Op& op : {Op::prod, Op::min, Op::land, Op::band})
      expect(op, [](bool a, bool b) { return a && b; });
    for (const Op& op : {Op::lxor, Op::bxor})
      expect(op, [](bool a, bool b) { return a != b; });
    broadcast(in, Rank{0}, comm);
    EXPECT_EQ(in[0], value(0, 0));
    EXPECT_THAT(error_of([&] { allreduce(in, out, Op::avg, comm); }), testing::HasSubstr("avg with type bool"));
  }
}

}  // namespace
}  // namespace tutti::test
