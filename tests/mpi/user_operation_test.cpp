// Users' operations that do forbidden things: call Tutti, or throw. The call that runs them fails, its communicator is
// unusable, and everything else works on.
#include <functional>
#include <memory>
#include <stdexcept>

#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

struct Context {
  std::function<void()> inner{};
  bool catches = false;
  std::string caught{};
};

void add_after_inner(const void* lhs, const void* rhs, void* into, Count count, void* context) {
  auto& own = *static_cast<Context*>(context);
  try {
    own.inner();
  } catch (const StateError& error) {
    own.caught = error.what();
    if (!own.catches) throw;
  }
  for (std::int64_t i = 0; i < count.value(); ++i)
    static_cast<double*>(into)[i] = static_cast<const double*>(lhs)[i] + static_cast<const double*>(rhs)[i];
}

class UserOperation : public testing::Test {
 protected:
  /// An allreduce in which every rank reduces, after all messages have left: no rank waits for one that has failed.
  void expect_fails(const std::string& what, const std::function<void(const Communicator&)>& inner,
                    std::initializer_list<std::string> parts, bool catches = false) {
    SCOPED_TRACE(what);
    const Communicator comm{MPI_COMM_WORLD};
    Context context{[&] { inner(comm); }, catches};
    const Op op = Op::user(add_after_inner, Commutative::yes, &context);
    std::vector<double> in(3, 1.0), out(3);
    const Options one_shot{.algorithm = "one_shot"};
    expect_throw<Error>([&] { allreduce_async(std::span{in}, std::span{out}, op, comm, one_shot).wait(); }, parts);
    caught_ = context.caught;
    expect_throw<Error>([&] { allreduce(std::span{in}, Op::sum, comm); }, {"unusable", "failed"});
    expect_works(other_);
  }

  void SetUp() override {
    if (world_size() == 1) GTEST_SKIP() << "one rank combines nothing";
  }

  const Communicator other_{MPI_COMM_WORLD};
  std::vector<double> data_ = std::vector<double>(4, 1.0);
  std::string caught_{};
};

const std::initializer_list<std::string> calls_tutti{"allreduce", "on rank", "a user's operation called Tutti"};

TEST_F(UserOperation, ThatCallsACollectiveFails) {
  expect_fails(
      "its own communicator", [&](const Communicator& comm) { allreduce(std::span{data_}, Op::sum, comm); },
      calls_tutti);
  EXPECT_NE(caught_.find("called Tutti"), std::string::npos) << caught_;
  expect_fails(
      "another one", [&](const Communicator& /*comm*/) { allreduce(std::span{data_}, Op::sum, other_); }, calls_tutti);
  expect_fails(
      "nonblocking", [&](const Communicator& /*comm*/) { allreduce_async(std::span{data_}, Op::sum, other_).wait(); },
      calls_tutti);
  expect_fails(
      "a plan", [&](const Communicator& comm) { static_cast<void>(plan_barrier(comm)); }, calls_tutti);
}

TEST_F(UserOperation, ThatSendsAndReceivesFails) {
  const Rank right{(world_rank() + 1) % world_size()};
  expect_fails(
      "send", [&](const Communicator& comm) { send(std::span{data_}, right, comm); }, calls_tutti);
  expect_fails(
      "batch",
      [&](const Communicator& /*comm*/) {
        Batch batch{other_};
        batch.recv(std::span{data_}, right);
        batch.run();
      },
      calls_tutti);
}

TEST_F(UserOperation, ThatMakesACommunicatorFails) {
  expect_fails(
      "creation", [](const Communicator& /*comm*/) { const Communicator inner{MPI_COMM_WORLD}; }, calls_tutti);
}

/// Operations under way on another communicator stay there, and are waited for afterwards.
TEST_F(UserOperation, ThatWaitsOrTestsFails) {
  std::vector<double> sum(4, 1.0);
  Request pending = allreduce_async(std::span{sum}, Op::sum, other_);
  expect_fails(
      "wait", [&](const Communicator& /*comm*/) { pending.wait(); }, calls_tutti);
  pending.wait();
  EXPECT_EQ(sum, std::vector<double>(4, world_size()));
  pending = allreduce_async(std::span{sum}, Op::max, other_);
  Plan plan = plan_allreduce(std::span{data_}, Op::sum, other_);
  expect_fails(
      "test", [&](const Communicator& /*comm*/) { static_cast<void>(pending.test()); }, calls_tutti);
  expect_fails(
      "plan's start", [&](const Communicator& /*comm*/) { plan.start(); }, calls_tutti);
  pending.wait();
  EXPECT_EQ(sum, std::vector<double>(4, world_size()));
  plan.start();
  plan.wait();
  EXPECT_EQ(data_, sum);
}

TEST_F(UserOperation, ThatCatchesTheErrorFailsAllTheSame) {
  expect_fails(
      "caught", [&](const Communicator& comm) { allreduce(std::span{data_}, Op::sum, comm); }, calls_tutti, true);
  EXPECT_NE(caught_.find("called Tutti"), std::string::npos) << caught_;
}

TEST_F(UserOperation, ThatThrowsFailsWithItsText) {
  expect_fails("throws", [](const Communicator& /*comm*/) { throw std::runtime_error{"no such number"}; },
               {"allreduce", "no such number"});
}

/// Calls that only ask and move nothing are allowed.
TEST_F(UserOperation, MayAskTheCommunicator) {
  const Communicator comm{MPI_COMM_WORLD};
  int ranks = 0;
  Context context{[&] { ranks = comm.size() + comm.rank().value() - world_rank(); }};
  std::vector<double> data(3, 1.0);
  allreduce(std::span{data}, Op::user(add_after_inner, Commutative::yes, &context), comm, {.algorithm = "one_shot"});
  EXPECT_EQ(ranks, world_size());
  EXPECT_EQ(data, std::vector<double>(3, world_size()));
}

}  // namespace
}  // namespace tutti::test
