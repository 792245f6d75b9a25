// The random calls of tutti-soak, as far as they need no MPI: which ones they are.
#include <gmock/gmock.h>

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>

#include "apps/soak/calls.hpp"
#include "tutti/algorithm.hpp"

namespace tutti::soak {
namespace {

using testing::ElementsAre;

Repertoire everything(std::int64_t most_bytes = 1 << 20) {
  Repertoire repertoire{.names = std::vector<int>(name_count),
                        .ways = {Way::blocking, Way::nonblocking, Way::persistent},
                        .most_bytes = most_bytes};
  std::iota(repertoire.names.begin(), repertoire.names.end(), 0);
  return repertoire;
}

CommunicatorShape shape(int size, int part = 0) {
  return {.size = size, .nodes = std::vector<int>(static_cast<std::size_t>(size)), .part = part};
}

std::vector<Step> steps_of(const Generator& generator, std::int64_t round,
                           const std::vector<CommunicatorShape>& communicators) {
  std::vector<Step> steps;
  for (const StepOutline& outline : generator.outlines(round))
    steps.push_back(generator.step(outline, communicators));
  return steps;
}

TEST(Generator, NumbersCallsWithoutGaps) {
  for (const int thread : {0, 1, 7}) {
    const Generator generator{everything(), 5, thread};
    std::int64_t expected = 300;
    for (const StepOutline& outline : generator.outlines(3)) {
      ASSERT_EQ(outline.first_call, expected);
      expected = outline.end();
    }
    EXPECT_EQ(expected, 400);
    for (const Step& step : steps_of(generator, 3, {shape(4)}))
      EXPECT_EQ(step.number_of(step.calls.size() - 1, step.repetitions - 1) + 1,
                step.first_call + static_cast<std::int64_t>(step.calls.size()) * step.repetitions);
  }
}

TEST(Generator, RepeatsAStepWithoutThoseBefore) {
  const std::vector<CommunicatorShape> communicators{shape(4), shape(2, 1)};
  const Generator first{everything(), 17, 1}, again{everything(), 17, 1};
  const std::vector<Step> steps = steps_of(first, 12, communicators);
  const StepOutline outline = again.outlines(12).at(steps.size() / 2);
  const Step step = again.step(outline, communicators), &expected = steps.at(steps.size() / 2);
  EXPECT_EQ(step.key, expected.key);
  ASSERT_EQ(step.calls.size(), expected.calls.size());
  for (std::size_t i = 0; i < step.calls.size(); ++i) {
    EXPECT_EQ(to_text(step.calls[i]), to_text(expected.calls[i]));
    EXPECT_EQ(step.calls[i].key, expected.calls[i].key);
  }
}

/// The texts of some hundred calls.
std::vector<std::string> texts(const Generator& generator, const CommunicatorShape& on) {
  std::vector<std::string> all;
  for (const std::int64_t round : {0, 1, 2})
    for (const Step& step : steps_of(generator, round, {on}))
      for (const Call& call : step.calls)
        all.push_back(to_text(call));
  return all;
}

TEST(Generator, SeedThreadAndPartMakeOtherCalls) {
  const std::vector<std::string> calls = texts(Generator{everything(), 1, 0}, shape(3));
  EXPECT_NE(calls, texts(Generator{everything(), 2, 0}, shape(3)));
  EXPECT_NE(calls, texts(Generator{everything(), 1, 1}, shape(3)));
  EXPECT_NE(calls, texts(Generator{everything(), 1, 0}, shape(3, 1)));
  EXPECT_EQ(calls, texts(Generator{everything(), 1, 0}, shape(3)));
}

TEST(Generator, ComparingWithTheMpiChangesNoCall) {
  Repertoire asking = everything();
  asking.asks_mpi = true;
  EXPECT_EQ(texts(Generator{asking, 1, 0}, shape(3)), texts(Generator{everything(), 1, 0}, shape(3)));
}

TEST(Generator, DrawsFromTheRepertoireAlone) {
  Repertoire few = everything();
  few.names = {static_cast<int>(Collective::scan), collective_count};  // scan and batch
  few.ways = {Way::persistent};
  std::set<std::size_t> names;
  for (const std::int64_t round : {0, 1, 2, 3})
    for (const Step& step : steps_of(Generator{few, 9, 0}, round, {shape(3)}))
      for (const Call& call : step.calls) {
        names.insert(name_index(call));
        EXPECT_EQ(call.way, Way::persistent);
      }
  EXPECT_THAT(names, ElementsAre(static_cast<std::size_t>(Collective::scan), std::size_t{collective_count}));
}

/// Calls of many rounds, by what is asked of them.
template <class Of>
std::map<std::int64_t, int> counted(const Repertoire& repertoire, Of of) {
  std::map<std::int64_t, int> counts;
  for (std::int64_t round = 0; round < 100; ++round)
    for (const Step& step : steps_of(Generator{repertoire, 3, 0}, round, {shape(4)}))
      for (const Call& call : step.calls)
        ++counts[of(call)];
  return counts;
}

TEST(Generator, MakesEveryNameTypeWayAndForm) {
  const auto names =
      counted(everything(), [](const Call& call) { return static_cast<std::int64_t>(name_index(call)); });
  EXPECT_EQ(names.size(), static_cast<std::size_t>(name_count));
  const auto types = counted(everything(), [](const Call& call) { return static_cast<std::int64_t>(call.type); });
  EXPECT_EQ(types.size(), static_cast<std::size_t>(drawn_types));
  const auto forms = counted(everything(), [](const Call& call) {
    return 12 * static_cast<int>(call.way) + 4 * static_cast<int>(call.in_place) + (call.is_uneven ? 2 : 0) +
           (call.algorithm.empty() ? 1 : 0);
  });
  EXPECT_EQ(forms.size(), 36U);
  const auto operations = counted(everything(), [](const Call& call) {
    return reduces(call.collective) ? 2 * static_cast<int>(call.op.kind()) + (call.op.commutative() ? 1 : 0) : -1;
  });
  EXPECT_EQ(operations.size(), 1U + 15U);  // 13 kinds, the user's commutative or not
}

TEST(Generator, SizesAreLogUniformUpToTheMost) {
  Repertoire repertoire = everything(1 << 16);
  repertoire.names = {static_cast<int>(Collective::allreduce)};
  std::map<int, int> octaves;
  std::int64_t largest = 0;
  for (std::int64_t round = 0; round < 200; ++round)
    for (const Step& step : steps_of(Generator{repertoire, 3, 0}, round, {shape(4)})) {
      if (step.calls.size() > 1) continue;  // has smaller ones
      const std::int64_t bytes = step.calls[0].count * size_of(step.calls[0].type).value();
      largest = std::max(largest, bytes);
      ++octaves[static_cast<int>(std::bit_width(static_cast<std::uint64_t>(bytes)))];
    }
  EXPECT_GE(largest, 1 << 16);
  EXPECT_LE(largest, (1 << 16) + 16);
  EXPECT_GT(octaves[0], 100);
  for (const int bits : {7, 8, 9, 10, 11, 12, 13, 14, 15, 16})
    EXPECT_NEAR(octaves[bits], octaves[12], octaves[12] / 2.0) << bits;
}

}  // namespace
}  // namespace tutti::soak
