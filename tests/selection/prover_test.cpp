// The library of proofs, as programs load it.
#include "lib/core/files/prover.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <stdexcept>
#include <vector>

#include "lib/core/files/filed_algorithm.hpp"

namespace tutti {
namespace {

using testing::HasSubstr;

Problem problem_of(const Algorithm& algorithm, int size, std::int64_t count) {
  Problem problem{.size = size, .count = Count{count}, .parameter = algorithm.parameter.fallback};
  problem.collective = algorithm.collective;
  return problem;
}

/// Every registered algorithm, as another library has it; in segments; and on more elements than memory could hold one
/// by one.
TEST(Prover, ProvesRegisteredAlgorithms) {
  for (const Algorithm* algorithm : algorithms())
    for (const InPlace in_place : {InPlace::nobodys, InPlace::everybodys, InPlace::that_of_even_ranks})
      for (const std::int64_t count : {std::int64_t{0}, std::int64_t{25}, std::int64_t{1} << 40}) {
        const Problem problem = problem_of(*algorithm, 4, algorithm->collective == Collective::barrier ? 0 : count);
        if (problem.count >= Count{1000} && algorithm->parameter.unit == Parameter::Unit::bytes) continue;
        const Proof proof = prover().prove(*algorithm, problem, in_place, {.is_fused = true});
        EXPECT_EQ(proof.fault, "") << to_string(algorithm->collective) << ' ' << algorithm->name;
        EXPECT_FALSE(proof.is_too_large) << to_string(algorithm->collective) << ' ' << algorithm->name;
      }
  const Algorithm& ring = *find_algorithm(Collective::allreduce, "ring");
  EXPECT_EQ(prover().prove(ring, problem_of(ring, 3, 100), InPlace::nobodys, {.segment = Count{7}}).fault, "");
}

/// The schedules of a file are made here, and proved there.
TEST(Prover, ProvesSchedulesOfFiles) {
  constexpr std::string_view text =
      R"({"tutti_schedule": 1, "collective": "broadcast", "size": 2, "chunks": 1, "ranks": [
    {"steps": [{"action": "copy", "from": {"buffer": "input", "count": 1}, "into": {"buffer": "output", "count": 1}},
               {"action": "send", "to": 1, "from": [{"buffer": "input", "count": 1}]}]},
    {"steps": [{"action": "recv", "from": 0, "into": [{"buffer": "output", "count": 1}]}]}]})";
  FiledAlgorithm made{read_schedule_file(text, "F"), "file:F"};
  const Problem problem = tutti::problem_of(made.file(), Rank{0}, Count{1});
  EXPECT_EQ(prover().prove(made.algorithm(), problem, InPlace::nobodys, {}).fault, "");
  made.find_chunks();
  Problem of_many = problem;
  of_many.count = Count{37};
  EXPECT_EQ(prover().prove(made.algorithm(), of_many, InPlace::that_of_even_ranks, {.is_fused = true}).fault, "");
}

Algorithm changed(const Algorithm& algorithm, Schedule (*build)(const Problem&)) {
  Algorithm made = algorithm;
  made.build = build;
  made.cost = nullptr;
  return made;
}

TEST(Prover, NamesTheProblemAndTheFault) {
  const Algorithm& ring = *find_algorithm(Collective::allreduce, "ring");
  const Algorithm forgetful = changed(ring, [](const Problem& problem) {
    Schedule schedule = find_algorithm(Collective::allreduce, "ring")->build(problem);
    if (problem.rank == Rank{2}) schedule.steps.pop_back();
    return schedule;
  });
  const Proof proof = prover().prove(forgetful, problem_of(ring, 4, 4096), InPlace::everybodys, {});
  EXPECT_EQ(proof.problem, "4 ranks, 4096 elements, in place");
  EXPECT_THAT(proof.fault, HasSubstr("is never received (an element stands for 1024)"));
  const Algorithm thrower = changed(ring, [](const Problem&) -> Schedule { throw std::runtime_error("no idea"); });
  EXPECT_EQ(prover().prove(thrower, problem_of(ring, 4, 8), InPlace::nobodys, {}).fault, "no idea");
  const Algorithm thrower_of_int = changed(ring, [](const Problem&) -> Schedule { throw 7; });
  EXPECT_THAT(prover().prove(thrower_of_int, problem_of(ring, 4, 8), InPlace::nobodys, {}).fault, HasSubstr("threw"));
}

/// Steps that no schedule may have are faults, and nothing that the proof, or a pass before it, trips over.
TEST(Prover, BelievesNothing) {
  const Algorithm& ring = *find_algorithm(Collective::allreduce, "ring");
  constexpr Count most{std::numeric_limits<std::int64_t>::max()};
  static Step wrong;
  static Count scratch;
  const Algorithm made = changed(ring, [](const Problem& problem) {
    Schedule schedule = find_algorithm(Collective::allreduce, "ring")->build(problem);
    if (problem.rank == Rank{1}) schedule.steps.push_back(wrong);
    schedule.scratch += scratch;
    return schedule;
  });
  const Region in{Buffer::input, Count{0}, Count{1}}, out{Buffer::output, Count{0}, Count{1}};
  const Region far{Buffer::output, most, Count{1}}, long_one{Buffer::input, Count{1}, most};
  const Region before{Buffer::output, Count{0} - most, Count{1}}, elsewhere{static_cast<Buffer>(9), Count{0}, Count{1}};
  const std::vector<Step> steps{{Copy{in, out}, {-5}},
                                {Copy{in, out}, {1000000}},
                                {Copy{in, out}, {2, 1}},
                                {Copy{in, far}, {}},
                                {Copy{long_one, long_one.in(Buffer::output)}, {}},
                                {Copy{in, before}, {}},
                                {Copy{elsewhere, out}, {}},
                                {Recv{Rank{0}, {}, 9, Reduce{in, out, out}}, {}},
                                {Send{Rank{1}, {in}, 0}, {}},
                                {Send{Rank{4000}, {in}, 0}, {}},
                                {Send{Rank{-1}, {in}, 0}, {}},
                                {Send{Rank{0}, {in}, -3}, {}}};
  for (const Step& step : steps)
    for (const ProvedPasses passes : {ProvedPasses{}, ProvedPasses{.is_fused = true}, ProvedPasses{Count{3}, true}}) {
      wrong = step;
      const Proof proof = prover().prove(made, problem_of(ring, 4, 40), InPlace::nobodys, passes);
      EXPECT_THAT(proof.fault, HasSubstr("rank 1, step")) << &step - steps.data();
    }
  constexpr Region nothing{Buffer::scratch, Count{0}, Count{0}};
  wrong = {Copy{nothing, nothing}, {}};
  scratch = Count{std::int64_t{1} << 60};
  EXPECT_TRUE(prover().prove(made, problem_of(ring, 4, 41), InPlace::nobodys, {}).is_too_large);
}

TEST(Prover, SaysWhatIsTooLarge) {
  const Algorithm& linear = *find_algorithm(Collective::alltoall, "linear");
  EXPECT_TRUE(prover().prove(linear, problem_of(linear, 4096, 1), InPlace::nobodys, {}).is_too_large);
  const Algorithm& ring = *find_algorithm(Collective::allreduce, "ring");
  EXPECT_TRUE(prover().prove(ring, problem_of(ring, 4, (1 << 27) + 1), InPlace::nobodys, {}).is_too_large);
}

}  // namespace
}  // namespace tutti
