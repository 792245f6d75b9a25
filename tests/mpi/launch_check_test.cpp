// The job whose ranks are all alone. The environments are those that Slurm 22.05, Open MPI 4.1 and MPICH 4.0 set.
#include "lib/core/communicator/launch_check.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "lib/core/transport/mpi/dialect.hpp"
#include "tests/support/mpi_support.hpp"

namespace tutti::test {
namespace {

using detail::why_not_alone;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using Variables = std::map<std::string, std::string>;

std::string why(int world_size, const Variables& variables) {
  return why_not_alone(world_size, "MPICH 4.0.2", [&](const char* name) {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  });
}

const Variables task_of_four{{"SLURM_NTASKS", "4"},
                             {"SLURM_PROCID", "2"},
                             {"SLURM_STEP_ID", "0"},
                             {"SLURM_STEP_NUM_TASKS", "4"},
                             {"PMIX_RANK", "2"}};

Variables with(Variables variables, const std::string& name, int value) {
  variables[name] = std::to_string(value);
  return variables;
}

TEST(LaunchCheck, TasksOfSrunThatAreAloneAreNamedWithTheWaysOut) {
  EXPECT_THAT(why(1, task_of_four),
              AllOf(HasSubstr("srun started 4 tasks, this is number 2"), HasSubstr("MPI's world has 1 process"),
                    HasSubstr("MPICH 4.0.2"), HasSubstr("--mpi=pmix"), HasSubstr("--mpi=pmi2"),
                    HasSubstr("srun --mpi=list"), HasSubstr("mpirun"), HasSubstr("env -u SLURM_PROCID")));
}

TEST(LaunchCheck, TasksThatKnowOfEachOtherAreRight) { EXPECT_THAT(why(4, task_of_four), IsEmpty()); }

TEST(LaunchCheck, NoSlurm) {
  EXPECT_THAT(why(1, {}), IsEmpty());
  EXPECT_THAT(why(1, {{"OMPI_COMM_WORLD_SIZE", "1"}}), IsEmpty());
}

TEST(LaunchCheck, ABatchScriptMayRunAProgramByItself) {
  EXPECT_THAT(why(1, {{"SLURM_NTASKS", "4"}, {"SLURM_PROCID", "0"}, {"SLURM_JOB_ID", "1"}}), IsEmpty());
}

TEST(LaunchCheck, AnAllocationMayToo) { EXPECT_THAT(why(1, {{"SLURM_NTASKS", "4"}}), IsEmpty()); }

TEST(LaunchCheck, OneTaskMayBeAlone) {
  // The variables of srun -n 1 in a job of 4, or of a shell on the first node.
  EXPECT_THAT(why(1, with(task_of_four, "SLURM_STEP_NUM_TASKS", 1)), IsEmpty());
}

TEST(LaunchCheck, MpirunMayStartOneWhereSrunStartedItsDaemons) {
  for (const char* launcher : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}) {
    EXPECT_THAT(why(1, with(task_of_four, launcher, 1)), IsEmpty()) << launcher;
    EXPECT_THAT(why(1, with(task_of_four, launcher, 4)), HasSubstr("srun started 4 tasks")) << launcher;
  }
}

/// To ask by the tools interface, as here, costs seconds on some systems.
TEST(LaunchCheck, TellsWhetherMpiYields) {
  int provided = 0, index = 0, count = 0;
  MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  if (MPI_T_cvar_get_index("mpi_yield_when_idle", &index) != MPI_SUCCESS) {
    MPI_T_finalize();
    GTEST_SKIP() << "this MPI has no variable mpi_yield_when_idle";
  }
  MPI_T_cvar_handle handle{};
  std::array<char, 64> value{};  // room for a variable of any type
  MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count);
  MPI_T_cvar_read(handle, value.data());
  MPI_T_cvar_handle_free(&handle);
  MPI_T_finalize();
  EXPECT_EQ(mpi::yields_when_idle(), std::ranges::any_of(value, [](char byte) { return byte != 0; }));
}

/// In this process, which is alone if there is one rank: the first communicator is refused, later ones are not.
TEST(LaunchCheck, TheFirstCommunicatorIsRefused) {
  for (const char* launcher : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"})
    unsetenv(launcher);
  {
    const Setting tasks{"SLURM_STEP_NUM_TASKS", "4"}, rank{"SLURM_PROCID", "0"};
    const auto make = [] { const Communicator comm{MPI_COMM_WORLD}; };
    if (world_size() == 1)
      expect_throw<StateError>(make, {"srun started 4 tasks", "--mpi=pmix"});
    else
      make();
  }
  expect_works(Communicator{MPI_COMM_WORLD});
}

}  // namespace
}  // namespace tutti::test
