// tutti-sgd: trains a small neural network on many processes. Start reading at trainer.cpp.

#include <fmt/format.h>
#include <mpi.h>

#include <cstdio>
#include <exception>

#include "apps/root.hpp"
#include "apps/sgd/run.hpp"
#include "apps/standard_output.hpp"

namespace {

using namespace tutti;

/// Tells once of an error that all ranks have met.
int ended(int rank, const std::exception& error, int exit_code) {
  if (rank == 0) apps::print_error("tutti-sgd: {}\n", error.what());
  return exit_code;
}

/// The exit code, the same on all ranks unless one fails alone.
int sgd_main(int argc, char** argv, int rank) {
  try {
    sgd::Settings settings;
    apps::Options options = sgd::command_line(settings);
    if (const auto exit_code = apps::parse_or_report(options, argc, argv, rank == 0)) return *exit_code;
    sgd::run(settings, MPI_COMM_WORLD);
    return apps::exit_success;
  } catch (const apps::InputError& error) {
    return ended(rank, error, apps::exit_bad_input);
  } catch (const apps::CommonFailure& error) {
    return ended(rank, error, apps::exit_failure);
  } catch (const std::exception& error) {
    // This rank alone may have failed: the others must not wait for it.
    apps::print_error("tutti-sgd: rank {}: {}\n", rank, error.what());
    MPI_Abort(MPI_COMM_WORLD, apps::exit_failure);
    return apps::exit_failure;
  }
}

/// Calls in streams, by which a training on devices overlaps its sums, may need threads of the library.
int level_of_threads(int argc, char** argv) {
  sgd::Settings settings;
  apps::Options options = sgd::command_line(settings);
  try {
    static_cast<void>(options.parse({argv + 1, argv + argc}));
  } catch (const apps::InputError&) {
    return MPI_THREAD_SINGLE;  // rank 0 says it
  }
  return settings.device ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
}

}  // namespace

int main(int argc, char** argv) {
  apps::reserve_standard_streams();
  int provided = MPI_THREAD_SINGLE;
  MPI_Init_thread(nullptr, nullptr, level_of_threads(argc, argv), &provided);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  const int code = sgd_main(argc, argv, rank);
  MPI_Finalize();
  return apps::exit_code_after_output("tutti-sgd", code);
}
