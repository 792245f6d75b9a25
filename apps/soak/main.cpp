// tutti-soak: random calls for a given time, all results checked, memory and descriptors watched.
#include <fmt/format.h>
#include <mpi.h>

#include <cstdio>
#include <exception>

#include "apps/soak/run.hpp"
#include "apps/standard_output.hpp"

namespace {

using namespace tutti;

/// The exit code, the same on all ranks. Throws errors of this rank alone.
int soak_main(int argc, char** argv, int rank, int provided) {
  soak::Settings settings;
  apps::Options options = soak::options_for(settings);
  if (const auto code = apps::parse_or_report(options, argc, argv, rank == 0)) return *code;
  try {
    soak::require_consistent(settings);
    if (settings.threads > 1 && provided < MPI_THREAD_MULTIPLE)
      throw apps::InputError(fmt::format("--threads {}: this MPI lets only one thread call it", settings.threads));
    return soak::run(settings, {argv, argv + argc});
  } catch (const apps::InputError& error) {
    if (rank == 0) apps::print_error("tutti-soak: {} (see --help)\n", error.what());
    return apps::exit_bad_input;
  }
}

int level_of_threads(int argc, char** argv) {
  soak::Settings settings;
  apps::Options options = soak::options_for(settings);
  try {
    static_cast<void>(options.parse({argv + 1, argv + argc}));
  } catch (const apps::InputError&) {
    return MPI_THREAD_SINGLE;  // rank 0 says it
  }
  return settings.threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
}

}  // namespace

int main(int argc, char** argv) {
  apps::reserve_standard_streams();
  int provided = MPI_THREAD_SINGLE, rank = 0;
  MPI_Init_thread(&argc, &argv, level_of_threads(argc, argv), &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  int code = apps::exit_failure;
  try {
    code = soak_main(argc, argv, rank, provided);
  } catch (const std::exception& error) {
    // The other ranks may be waiting for this one: end them too.
    apps::print_error("tutti-soak: rank {}: {}\n", rank, error.what());
    MPI_Abort(MPI_COMM_WORLD, apps::exit_failure);
  }
  MPI_Finalize();
  return apps::exit_code_after_output("tutti-soak", code);
}
