#pragma once
// The commands that start MPI programs, and how each hands a library to be preloaded to the ranks.

#include <string>
#include <string_view>
#include <vector>

namespace tutti::tool {

/// Open MPI's mpirun, that of MPICH and Intel MPI, Slurm's srun; none: the program itself, which runs alone.
enum class Launcher { open_mpi, hydra, srun, none };

/// The launcher, by what `COMMAND --version` says.
[[nodiscard]] Launcher launcher_of(std::string_view command, std::string_view version);
/// Runs `COMMAND --version`; empty if that cannot be done.
[[nodiscard]] std::string version_of(const std::string& command);

/// A variable of the environment.
struct Variable {
  std::string name, value;
};

/// The command line that starts the same with these variables set for all ranks. Throws InputError if the options that
/// it has already are in the way.
[[nodiscard]] std::vector<std::string> with_variables(Launcher launcher, const std::vector<std::string>& command,
                                                      const std::vector<Variable>& variables);

/// Why programs of that launcher cannot use a library that was built for `mpi` ("Open MPI 4.1.4"); empty if they can,
/// or if that is not known.
[[nodiscard]] std::string objection(Launcher launcher, std::string_view command, std::string_view mpi);

}  // namespace tutti::tool
