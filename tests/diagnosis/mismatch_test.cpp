// Each of the calls that do not match is told on every rank, whatever carries the messages, and nobody hangs.
#include <gmock/gmock.h>

#include <cstdlib>
#include <memory>

#include "tests/diagnosis/mismatch_cases.hpp"
#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

struct Told {
  std::string first{};  ///< The error that the calls threw, or the next ones on the communicators.
  bool is_mismatch = false;
};

/// Makes the calls, and calls on the same communicators until an error is told.
Told told_by(const std::function<void(Scene&)>& calls, Scene& scene) {
  Told told;
  try {
    calls(scene);
  } catch (const MismatchError& error) {
    told = {error.what(), true};
  } catch (const Error& error) {
    told = {error.what(), false};
  }
  return told;
}

struct Attempt {
  const MismatchCase* which;
  std::size_t count;
};
void PrintTo(const Attempt& attempt, std::ostream* stream) { *stream << attempt.which->name << " " << attempt.count; }

class Mismatch : public testing::TestWithParam<Attempt> {};

TEST_P(Mismatch, IsTold) {
  const auto& [which, count] = GetParam();
  if (world_size() < 2) GTEST_SKIP() << "one rank alone always matches itself";
  Told told;
  {
    // After some good calls, which leave records.
    const Communicator comm{MPI_COMM_WORLD}, other{MPI_COMM_WORLD};
    expect_works(comm);
    expect_works(other);
    Scene scene{comm, other, count};
    told = told_by(world_rank() == 1 ? which->wrong : which->right, scene);
    // A rank whose own calls could end learns it in the next one.
    if (told.first.empty() && !which->told.empty() && which->name != "one call fewer")
      for (const Communicator* each : {&comm, &other})
        if (told.first.empty())
          told = told_by([each](Scene&) { barrier(*each), barrier(*each); }, scene);
  }
  if (std::getenv("TUTTI_TEST_TABLE") != nullptr)
    std::printf("| %s | %zu | %d | %s |\n", which->name.data(), count, world_rank(), told.first.c_str());
  EXPECT_EQ(told.first.empty(), which->told.empty() || (which->name == "one call fewer" && world_rank() == 1) ||
                                    (which->name == "count of send"))
      << told.first;
  if (!told.first.empty()) {
    EXPECT_TRUE(told.is_mismatch) << told.first;
    EXPECT_THAT(told.first, testing::HasSubstr(std::string{which->told}));
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

std::vector<Attempt> attempts() {
  std::vector<Attempt> all;
  for (const MismatchCase& each : mismatch_cases())
    for (const std::size_t count : {std::size_t{8}, std::size_t{20'000}})
      all.push_back({&each, count});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Cases, Mismatch, testing::ValuesIn(attempts()), [](const auto& info) {
  std::string name{info.param.which->name};
  for (char& letter : name)
    if (letter == ' ') letter = '_';
  return name + "_" + std::to_string(info.param.count);
});

}  // namespace
}  // namespace tutti::test
