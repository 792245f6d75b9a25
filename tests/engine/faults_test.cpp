// Faults on purpose: how they are written, and when they happen.
#include <gmock/gmock.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <new>
#include <string>

#include "lib/watch/faults.hpp"
#include "tutti/error.hpp"

namespace tutti {
namespace {

using testing::AllOf;
using testing::HasSubstr;

CompiledStep message(Verb verb, int peer, int number = 0) {
  CompiledStep step;
  step.verb = verb;
  step.peer = peer;
  step.message = number;
  return step;
}

TEST(Faults, AreRead) {
  const std::vector<Fault> faults = read_faults(
      "kill:rank=1,message=50;drop:rank=0,peer=2,message=3;delay:message=4,milliseconds=20,rank=5;"
      "allocation:rank=6,plan=7");
  ASSERT_EQ(faults.size(), 4U);
  EXPECT_EQ(faults[0].kind, Fault::Kind::kill);
  EXPECT_EQ(faults[0].rank, 1);
  EXPECT_EQ(faults[0].number, 50);
  EXPECT_EQ(faults[0].peer, -1);
  EXPECT_EQ(faults[1].kind, Fault::Kind::drop);
  EXPECT_EQ(faults[1].peer, 2);
  EXPECT_EQ(faults[2].milliseconds, 20);
  EXPECT_EQ(faults[3].kind, Fault::Kind::allocation);
  EXPECT_EQ(faults[3].number, 7);
  EXPECT_TRUE(read_faults("").empty());
}

TEST(Faults, OfARangeFollowFromTheSeed) {
  const auto number = [](const char* text) { return read_faults(text).at(0).number; };
  const std::int64_t one = number("seed=1;kill:rank=0,message=100-200");
  EXPECT_EQ(number("seed=1;kill:rank=0,message=100-200"), one);
  EXPECT_NE(number("seed=2;kill:rank=0,message=100-200"), one);
  EXPECT_GE(one, 100);
  EXPECT_LE(one, 200);
  EXPECT_EQ(number("stop:rank=0,message=7-7"), 7);
}

TEST(Faults, ThatCannotBeReadAreNamed) {
  for (const char* wrong : {"junk", "kill", "kill:", "kill:rank=1", "kill:message=1", "kill:rank=1,message=0",
                            "kill:rank=1,message=9-2", "kill:rank=1,message=2-", "kill:rank=-1,message=1",
                            "kill:rank=1,message=1,plan=1", "allocation:rank=1,message=1", "kill:rank=1;message=1",
                            "kill:rank=1,message=1,milliseconds=2", "seed=x", "seed=", "drop:rank=1,message=1,peer=a"})
    try {
      static_cast<void>(read_faults(wrong));
      ADD_FAILURE() << wrong;
    } catch (const ArgumentError& error) {
      const std::string item{wrong,
                             std::string_view{wrong}.find(';') == std::string_view::npos ? std::strlen(wrong) : 11};
      EXPECT_THAT(error.what(), AllOf(HasSubstr("TUTTI_FAULTS has '" + item + "'"), HasSubstr("allowed"))) << wrong;
    }
}

TEST(Faults, DropAndCorruptTheirSendsOnly) {
  Faults faults{read_faults("drop:rank=3,message=2;corrupt:rank=3,message=4,peer=1;drop:rank=2,message=1"), 3};
  const CompiledStep send = message(Verb::send, 0), recv = message(Verb::recv, 0), other = message(Verb::send, 1, 5);
  EXPECT_EQ(faults.before_message(send), &send);
  EXPECT_EQ(faults.before_message(recv), &recv);
  EXPECT_EQ(faults.before_message(send), nullptr) << "the second send";
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(faults.before_message(other), &other);
  const CompiledStep* const corrupted = faults.before_message(other);
  ASSERT_NE(corrupted, nullptr);
  EXPECT_NE(corrupted->message, 5) << "the fourth to rank 1";
  EXPECT_EQ(corrupted->peer, 1);
  EXPECT_EQ(faults.before_message(other), &other);
}

TEST(Faults, OfSeveralKindsMayHappenAtOnce) {
  Faults faults{read_faults("delay:rank=0,message=1,milliseconds=30;corrupt:rank=0,message=1"), 0};
  const auto start = std::chrono::steady_clock::now();
  const CompiledStep send = message(Verb::send, 0, 1);
  EXPECT_NE(faults.before_message(send)->message, 1);
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds{30});
}

TEST(Faults, LeavePlansWithoutMemory) {
  Faults faults{read_faults("allocation:rank=0,plan=2;allocation:rank=0,plan=4"), 0};
  faults.before_plan();
  EXPECT_THROW(faults.before_plan(), std::bad_alloc);
  faults.before_plan();
  EXPECT_THROW(faults.before_plan(), std::bad_alloc);
  faults.before_plan();
  const CompiledStep send = message(Verb::send, 0);
  EXPECT_EQ(faults.before_message(send), &send) << "messages do not count";
}

TEST(FaultsDeathTest, KillAtTheirMessage) {
  Faults faults{read_faults("kill:rank=0,message=2"), 0};
  const CompiledStep recv = message(Verb::recv, 0);
  EXPECT_EQ(faults.before_message(recv), &recv);
  EXPECT_EXIT(static_cast<void>(faults.before_message(recv)), testing::KilledBySignal(SIGKILL), "");
}

}  // namespace
}  // namespace tutti
