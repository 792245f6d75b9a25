// tutti-sgd: trains a small neural network on many processes. Start reading at trainer.cpp.
#include <mpi.h>

#include <cstdlib>

#include "apps/mpi_main.hpp"
#include "apps/sgd/run.hpp"

namespace {

using namespace tutti;

int train(const sgd::Settings& settings, const apps::MpiProcess& /*process*/) {
  sgd::run(settings, MPI_COMM_WORLD);
  return apps::exit_success;
}

/// Communication that overlaps, in streams or by the progress thread, may need threads of the library.
int level_of_threads(const sgd::Settings& settings) {
  const bool has_threads =
      settings.device || settings.overlap || settings.study || std::getenv("TUTTI_PROGRESS_THREAD") != nullptr;
  return has_threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE;
}

}  // namespace

int main(int argc, char** argv) {
  const apps::MpiProgram<sgd::Settings> program{sgd::command_line, level_of_threads, train, ""};
  return apps::mpi_main(program, argc, argv);
}
