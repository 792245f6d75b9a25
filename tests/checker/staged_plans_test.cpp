// Plans on device buffers are proved: for every algorithm, with buffers on devices of some ranks or of all, and with
// the host or the device at work. Their messages are those of the plan that they were made of. Plans with one fault are
// refused.
#include <gtest/gtest.h>

#include <map>
#include <tuple>

#include "lib/core/plan/pair_order.hpp"
#include "lib/proof/plan_checker/prove_plans.hpp"
#include "tests/checker/plan_cases.hpp"

namespace tutti::checker {
namespace {

using device::BufferDevices;
using device::StagingUse;

/// Some ranks have none on a device.
std::vector<DeviceUse> devices_of(int ranks, std::mt19937& random) {
  constexpr std::array places{BufferDevices{0, 0},  BufferDevices{0, 0}, BufferDevices{0, -1},
                              BufferDevices{-1, 0}, BufferDevices{0, 1}, BufferDevices{}};
  constexpr std::array uses{StagingUse::host, StagingUse::device, StagingUse::device, StagingUse::automatic};
  std::vector<DeviceUse> devices;
  for (int rank = 0; rank < ranks; ++rank)
    devices.push_back({places[random() % places.size()], uses[random() % uses.size()]});
  return devices;
}

PlanCase staged_case_of(const Algorithm& algorithm, int ranks, const std::vector<int>& pattern, std::mt19937& random) {
  PlanCase what = case_of(algorithm, ranks, placed(pattern, ranks), random);
  what.devices = devices_of(ranks, random);
  if (what.what.placement != Placement::separate)  // one buffer is in one place
    for (DeviceUse& use : what.devices)
      use.places.input = use.places.output;
  return what;
}

std::string text_of_staged(const PlanCase& what) {
  std::string text = text_of(what) + ", devices";
  for (const DeviceUse& use : what.devices)
    text += fmt::format(" {}/{}{}", use.places.input, use.places.output, "ahd"[static_cast<int>(use.staging)]);
  return text;
}

TEST(StagedPlans, AreProved) {
  PlanCounts counts;
  constexpr int most_ranks = 9;
  for (const Algorithm* algorithm : algorithms()) {
    std::mt19937 random{1};
    for (int ranks = 1; ranks <= most_ranks; ++ranks)
      for (const std::vector<int>& pattern : placements)
        for (int again = 0; again < (ranks <= 4 ? 8 : 2); ++again) {
          const PlanCase what = staged_case_of(*algorithm, ranks, pattern, random);
          const PlanVerdict verdict = prove(Plans{what, memory});
          ASSERT_TRUE(verdict.proved()) << text_of_staged(what) << ": " << verdict.fault;
          counts += verdict.counts;
        }
  }
  fmt::print("{} plans of {} steps proved: {} staged, {} joined, {} forwarded, {} shared, {} answered\n", counts.plans,
             counts.steps, counts.staged, counts.joined, counts.forwarded, counts.shared, counts.answered);
  EXPECT_GT(counts.staged, 10'000);
  for (const int seen : {counts.joined, counts.forwarded, counts.shared})
    EXPECT_GT(seen, 500) << "there is nothing to prove";
}

/// Per peer, direction and number: verb, transport and bytes.
using Message = std::tuple<int, bool, int>;
std::map<Message, std::pair<Transport, std::int64_t>> messages_of(const shm::SharedPlan& plan) {
  std::map<Message, std::pair<Transport, std::int64_t>> messages;
  for (const CompiledStep& step : plan.steps)
    if (step.is_message() && step.transport != Transport::device)
      messages[{step.peer, step.verb == Verb::send, step.message}] = {step.transport, step.bytes};
  return messages;
}

TEST(StagedPlans, HaveTheMessagesOfThePlan) {
  for (const Algorithm* algorithm : algorithms()) {
    std::mt19937 random{3};
    for (int ranks = 1; ranks <= 6; ++ranks)
      for (const std::vector<int>& pattern : placements) {
        PlanCase what = staged_case_of(*algorithm, ranks, pattern, random);
        const Plans staged{what, memory};
        what.devices.clear();
        const Plans plain{what, memory};
        for (Rank rank; rank.value() < ranks; rank = Rank{rank.value() + 1})
          EXPECT_EQ(messages_of(staged.of(rank)), messages_of(plain.of(rank)))
              << text_of(what) << " on " << rank.value();
      }
  }
}

/// No message, no copy of the host and no reduction of the host touches memory of a device.
TEST(StagedPlans, KeepTheHostAwayFromDevices) {
  for (const Algorithm* algorithm : algorithms()) {
    std::mt19937 random{4};
    for (int ranks = 1; ranks <= 6; ++ranks) {
      const PlanCase what = staged_case_of(*algorithm, ranks, placements[0], random);
      const Plans plans{what, memory};
      for (Rank rank; rank.value() < ranks; rank = Rank{rank.value() + 1}) {
        const shm::SharedPlan& plan = plans.of(rank);
        const BufferDevices& places = what.devices[static_cast<std::size_t>(rank.value())].places;
        const auto is_devices = [&](Buffer buffer, std::int64_t at) {
          const Buffer its = place_of(plan, buffer, at).first;
          if (its == Buffer::input) return places.input >= 0;
          if (its == Buffer::output) return places.output >= 0;
          return its == Buffer::scratch && plan.staging.device >= 0 && plan.staging.worker == Staging::Worker::device;
        };
        for (const CompiledStep& step : plan.steps) {
          if (step.bytes == 0 || (step.is_message() && step.transport == Transport::device)) continue;
          if (!step.is_message() && plan.staging.worker == Staging::Worker::device) continue;
          const bool reads = step.verb != Verb::recv,
                     combines = reads && step.verb != Verb::send && step.verb != Verb::copy;
          const bool touches = (reads && is_devices(step.lhs, step.lhs_at)) ||
                               (combines && is_devices(step.rhs, step.rhs_at)) ||
                               (step.verb != Verb::send && is_devices(step.into, step.into_at));
          EXPECT_FALSE(touches) << text_of_staged(what) << ", rank " << rank.value();
        }
      }
    }
  }
}

struct Touched {
  Place place;
  std::int64_t bytes;
  bool writes;
};
std::vector<Touched> touched_by(const shm::SharedPlan& plan, const CompiledStep& step) {
  if (step.bytes == 0) return {};
  const auto at = [&](Buffer buffer, std::int64_t first, bool writes) {
    return Touched{place_of(plan, buffer, first), step.bytes, writes};
  };
  const Touched lhs = at(step.lhs, step.lhs_at, false), into = at(step.into, step.into_at, true);
  if (step.transport == Transport::device && step.is_message()) return {lhs, into};
  if (step.verb == Verb::send) return {lhs};
  if (step.verb == Verb::recv) return {into};
  if (step.verb == Verb::copy) return {lhs, into};
  return {lhs, at(step.rhs, step.rhs_at, false), into};
}
bool conflict(const shm::SharedPlan& plan, int a, int b) {
  for (const Touched& one : touched_by(plan, plan.steps[static_cast<std::size_t>(a)]))
    for (const Touched& other : touched_by(plan, plan.steps[static_cast<std::size_t>(b)]))
      if ((one.writes || other.writes) && one.place.first == other.place.first &&
          one.place.second < other.place.second + other.bytes && other.place.second < one.place.second + one.bytes)
        return true;
  return false;
}
bool leads(const Dependencies& after, int earlier, int later) {
  const std::vector<int>& before = after[static_cast<std::size_t>(later)];
  return std::ranges::any_of(before, [&](int i) { return i == earlier || (i > earlier && leads(after, earlier, i)); });
}

/// Whether another step writes the last element that step i writes.
bool is_written_again(const shm::SharedPlan& plan, int i) {
  const CompiledStep& step = plan.steps[static_cast<std::size_t>(i)];
  const auto writes_it = [&](const CompiledStep& other) {
    const std::int64_t last = step.into_at + step.bytes - plan.element;
    return &other != &step && other.into == step.into &&
           (!other.is_message() || other.verb != Verb::send || other.transport == Transport::device) &&
           other.into_at <= last && last < other.into_at + other.bytes;
  };
  return std::ranges::any_of(plan.steps, writes_it);
}

TEST(StagedPlans, StoreResultsBeforeAllIsFetched) {
  PlanCase what{.choice = {.algorithm = find_algorithm(Collective::allreduce, "ring"), .segment = 32}};
  what.what = {.size = 3, .count = Count{60}, .segment = Count{4}};
  what.devices.assign(3, {{0, 0}, StagingUse::host});
  const Plans plans{what, memory};
  const shm::SharedPlan& plan = plans.of(Rank{1});
  const Dependencies after = dependencies_of(plan);
  int apart = 0;
  for (int fetch = 0; fetch < static_cast<int>(plan.steps.size()); ++fetch)
    for (int store = 0; store < static_cast<int>(plan.steps.size()); ++store) {
      const CompiledStep &from = plan.steps[static_cast<std::size_t>(fetch)],
                         &to = plan.steps[static_cast<std::size_t>(store)];
      if (from.transport != Transport::device || to.transport != Transport::device) continue;
      if (from.verb == Verb::recv && to.verb == Verb::send && !leads(after, fetch, store)) ++apart;
    }
  EXPECT_GT(apart, 50);
}

/// Copies that are not waited for or do not wait, where they have to, that are short, and that are somewhere else.
std::vector<std::pair<std::string, shm::SharedPlan>> staging_mutants_of(const shm::SharedPlan& plan) {
  std::vector<std::pair<std::string, shm::SharedPlan>> mutants;
  const auto add = [&](std::string how) -> shm::SharedPlan& {
    return mutants.emplace_back(std::move(how), plan).second;
  };
  const Dependencies after = dependencies_of(plan);
  const auto is_staged = [&](int i) {
    const CompiledStep& step = plan.steps[static_cast<std::size_t>(i)];
    return step.is_message() && step.transport == Transport::device;
  };
  for (int i = 0; i < static_cast<int>(plan.steps.size()); ++i) {
    for (const int before : after[static_cast<std::size_t>(i)]) {
      if ((!is_staged(i) && !is_staged(before)) || !conflict(plan, before, i)) continue;
      Dependencies without = after;
      std::erase(without[static_cast<std::size_t>(i)], before);
      if (!leads(without, before, i))
        set_dependencies(add(fmt::format("step {} does not wait for step {}", i, before)), without);
    }
    if (!is_staged(i)) continue;
    // In place an algorithm may store data that are there already; and it may receive some data twice.
    if (plan.problem.aliasing.offset()) continue;
    if (!is_written_again(plan, i))
      add(fmt::format("step {} is an element short", i)).steps[static_cast<std::size_t>(i)].bytes -= plan.element;
    CompiledStep& moved = add(fmt::format("step {} is an element further on", i)).steps[static_cast<std::size_t>(i)];
    (moved.into == staging_buffer ? moved.into_at : moved.lhs_at) += plan.element;
  }
  return mutants;
}

TEST(StagedPlans, WithAFaultAreRefused) {
  int refused = 0;
  for (const Algorithm* algorithm : algorithms()) {
    std::mt19937 random{2};
    for (int ranks = 1; ranks <= 4; ++ranks)
      for (int again = 0; again < 4; ++again) {
        const PlanCase what = staged_case_of(*algorithm, ranks, placements[0], random);
        Plans plans{what, memory};
        const Rank rank{ranks / 2};
        const shm::SharedPlan original = plans.of(rank);
        for (auto& [how, mutant] : staging_mutants_of(original)) {
          plans.of(rank) = std::move(mutant);
          EXPECT_FALSE(prove(plans).proved())
              << text_of_staged(what) << ", rank " << rank.value() << ": " << how << " was proved";
          ++refused;
        }
        plans.of(rank) = original;
      }
  }
  fmt::print("{} plans with a fault refused\n", refused);
  EXPECT_GT(refused, 1'000);
}

}  // namespace
}  // namespace tutti::checker
