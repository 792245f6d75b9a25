#pragma once
// main() of the programs that run under mpirun.

#include <mpi.h>

#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "apps/options.hpp"
#include "apps/root.hpp"
#include "apps/standard_output.hpp"
#include "lib/core/schedule/plugins.hpp"

namespace tutti::apps {

/// This process, and its command line.
struct MpiProcess {
  int rank = 0, ranks = 1;
  int provided = MPI_THREAD_SINGLE;  ///< The level of threads that MPI has.
  std::vector<std::string> arguments;
};

/// A program whose command line sets `Settings`.
template <class Settings>
struct MpiProgram {
  Options (*options_for)(Settings& settings);
  /// The level of threads that MPI is asked for.
  int (*level_of_threads)(const Settings& settings);
  /// Returns the exit code, the same on all ranks. Throws InputError and CommonFailure on all ranks alike, other errors
  /// on one rank alone.
  int (*run)(const Settings& settings, const MpiProcess& process);
  std::string_view hint = " (see --help)";  ///< Behind the text of InputError.
};

template <class Settings>
int level_of_threads(const MpiProgram<Settings>& program, const std::vector<std::string>& arguments) {
  Settings settings;
  Options options = program.options_for(settings);
  try {
    static_cast<void>(options.parse(arguments));
  } catch (const InputError&) {
    return MPI_THREAD_SINGLE;  // rank 0 says it
  }
  return program.level_of_threads(settings);
}

template <class Settings>
int mpi_main(const MpiProgram<Settings>& program, int argc, char** argv) {
  reserve_standard_streams();
  MpiProcess process;
  MPI_Init_thread(&argc, &argv, level_of_threads(program, {argv + 1, argv + argc}), &process.provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &process.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &process.ranks);
  process.arguments = {argv, argv + argc};
  const bool speaks = process.rank == 0;
  Settings settings;
  Options options = program.options_for(settings);
  int code = exit_failure;
  try {
    load_algorithms_in_environment();
    const auto ended = parse_or_report(options, argc, argv, speaks);
    // Ranks may have been given different command lines: if one of them ends here, all do.
    int worst = ended.value_or(-1);
    MPI_Allreduce(MPI_IN_PLACE, &worst, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    if (!ended && worst >= 0) throw InputError("another rank cannot use its command line; allowed: one for all ranks");
    code = ended ? worst : program.run(settings, process);
  } catch (const InputError& error) {
    if (speaks) print_error("{}: {}{}\n", options.program(), error.what(), program.hint);
    code = exit_bad_input;
  } catch (const CommonFailure& error) {
    if (speaks) print_error("{}: {}\n", options.program(), error.what());
  } catch (const std::exception& error) {
    // The other ranks may be waiting for this one: end them too.
    print_error("{}: rank {}: {}\n", options.program(), process.rank, error.what());
    MPI_Abort(MPI_COMM_WORLD, exit_failure);
  }
  MPI_Finalize();
  return exit_code_after_output(options.program(), code);
}

}  // namespace tutti::apps
