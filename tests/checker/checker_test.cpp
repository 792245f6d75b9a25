// Schedules broken by hand, each in one way: the proof has to say which.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lib/proof/checker/mutants.hpp"
#include "lib/proof/checker/prove.hpp"
#include "lib/proof/checker/random_run.hpp"

namespace tutti::checker {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

constexpr Count n{2};
const Region in{Buffer::input, Count{0}, n}, out{Buffer::output, Count{0}, n}, temporary{Buffer::scratch, Count{0}, n};

Region element(Buffer buffer, int offset, int count = 1) { return {buffer, Count{offset}, Count{count}}; }

Expectation allreduce(int size, Order order = Order::of_ranks) {
  return {order, [size](Rank, Count place) { return Combination{Rank{0}, size, place}; }};
}
Expectation anything() { return {Order::any, nullptr}; }

RankSchedule rank_schedule(std::vector<Step> steps, Count scratch = n) {
  return {n, n, Aliasing::separate(), {std::move(steps), scratch}};
}

Send send(int to, const Region& from, int message = 0) { return {Rank{to}, {from}, message}; }
Recv recv(int from, const Region& into, int message = 0) { return {Rank{from}, {into}, message}; }

/// Two ranks exchange their inputs and reduce: steps 0 send, 1 recv, 2 reduce.
class Exchange : public testing::Test {
 protected:
  Exchange() {
    ranks_.push_back(rank_schedule({{send(1, in), {}}, {recv(1, temporary), {}}, {Reduce{in, temporary, out}, {1}}}));
    ranks_.push_back(rank_schedule({{send(0, in), {}}, {recv(0, temporary), {}}, {Reduce{temporary, in, out}, {1}}}));
  }
  std::vector<Step>& steps(std::size_t rank) { return ranks_[rank].schedule.steps; }
  Action& action(std::size_t rank, std::size_t step) { return steps(rank)[step].action; }
  [[nodiscard]] std::string fault(Order order = Order::of_ranks) const {
    return prove(ranks_, allreduce(static_cast<int>(ranks_.size()), order)).fault;
  }
  RankSchedules ranks_;
};

TEST_F(Exchange, IsProved) {
  const Verdict verdict = prove(ranks_, allreduce(2));
  EXPECT_EQ(verdict.fault, "");
  const Cost cost{.messages = 1, .rounds = 1, .sent = n, .reduced = n, .copied = Count{0}, .scratch = n};
  EXPECT_THAT(verdict.costs, testing::ElementsAre(cost, cost));
}

TEST_F(Exchange, InPlaceNeedsTheWriteAfterTheRead) {
  for (RankSchedule& rank : ranks_)
    rank.aliasing = Aliasing::in_place();
  EXPECT_THAT(fault(), AllOf(StartsWith("rank 0, step 2 (reduce"), HasSubstr("race with rank 0, step 0 (send")));
  for (RankSchedule& rank : ranks_)
    rank.schedule.steps[2].after = {0, 1};
  EXPECT_EQ(fault(), "");
}

TEST_F(Exchange, WithoutAReceive) {
  steps(1).resize(1);
  EXPECT_EQ(fault(), "rank 0, step 0 (send input[0..2) to 1): is never received");
}

TEST_F(Exchange, WithoutASend) {
  steps(1)[0].action = Copy{in, out};
  EXPECT_EQ(fault(), "rank 0, step 1 (recv scratch[0..2) from 1): is never sent");
}

TEST_F(Exchange, OfDifferentSizes) {
  action(0, 0) = send(1, in.first(Count{1}));
  EXPECT_EQ(fault(),
            "rank 1, step 1 (recv scratch[0..2) from 0): receives 2 elements, but rank 0, step 0 (send input[0..1) to "
            "1) sends 1");
}

TEST_F(Exchange, OfDataAndASignal) {
  action(1, 0) = Send{Rank{0}, {}};
  EXPECT_THAT(fault(), HasSubstr("receives 2 elements, but rank 1, step 0 (send signal to 0) sends 0"));
}

TEST_F(Exchange, WithAMessageNumberTooHigh) {
  action(0, 0) = send(1, in, 1);
  EXPECT_THAT(fault(), HasSubstr("is message 1 on its pair of ranks, but 0 comes next"));
}

TEST_F(Exchange, WithMessagesOutOfOrder) {
  steps(0)[0] = {send(1, element(Buffer::input, 1), 1), {}};
  steps(0).push_back({send(1, element(Buffer::input, 0), 0), {}});
  EXPECT_THAT(fault(), HasSubstr("is message 1 on its pair of ranks, but 0 comes next"));
}

TEST_F(Exchange, WithAMessageNumberTwice) {
  steps(0).push_back({send(1, in), {}});
  EXPECT_THAT(fault(), HasSubstr("is message 0 on its pair of ranks, but 1 comes next"));
}

TEST_F(Exchange, WithAMessageToNobody) {
  action(0, 0) = send(2, in);
  EXPECT_THAT(fault(), HasSubstr("exchanges a message with rank 2 of 2"));
  action(0, 0) = send(0, in);
  EXPECT_THAT(fault(), HasSubstr("exchanges a message with itself"));
}

TEST_F(Exchange, WithARace) {
  steps(1)[2].after = {};
  EXPECT_THAT(fault(), AllOf(StartsWith("rank 1, step 2 (reduce output[0..2) = scratch[0..2) (+) input[0..2)): race"),
                             HasSubstr("rank 1, step 1 (recv"), HasSubstr("reads what the other writes")));
}

TEST_F(Exchange, WithARaceOfTwoWrites) {
  steps(0).push_back({Copy{in, out}, {}});
  EXPECT_THAT(fault(), HasSubstr("writes what the other writes"));
}

TEST_F(Exchange, WithARaceThatOnlyAnotherRankPrevents) {
  // Rank 0 reads its scratch to reduce, tells rank 1, and overwrites the scratch when rank 1 answers.
  steps(0).push_back({Send{Rank{1}, {}, 1}, {2}});
  steps(0).push_back({recv(1, temporary, 1), {}});
  steps(1).push_back({Recv{Rank{0}, {}, 1}, {}});
  steps(1).push_back({send(0, in, 1), {3}});
  EXPECT_THAT(fault(), AllOf(StartsWith("rank 0, step 4"), HasSubstr("writes what the other writes")));
  steps(0)[4].after = {3};
  EXPECT_EQ(fault(), "");
}

TEST_F(Exchange, ThatWritesTheInput) {
  action(0, 2) = Reduce{in, temporary, in};
  EXPECT_THAT(fault(), AllOf(StartsWith("rank 0, step 2"), HasSubstr("writes the input")));
}

TEST_F(Exchange, ThatReadsGarbage) {
  ranks_[1].schedule.scratch = 2 * n;
  action(1, 2) = Reduce{element(Buffer::scratch, 1, 2), in, out};
  EXPECT_THAT(fault(), AllOf(StartsWith("rank 1, step 2"), HasSubstr("reads garbage from scratch[2..3)")));
  action(1, 2) = Reduce{temporary, in, out};
  action(0, 0) = send(1, out);
  steps(0)[2].after = {0, 1};
  EXPECT_THAT(fault(), AllOf(StartsWith("rank 0, step 0"), HasSubstr("reads garbage from output[0..1)")));
}

TEST_F(Exchange, ThatLeavesGarbage) {
  steps(0).pop_back();
  EXPECT_THAT(fault(), StartsWith("rank 0: output[0] is garbage, not element 0 of ranks 0 to 1, each once"));
}

TEST_F(Exchange, InTheWrongOrder) {
  action(0, 2) = Reduce{temporary, in, out};
  action(1, 2) = Reduce{in, temporary, out};
  EXPECT_THAT(fault(), HasSubstr("output[0] is (r1[0] (+) r0[0]), not element 0 of ranks 0 to 1, each once, in the"));
  EXPECT_EQ(fault(Order::any), "");
}

TEST_F(Exchange, WithDifferentTrees) {
  action(1, 2) = Reduce{in, temporary, out};
  EXPECT_EQ(fault(Order::any), "rank 1: output[0] is (r1[0] (+) r0[0]), but (r0[0] (+) r1[0]) on rank 0");
}

TEST_F(Exchange, ThatCountsARankTwice) {
  action(1, 2) = Reduce{in, in, out};
  EXPECT_THAT(fault(Order::any), HasSubstr("rank 1: output[0] is (r1[0] (+) r1[0]), not"));
}

TEST_F(Exchange, OfTheWrongElements) {
  action(0, 0) = Send{Rank{1}, {element(Buffer::input, 1), element(Buffer::input, 0)}};
  EXPECT_THAT(fault(), HasSubstr("rank 1: output[0] is (r0[1] (+) r1[0]), not"));
}

TEST_F(Exchange, OutOfBounds) {
  action(0, 0) = send(1, element(Buffer::input, 1, 2));
  EXPECT_EQ(fault(), "rank 0, step 0 (send input[1..3) to 1): input[1..3) leaves its buffer of 2 elements");
  action(0, 0) = send(1, element(Buffer::input, -1, 2));
  EXPECT_THAT(fault(), HasSubstr("leaves its buffer"));
  action(0, 0) = send(1, in);
  ranks_[1].schedule.scratch = Count{1};
  EXPECT_THAT(fault(), HasSubstr("scratch[0..2) leaves its buffer of 1 elements"));
}

TEST_F(Exchange, WithAnInputThatLeavesTheOutput) {
  ranks_[1].aliasing = Aliasing::inside_output(Count{1});
  EXPECT_EQ(fault(), "rank 1: neither of input and output lies inside the other");
}

TEST_F(Exchange, WithDifferentCountsInOneStep) {
  action(0, 2) = Reduce{in, temporary.first(Count{1}), out};
  EXPECT_THAT(fault(), HasSubstr("reduces regions of different counts"));
  action(0, 2) = Copy{in, out.first(Count{1})};
  EXPECT_THAT(fault(), HasSubstr("copies between regions of different counts"));
}

TEST_F(Exchange, OntoPartOfAnOperand) {
  ranks_[0].schedule.scratch = 2 * n;
  action(0, 2) = Reduce{in, temporary, element(Buffer::scratch, 1, 2)};
  EXPECT_THAT(fault(), HasSubstr("reduces onto a part of its operand"));
  action(0, 2) = Copy{temporary, element(Buffer::scratch, 1, 2)};
  EXPECT_THAT(fault(), HasSubstr("copies onto its source"));
  action(0, 2) = Reduce{in, temporary, out};
  action(0, 1) = Recv{Rank{1}, {element(Buffer::scratch, 0), element(Buffer::scratch, 0)}};
  EXPECT_THAT(fault(),
              HasSubstr("rank 0, step 1 (recv scratch[0..1) + scratch[0..1) from 1): writes scratch[0..1) twice"));
}

TEST_F(Exchange, ThatWaitsForItselfOrLaterSteps) {
  steps(0)[1].after = {1};
  EXPECT_THAT(fault(), HasSubstr("waits for step 1, which does not come before it"));
  steps(0)[1].after = {-1};
  EXPECT_THAT(fault(), HasSubstr("not in ascending order"));
  steps(0)[2].after = {1, 0};
  steps(0)[1].after = {};
  EXPECT_THAT(fault(), HasSubstr("not in ascending order"));
}

TEST_F(Exchange, ThatReceivesFirst) {
  for (RankSchedule& rank : ranks_) {
    std::swap(rank.schedule.steps[0], rank.schedule.steps[1]);
    rank.schedule.steps[1].after = {0};
    rank.schedule.steps[2].after = {0};
  }
  EXPECT_THAT(fault(), AllOf(StartsWith("deadlock under eager flow control: "), HasSubstr("rank 0, step 0 (recv"),
                             HasSubstr("rank 1, step 1 (send")));
  EXPECT_EQ(fault_at_random(1, ranks_, allreduce(2)), "the run gets stuck");
}

TEST_F(Exchange, ThatReceivesOnceItHasSent) {
  for (RankSchedule& rank : ranks_)
    rank.schedule.steps[1].after = {0};
  EXPECT_THAT(fault(), StartsWith("deadlock under rendezvous flow control: "));
  EXPECT_EQ(fault_at_random(1, ranks_, allreduce(2)), "");
}

TEST(OneCredit, MessageThatNeedsTheNextOfItsPair) {
  const Region first = element(Buffer::scratch, 0), second = element(Buffer::scratch, 1);
  RankSchedules ranks;
  ranks.push_back(rank_schedule({{send(1, in.first(Count{1}), 0), {}}, {send(1, in.first(Count{1}), 1), {}}}));
  ranks.push_back(rank_schedule(
      {{Recv{Rank{2}, {}}, {}}, {recv(0, first, 0), {0}}, {recv(0, second, 1), {}}, {Send{Rank{2}, {}}, {2}}}));
  ranks.push_back(rank_schedule({{Recv{Rank{1}, {}}, {}}, {Send{Rank{1}, {}}, {0}}}));
  EXPECT_THAT(prove(ranks, anything()).fault, StartsWith("deadlock under one-credit flow control: "));
  EXPECT_EQ(fault_at_random(1, ranks, anything()), "");
}

/// A step that waits for one with which it shares no element: it may as well not wait, unless in a barrier.
TEST_F(Exchange, EdgeThatOnlyPacesIsEquivalent) {
  steps(0).push_back({Copy{element(Buffer::input, 0), element(Buffer::scratch, 2)}, {2}});
  ranks_[0].schedule.scratch = Count{3};
  Expectation expectation = allreduce(2);
  const auto equivalents = [&] {
    int found = 0;
    for (const Mutant& mutant : mutants_of(ranks_)) {
      RankSchedules mutated = ranks_;
      mutated[static_cast<std::size_t>(mutant.rank.value())].schedule.steps[static_cast<std::size_t>(mutant.step)] =
          mutant.mutated;
      if (mutant.mutation == Mutation::edge_deleted && equivalence(mutant, ranks_, mutated, expectation)) ++found;
    }
    return found;
  };
  EXPECT_EQ(equivalents(), 1);  // not the edges from the receives to the reductions
  steps(0)[3].action = Copy{element(Buffer::output, 0), element(Buffer::scratch, 2)};
  EXPECT_EQ(equivalents(), 0);
}

TEST_F(Exchange, WithARaceFailsInSomeRandomOrder) {
  steps(1)[2].after = {};
  int failed = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed)
    failed += fault_at_random(seed, ranks_, allreduce(2)).empty() ? 0 : 1;
  EXPECT_GT(failed, 10);
  EXPECT_LT(failed, 100);
}

}  // namespace
}  // namespace tutti::checker
