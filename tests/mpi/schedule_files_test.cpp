// Schedules of files: what they compute, over every transport and in every way; and files that are refused.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>

#include "tests/mpi/schedule_file_cases.hpp"
#include "tests/support/mpi_support.hpp"
#include "tutti/error.hpp"

namespace tutti::test {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ScheduleFiles : public testing::TestWithParam<Collective> {
 protected:
  Communicator comm_{MPI_COMM_WORLD};
};
INSTANTIATE_TEST_SUITE_P(Every, ScheduleFiles, testing::ValuesIn(all_collectives()),
                         [](const auto& info) { return std::string{to_string(info.param)}; });

/// The output of a call, whose buffers are separate.
std::vector<float> result_of(const Trial& trial, const Communicator& comm) {
  const checker::Problems problems = problems_of(trial, comm.size());
  const Problem& problem = problems.of(comm.rank());
  std::vector<float> input(static_cast<std::size_t>(shape_of(problem).input.value()));
  for (std::size_t i = 0; i < input.size(); ++i)
    input[i] = 1.F / static_cast<float>(3 + i + 7 * static_cast<std::size_t>(world_rank()));
  CallMemory<float> memory{problem, input, -1.F};
  detail::Call call = call_of(trial, problem, Type::fp32, Op::sum);
  call.in = memory.in();
  call.out = memory.out();
  run(call, trial, comm);
  return memory.output();
}

/// Every algorithm comes back from its file: results as the MPI's, and to the last bit those of the algorithm.
TEST_P(ScheduleFiles, GiveTheResultsOfTheirAlgorithms) {
  if (!is_consecutive(comm_)) GTEST_SKIP() << "the nodes of files have consecutive ranks";
  Rotation rotation;
  const int root = has_root(GetParam()) ? world_size() - 1 : 0;
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->collective != GetParam()) continue;
    for (const bool is_in_place : {false, true}) {
      if (is_in_place && GetParam() == Collective::barrier) continue;
      const FileOfRank0 file{schedules_of(*algorithm, Count{12}, root, nodes_of(comm_), is_in_place)};
      for (const std::int64_t count : {12, 36, 5, 1, 0, 3001}) {
        const Trial trial{.collective = GetParam(), .algorithm = file.name(), .count = count, .root = root};
        for (int again = 0; again < ways * buffer_uses; ++again)
          expect_right<std::int32_t>(rotation.next(trial), Op::sum, comm_);
        if (GetParam() == Collective::barrier) break;
        Trial direct = trial;
        direct.algorithm = std::string{algorithm->name};
        if (count != 12) continue;  // others are cut in other places
        EXPECT_EQ(result_of(trial, comm_), result_of(direct, comm_)) << algorithm->name << count;
      }
    }
  }
}

std::string exchange_of_two(std::string_view more = "") {
  return fmt::format(R"({{"tutti_schedule": 1, "collective": "allreduce", "size": 2, "chunks": 1, {}
  "requires": {{"commutative": true}},
  "ranks": [
    {{"scratch": 1, "steps": [
      {{"action": "send", "to": 1, "from": [{{"buffer": "input", "offset": 0, "count": 1}}]}},
      {{"action": "recv", "from": 1, "into": [{{"buffer": "scratch", "offset": 0, "count": 1}}]}},
      {{"action": "reduce", "lhs": {{"buffer": "input", "offset": 0, "count": 1}},
        "rhs": {{"buffer": "scratch", "offset": 0, "count": 1}},
        "into": {{"buffer": "output", "offset": 0, "count": 1}}, "after": [1]}}]}},
    {{"scratch": 1, "steps": [
      {{"action": "send", "to": 0, "from": [{{"buffer": "input", "offset": 0, "count": 1}}]}},
      {{"action": "recv", "from": 0, "into": [{{"buffer": "scratch", "offset": 0, "count": 1}}]}},
      {{"action": "reduce", "lhs": {{"buffer": "input", "offset": 0, "count": 1}},
        "rhs": {{"buffer": "scratch", "offset": 0, "count": 1}},
        "into": {{"buffer": "output", "offset": 0, "count": 1}}, "after": [1]}}]}}]}})",
                     more);
}

std::string refusal_of(const CommunicatorOptions& options) {
  return error_of([&] { const Communicator comm{MPI_COMM_WORLD, options}; });
}

float sum_of_ones(const Communicator& comm, const Options& options = {}) {
  float one = 1;
  allreduce(std::span{&one, 1}, Op::sum, comm, options);
  return one;
}

std::string explained(const Communicator& comm, const Options& options = {}, std::size_t count = 8) {
  std::vector<float> in(count), out(count);
  return plan_allreduce(in, out, Op::sum, comm, options).explain();
}

const Algorithm& ring() { return *find_algorithm(Collective::allreduce, "ring"); }

TEST(ScheduleFileSettings, NameFilesForCommunicatorsTheirRulesAndTheEnvironment) {
  const FileOfRank0 file{schedules_of(ring(), Count{8}, 0, {})};
  const std::string choice = "allreduce=" + file.name();
  const Communicator named{MPI_COMM_WORLD, {.algorithms = choice}};
  EXPECT_THAT(explained(named), AllOf(HasSubstr(file.name() + ", the communicator's setting")));
  EXPECT_EQ(sum_of_ones(named), static_cast<float>(world_size()));

  const FileOfRank0 rules{fmt::format(R"({{"tutti_rules": 1, "rules": [
    {{"collective": "allreduce", "bytes": [16, 64], "use": "file:{}", "why": "as a test"}}]}})",
                                      std::filesystem::path{file.path()}.filename().string())};
  const Communicator ruled{MPI_COMM_WORLD, {.rules = rules.path()}};
  EXPECT_THAT(explained(ruled), HasSubstr(file.name() + ", as a test"));
  EXPECT_THAT(explained(ruled, {}, 64), testing::Not(HasSubstr("file:")));

  if (world_rank() == 0) setenv("TUTTI_ALGORITHM", choice.c_str(), 1);
  {
    const Communicator of_environment{MPI_COMM_WORLD};
    EXPECT_THAT(explained(of_environment), HasSubstr(file.name() + ", TUTTI_ALGORITHM"));
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, world_rank() == 0 ? 0 : 1, 0, &half);
    if (world_rank() == 0) {
      const Communicator alone{half};
      EXPECT_EQ(explained(alone).find("file:") == std::string::npos, world_size() > 1);
      EXPECT_EQ(sum_of_ones(alone), 1);
    }
    MPI_Comm_free(&half);
  }
  if (world_rank() == 0) unsetenv("TUTTI_ALGORITHM");
}

/// An algorithm of the user's choice that does not serve gives way to the rules; one that a call names is refused.
TEST(ScheduleFileSettings, GiveWayWhereTheFileDoesNotServe) {
  std::string text = schedules_of(ring(), Count{8}, 0, {});
  text.insert(text.find("\"collective\""), "\"bytes\": [0, 32], ");
  const FileOfRank0 file{text};
  const Communicator named{MPI_COMM_WORLD, {.algorithms = "allreduce=" + file.name()}};
  std::vector<float> in(9), out(9);
  EXPECT_THAT(plan_allreduce(in, out, Op::sum, named).explain(), testing::Not(HasSubstr("file:")));
  const std::string refusal = error_of([&] { allreduce(in, out, Op::sum, named, {.algorithm = file.name()}); });
  EXPECT_THAT(refusal, AllOf(HasSubstr("argument 'algorithm'"), HasSubstr("it is for up to 32 bytes, not 36")));
  EXPECT_EQ(sum_of_ones(named), static_cast<float>(world_size())) << "a refusal leaves it usable";
}

TEST(ScheduleFileSettings, RefuseWhatIsWrongOnAllRanks) {
  const auto choice = [](const std::string& path) { return "allreduce=file:" + path; };
  EXPECT_THAT(refusal_of({.algorithms = choice("/nowhere.json")}), HasSubstr("/nowhere.json: No such file"));
  EXPECT_THAT(refusal_of({.algorithms = choice("/")}), HasSubstr("this is a folder"));
  EXPECT_THAT(refusal_of({.algorithms = choice("/dev/zero")}), HasSubstr("this is no file"));
  const FileOfRank0 file{"{"};
  EXPECT_THAT(refusal_of({.algorithms = choice(file.path())}), HasSubstr(file.path() + ":1:"));
  file.replace(schedules_of(*find_algorithm(Collective::allgather, "ring"), Count{8}, 0, {}));
  EXPECT_THAT(refusal_of({.algorithms = choice(file.path())}), HasSubstr("are of allgather, not of allreduce"));
  file.replace(exchange_of_two());
  EXPECT_THAT(
      refusal_of({.algorithms = choice(file.path())}),
      AllOf(HasSubstr(file.path() + ": not proved: rank 1: output[0] is (r1[0] (+) r0[0])"), HasSubstr("on rank 0")));
  const Communicator comm{MPI_COMM_WORLD};
  EXPECT_THAT(error_of([&] { (void)sum_of_ones(comm, {.algorithm = file.name()}); }), HasSubstr("not proved"));
  EXPECT_THAT(error_of([&] { (void)sum_of_ones(comm, {.algorithm = "file:"}); }), HasSubstr("allowed: file:PATH"));
  EXPECT_EQ(sum_of_ones(comm), static_cast<float>(world_size())) << "a refusal leaves it usable";
}

/// In calls all ranks name the file, and the last one another.
TEST(ScheduleFileSettings, AreTheSameOnAllRanks) {
  const FileOfRank0 file{schedules_of(ring(), Count{8}, 0, {})}, other{schedules_of(ring(), Count{4}, 0, {})};
  const Communicator comm{MPI_COMM_WORLD};
  const std::string name = world_rank() > 0 && world_rank() == world_size() - 1 ? other.name() : file.name();
  const std::string error = error_of([&] { (void)sum_of_ones(comm, {.algorithm = name}); });
  if (world_size() > 1) {
    EXPECT_THAT(error, AllOf(HasSubstr("names the algorithm '" + name), HasSubstr("rank 0 '" + file.name())));
  }
  EXPECT_EQ(sum_of_ones(comm, {.algorithm = other.name()}), static_cast<float>(world_size()));
}

/// Scratch that no step uses is no reason for one rank to find no memory for it.
TEST(ScheduleFileSettings, MayHaveScratchThatNobodyUses) {
  std::string text = schedules_of(ring(), Count{8}, 0, {});
  const std::size_t at = text.find("\"scratch\": ");
  const std::size_t digits = at + std::string_view{"\"scratch\": "}.size();
  text.replace(digits, text.find_first_not_of("0123456789", digits) - digits, "16777216");
  const FileOfRank0 file{text};
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<double> data(1 << 16, 1);
  allreduce(data, Op::sum, comm, {.algorithm = file.name()});
  EXPECT_EQ(data.back(), world_size());
}

TEST(ScheduleFileSettings, TellOfBitsThatDiffer) {
  const FileOfRank0 file{exchange_of_two("\"bits\": \"differ\",")};
  const Communicator comm{MPI_COMM_WORLD};
  if (world_size() != 2) {
    EXPECT_THAT(error_of([&] { (void)sum_of_ones(comm, {.algorithm = file.name()}); }),
                HasSubstr(fmt::format("it is for 2 ranks, not {}", world_size())));
    return;
  }
  EXPECT_EQ(sum_of_ones(comm, {.algorithm = file.name()}), 2);
  EXPECT_THAT(explained(comm, {.algorithm = file.name()}), HasSubstr("ranks may get different bits"));
}

/// A file that has changed is read again by the next communicator.
TEST(ScheduleFileSettings, KeepTheFileOfTheirTime) {
  const FileOfRank0 file{schedules_of(ring(), Count{8}, 0, {})};
  const Communicator before{MPI_COMM_WORLD, {.algorithms = "allreduce=" + file.name()}};
  file.replace("no schedules");
  EXPECT_THAT(explained(before), HasSubstr(file.name()));
  EXPECT_EQ(sum_of_ones(before), static_cast<float>(world_size()));
  EXPECT_THAT(refusal_of({.algorithms = "allreduce=" + file.name()}), HasSubstr("no JSON"));
}

TEST(ProvedPlans, AreCountedOnce) {
  if (world_rank() == 0) setenv("TUTTI_PROVE", "1", 1);
  {
    const Communicator comm{MPI_COMM_WORLD};
    std::vector<float> many(1 << 20), some(37);
    for (int again = 0; again < 3; ++again) {
      allreduce(many, Op::sum, comm);
      allreduce(some, Op::sum, comm, {.algorithm = "ring/16"});
    }
    EXPECT_EQ(comm.counters().at("calls.proved"), 2U);
    EXPECT_EQ(comm.counters().at("calls.unproved"), 0U);
    const FileOfRank0 file{schedules_of(ring(), Count{8}, 0, {})};
    const std::uint64_t before = comm.counters().at("calls.proved");
    EXPECT_EQ(sum_of_ones(comm, {.algorithm = file.name()}), static_cast<float>(world_size()));
    EXPECT_GT(comm.counters().at("calls.proved"), before);
  }
  if (world_rank() == 0) unsetenv("TUTTI_PROVE");
}

}  // namespace
}  // namespace tutti::test
