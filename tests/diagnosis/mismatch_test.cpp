// Each of the calls that do not match is told on every rank, whatever carries the messages, and nobody hangs.
#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>

#include "tests/diagnosis/mismatch_cases.hpp"
#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

/// What a rank is told.
struct Told {
  std::string text{};
  bool is_mismatch = false;
};

Told told_by(const std::function<void(Scene&)>& calls, Scene& scene) {
  try {
    calls(scene);
  } catch (const MismatchError& error) {
    return {error.what(), true};
  } catch (const Error& error) {
    return {error.what(), false};
  }
  return {};
}

/// A rank whose own calls could end learns it in one of the next.
Told told_by_next_calls(Scene& scene) {
  for (const Communicator* each : {&scene.comm, &scene.other}) {
    const auto twice = [each](Scene&) { barrier(*each), barrier(*each); };
    if (Told told = told_by(twice, scene); !told.text.empty()) return told;
  }
  return {};
}

struct Attempt {
  const MismatchCase* which;
  std::size_t count;
};
void PrintTo(const Attempt& attempt, std::ostream* stream) { *stream << attempt.which->name << " " << attempt.count; }

std::string_view value_of(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

/// Shared memory tells every message of another call. MPI and UCX compare a few bits, and a call that has ended before
/// its message comes is not compared at all.
bool is_always_told() {
  const std::string_view transport = value_of("TUTTI_TRANSPORT");
  return value_of("TUTTI_CHECK") == "1" || transport.empty() || transport == "auto" || transport == "shm";
}

class Mismatch : public testing::TestWithParam<Attempt> {};

TEST_P(Mismatch, IsTold) {
  const auto& [which, count] = GetParam();
  if (world_size() < 2) GTEST_SKIP() << "one rank alone always matches itself";
  const bool leaves_early = which->name == "one call fewer" && world_rank() == 1;
  Told told;
  {
    const Communicator comm{MPI_COMM_WORLD}, other{MPI_COMM_WORLD};
    expect_works(comm);  // leaves a record
    expect_works(other);
    Scene scene{comm, other, count};
    told = told_by(world_rank() == 1 ? which->wrong : which->right, scene);
    if (told.text.empty() && !which->told.empty() && !leaves_early) told = told_by_next_calls(scene);
  }
  if (!value_of("TUTTI_TEST_TABLE").empty())
    std::printf("| %s | %zu | %d | %s |\n", which->name.data(), count, world_rank(), told.text.c_str());
  const bool has_to_know = !which->told.empty() && !leaves_early;
  if (has_to_know && is_always_told()) {
    EXPECT_THAT(told.text, testing::Not(testing::IsEmpty()));
  }
  if (!has_to_know) {
    EXPECT_THAT(told.text, testing::IsEmpty());
  }
  if (!told.text.empty()) {
    EXPECT_TRUE(told.is_mismatch) << told.text;
    EXPECT_THAT(told.text, testing::HasSubstr(std::string{which->told}));
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

std::vector<Attempt> attempts() {
  std::vector<Attempt> all;
  for (const MismatchCase& each : mismatch_cases())
    for (const std::size_t count : {std::size_t{8}, std::size_t{30'000}})
      all.push_back({&each, count});
  return all;
}

/// The root is in MPI, and answers no question: the message that it sent shows that its call was another.
TEST(MismatchWithOneThatLeft, IsToldByItsMessage) {
  const Communicator comm{MPI_COMM_WORLD};
  std::vector<int> data(world_rank() == 0 ? 10 : 20);
  const auto call = [&] { broadcast(std::span{data}, Rank{0}, comm, {.algorithm = "knomial:64"}); };
  if (world_rank() == 0 && value_of("TUTTI_CHECK") != "1")
    call();
  else
    expect_throw<MismatchError>(call, {"broadcast", "rank 0"});
  MPI_Barrier(MPI_COMM_WORLD);
}

INSTANTIATE_TEST_SUITE_P(Cases, Mismatch, testing::ValuesIn(attempts()), [](const auto& info) {
  std::string name{info.param.which->name};
  for (char& letter : name)
    if (letter == ' ') letter = '_';
  return name + "_" + std::to_string(info.param.count);
});

}  // namespace
}  // namespace tutti::test
