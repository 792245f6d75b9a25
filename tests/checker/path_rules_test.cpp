// The rules that the shared-memory transport relies on: all plans keep them, both ends agree, faults are refused.
#include "lib/proof/plan_checker/path_rules.hpp"
#include "lib/core/plan/shm_compile.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <random>
#include <tuple>

#include "lib/core/schedule/choice.hpp"
#include "lib/proof/checker/problems.hpp"

namespace tutti::checker {
namespace {

using shm::JointReduction;
using shm::SharedMemory;
using shm::SharedPlan;
using shm::SideStep;

constexpr std::int64_t piece = 64;

struct Job {
  std::vector<std::uint8_t> reaches;
  SharedMemory memory;
  std::vector<SharedPlan> plans;  ///< By rank.
};

Job compiled(const Choice& choice, int ranks, Count count, Placement placement) {
  Case what{.size = ranks, .count = count};
  what.placement = placement;
  const Problems problems{*choice.algorithm, what};
  Job job{.reaches = std::vector<std::uint8_t>(static_cast<std::size_t>(ranks), 1), .memory = {}, .plans = {}};
  job.memory = {.reaches = job.reaches, .cell_bytes = 40, .piece_bytes = piece, .eager_messages = 3};
  for (int rank = 0; rank < ranks; ++rank)
    job.plans.push_back(compile(choice, problems.of(Rank{rank}), Type::int64, Op::sum, {}, job.memory));
  return job;
}

using Key = std::tuple<int, int, int>;  // from, to, number

void expect_ends_agree(const Job& job, std::string_view name) {
  std::map<Key, std::int64_t> sent, received;  // bytes
  for (int rank = 0; rank < static_cast<int>(job.plans.size()); ++rank)
    for (const CompiledStep& step : job.plans[static_cast<std::size_t>(rank)].steps) {
      if (!step.is_message()) continue;
      if (step.verb == Verb::send)
        sent[{rank, step.peer, step.message}] = step.bytes;
      else
        received[{step.peer, rank, step.message}] = step.bytes;
    }
  EXPECT_EQ(sent, received) << name << ", p = " << job.plans.size();
}

TEST(PathRules, EveryAlgorithmKeepsToThem) {
  int forwards = 0, offers = 0, groups = 0, joints = 0;
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->levels != Levels::ranks) continue;
    for (int ranks = 1; ranks <= 9; ++ranks)
      for (const int count : {0, 1, 7, 40})
        for (const auto placement : {Placement::separate, Placement::in_place}) {
          const Job job = compiled(
              {.algorithm = algorithm, .parameter = algorithm->parameter.fallback, .segment = count == 40 ? 80 : 0},
              ranks, Count{count}, placement);
          expect_ends_agree(job, algorithm->name);
          for (const SharedPlan& plan : job.plans) {
            EXPECT_EQ(broken_path_rule(plan, job.memory), "") << algorithm->name << ", p = " << ranks;
            groups += plan.groups;
            joints += static_cast<int>(plan.joints.size());
            for (const CompiledStep& step : plan.steps) {
              const SideStep& side = plan.side(step);
              forwards += side.forward >= 0 ? 1 : 0;
              offers += step.verb == Verb::send && side.answer >= 0 ? 1 : 0;
            }
          }
        }
  }
  for (const int found : {forwards, offers, groups, joints})
    EXPECT_GT(found, 100) << "there is nothing to keep to a rule";
}

using Fault = std::function<bool(SharedPlan&, CompiledStep&)>;  // false: it does not fit there

/// Puts a fault wherever it fits, one at a time; all have to be found, and some there must be.
void expect_caught(const char* name, const char* rule, const Fault& fault) {
  int made = 0;
  for (const char* const algorithm : {"recursive_doubling", "two_shot", "two_shot/80", "rabenseifner", "ring"})
    for (const int ranks : {2, 4, 5})
      for (const auto placement : {Placement::separate, Placement::in_place}) {
        const Job job = compiled(read_choice(Collective::allreduce, algorithm), ranks, Count{24}, placement);
        for (const SharedPlan& plan : {job.plans.front(), job.plans.back()})
          for (std::size_t i = 0; i < plan.steps.size(); ++i) {
            SharedPlan broken = plan;
            if (!fault(broken, broken.steps[i])) continue;
            ++made;
            const std::string found = broken_path_rule(broken, job.memory);
            EXPECT_FALSE(found.empty()) << name << " in step " << i << " of " << algorithm << " was not found";
            EXPECT_NE(found.find(rule), std::string::npos) << name << " in step " << i << " of " << algorithm
                                                           << " with " << ranks << " ranks gave: '" << found << "'";
          }
      }
  EXPECT_GT(made, 0) << name;
}

/// Messages of a batch have no numbers, and may be as many as one likes each way.
TEST(PathRules, BatchesKeepToThem) {
  Schedule schedule;
  for (int i = 0; i < 3; ++i) {
    const Regions mine{{Buffer::input, Count{i}, Count{1}}}, theirs{{Buffer::output, Count{i}, Count{1}}};
    schedule.steps.emplace_back().action.emplace<Send>(Send{Rank{1}, mine, 0});
    schedule.steps.emplace_back().action.emplace<Recv>(Recv{Rank{1}, theirs, 0, std::nullopt});
  }
  const std::vector<std::uint8_t> reaches(2, 1);
  const SharedMemory memory{.reaches = reaches, .cell_bytes = 40, .piece_bytes = piece, .eager_messages = 3};
  const Problem problem{.rank = Rank{0}, .size = 2, .count = Count{3}};
  const SharedPlan plan = compile(schedule, problem, Type::int64, Op::sum, {.takes_turns = false}, memory);
  EXPECT_EQ(broken_path_rule(plan, memory), "");
}

TEST(PathRules, FindPlansThatMustNotTakeTheFastPath) {
  expect_caught("one of long messages", "in pieces", [](SharedPlan& plan, CompiledStep& step) {
    plan.takes_fast_path = true;
    return step.is_message() && step.bytes > piece;
  });
}
TEST(PathRules, FindPlansOfShortMessagesThatMustNotTakeIt) {
  Job job = compiled(read_choice(Collective::allreduce, "one_shot"), 5, Count{1}, Placement::separate);
  SharedPlan& shared = job.plans[0];
  ASSERT_FALSE(shared.takes_fast_path);
  ASSERT_EQ(broken_path_rule(shared, job.memory), "");
  shared.takes_fast_path = true;
  EXPECT_NE(broken_path_rule(shared, job.memory).find("shared or joined"), std::string::npos);
  job = compiled(read_choice(Collective::allreduce, "recursive_doubling"), 4, Count{4}, Placement::separate);
  SharedPlan& plan = job.plans[0];
  ASSERT_TRUE(plan.takes_fast_path);
  plan.dependents.back() = 0;
  EXPECT_NE(broken_path_rule(plan, job.memory).find("waits for a later one"), std::string::npos);
}
TEST(PathRules, FindMessagesOutOfOrder) {
  expect_caught("not after the one before", "does not follow", [](SharedPlan&, CompiledStep& step) {
    if (step.previous < 0) return false;
    step.previous = -1;
    return true;
  });
  expect_caught("not before the one after", "the one after it", [](SharedPlan&, CompiledStep& step) {
    if (step.next < 0) return false;
    step.next = -1;
    return true;
  });
}
TEST(PathRules, FindSharedCopiesThatAreNotBounded) {
  expect_caught("the same reader twice", "", [](SharedPlan& plan, CompiledStep& step) {
    if (step.verb != Verb::send || std::as_const(plan).side(step).group < 0) return false;
    for (const CompiledStep& other : plan.steps)
      if (&other < &step && std::as_const(plan).side(other).group == std::as_const(plan).side(step).group &&
          other.verb == Verb::send) {
        step.peer = other.peer;
        return true;
      }
    return false;
  });
  expect_caught("other data", "other data than its group's", [](SharedPlan& plan, CompiledStep& step) {
    if (step.verb != Verb::send || std::as_const(plan).side(step).group < 0) return false;
    bool is_first = true;
    for (const CompiledStep& other : plan.steps)
      is_first &= !(&other < &step && std::as_const(plan).side(other).group == std::as_const(plan).side(step).group &&
                    other.verb == Verb::send);
    step.lhs_at += 8;
    return !is_first;
  });
  expect_caught("a group too few", "a group that does not count", [](SharedPlan& plan, CompiledStep& step) {
    if (step.verb != Verb::send || std::as_const(plan).side(step).group < 0 ||
        std::as_const(plan).side(step).group != plan.groups - 1)
      return false;
    --plan.groups;
    return true;
  });
}
TEST(PathRules, FindResultsThatAreSentTooEarly) {
  expect_caught("one more to wait for", "not finished", [](SharedPlan& plan, CompiledStep& step) {
    if (std::as_const(plan).side(step).forward < 0) return false;
    ++plan.waits[static_cast<std::size_t>(std::as_const(plan).side(step).forward)];
    return true;
  });
  expect_caught("another result", "", [](SharedPlan& plan, CompiledStep& step) {
    step.into_at += 8;
    return std::as_const(plan).side(step).forward >= 0;
  });
}
TEST(PathRules, FindPlacesThatAreNotFree) {
  expect_caught("a receive that waits", "not free", [](SharedPlan& plan, CompiledStep& step) {
    if (step.verb != Verb::send || std::as_const(plan).side(step).answer < 0) return false;
    for (std::size_t i = 0; i < plan.steps.size(); ++i) {
      const CompiledStep& recv = plan.steps[i];
      if (recv.verb == Verb::recv && recv.peer == step.peer && recv.message == std::as_const(plan).side(step).answer)
        plan.waits[i] += 2;
    }
    return true;
  });
  expect_caught("a place that was offered before", "", [](SharedPlan& plan, CompiledStep& step) {
    if (step.verb != Verb::send || std::as_const(plan).side(step).answer < 0) return false;
    for (const CompiledStep& other : plan.steps)
      if (&other < &step && other.verb == Verb::send && other.peer == step.peer &&
          std::as_const(plan).side(other).answer >= 0) {
        plan.side(step) = SideStep{plan.side(other)};
        return other.bytes == step.bytes;
      }
    return false;
  });
  expect_caught("another place", "another place", [](SharedPlan& plan, CompiledStep& step) {
    if (step.verb != Verb::send || step.side < 0) return false;
    plan.side(step).answer_at += 8;
    return plan.side(step).answer >= 0;
  });
}

TEST(PathRules, FindJointReductionsOfSomethingElse) {
  // Where a joint reduction has its first step: `fault` is then made in it.
  const auto in_joint = [](const std::function<bool(SharedPlan&, JointReduction&)>& fault) {
    return [fault](SharedPlan& plan, CompiledStep& step) {
      if (std::as_const(plan).side(step).joint < 0) return false;
      for (const CompiledStep& other : plan.steps)
        if (&other < &step && std::as_const(plan).side(other).joint == std::as_const(plan).side(step).joint)
          return false;
      return fault(plan, plan.joints[static_cast<std::size_t>(std::as_const(plan).side(step).joint)]);
    };
  };
  using Operand = JointReduction::Operand;
  expect_caught("one operand less", "", in_joint([](SharedPlan&, JointReduction& joint) {
                  joint.operands.pop_back();
                  return true;
                }));
  expect_caught("a result elsewhere", "into elsewhere", in_joint([](SharedPlan&, JointReduction& joint) {
                  joint.into_at += 8;
                  return true;
                }));
  expect_caught("other bytes", "", in_joint([](SharedPlan&, JointReduction& joint) {
                  joint.bytes += 8;
                  return true;
                }));
  expect_caught("operands swapped", "", in_joint([](SharedPlan&, JointReduction& joint) {
                  std::swap(joint.operands.front(), joint.operands.back());
                  return true;
                }));
  expect_caught("own data from elsewhere", "another operand", in_joint([](SharedPlan&, JointReduction& joint) {
                  const auto own = std::ranges::find(joint.operands, -1, &Operand::message);
                  if (own == joint.operands.end()) return false;
                  own->at += 8;
                  return true;
                }));
  expect_caught("a message that nobody takes", "", in_joint([](SharedPlan&, JointReduction& joint) {
                  const auto message =
                      std::ranges::find_if(joint.operands, [](const Operand& each) { return each.message >= 0; });
                  message->message = -1;
                  return true;
                }));
  expect_caught(
      "a receive that waits", "", in_joint([](SharedPlan& plan, JointReduction& joint) {
        for (const Operand& operand : joint.operands)
          if (operand.message >= 0 && plan.steps[static_cast<std::size_t>(operand.message)].verb == Verb::recv) {
            ++plan.waits[static_cast<std::size_t>(operand.message)];
            return true;
          }
        return false;
      }));
  expect_caught(
      "one more to wait for", "something else", in_joint([](SharedPlan& plan, JointReduction& joint) {
        for (std::size_t i = 0; i < plan.steps.size(); ++i)
          if (&plan.joints[static_cast<std::size_t>(std::max(std::as_const(plan).side(plan.steps[i]).joint, 0))] ==
                  &joint &&
              std::as_const(plan).side(plan.steps[i]).joint >= 0 && plan.steps[i].verb == Verb::reduce)
            ++plan.waits[i];
        return true;
      }));
}
/// However many segments a root sends to one child before it turns to the next.
TEST(PathRules, SendsOfTheSameDataFarFromEachOtherShareACopy) {
  const Job job = compiled(read_choice(Collective::broadcast, "knomial:16/64"), 4, Count{800}, Placement::separate);
  EXPECT_EQ(job.plans[0].groups, 100);
}
TEST(PathRules, FindSumsOnTheWayThatOthersRead) {
  expect_caught("one more reader", "others may read", [](SharedPlan& plan, CompiledStep& step) {
    if (std::as_const(plan).side(step).joint < 0 || step.last_dependent == static_cast<int>(plan.dependents.size()))
      return false;
    for (const CompiledStep& other : plan.steps)  // the last of them may have any readers
      if (&other > &step && std::as_const(plan).side(other).joint == std::as_const(plan).side(step).joint &&
          other.verb != Verb::recv) {
        ++step.last_dependent;
        return true;
      }
    return false;
  });
  expect_caught("a sum that the caller reads", "part of the output", [](SharedPlan& plan, CompiledStep& step) {
    if (std::as_const(plan).side(step).joint < 0 || step.verb == Verb::recv) return false;
    for (CompiledStep& next : plan.steps)
      if (&next > &step && std::as_const(plan).side(next).joint == std::as_const(plan).side(step).joint &&
          next.verb != Verb::recv) {
        step.into = next.lhs = Buffer::output;
        step.into_at = next.lhs_at = std::int64_t{1} << 20;
        return true;
      }
    return false;
  });
  expect_caught("own data partly overwritten", "written before", [](SharedPlan& plan, CompiledStep& step) {
    if (std::as_const(plan).side(step).joint < 0 || step.verb == Verb::recv || step.bytes <= 8) return false;
    JointReduction& joint = plan.joints[static_cast<std::size_t>(std::as_const(plan).side(step).joint)];
    JointReduction::Operand& own = joint.operands.front();
    if (own.message >= 0 || own.buffer != step.lhs || own.at != step.lhs_at) return false;
    own.buffer = step.lhs = joint.into;
    own.at = step.lhs_at = joint.into_at + 8;
    return true;
  });
}

}  // namespace
}  // namespace tutti::checker
