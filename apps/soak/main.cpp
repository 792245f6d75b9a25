// tutti-soak: random calls for a given time, all results checked, memory and descriptors watched.
#include <fmt/format.h>
#include <mpi.h>

#include "apps/mpi_main.hpp"
#include "apps/soak/run.hpp"

namespace {

using namespace tutti;

int soak_all(const soak::Settings& settings, const apps::MpiProcess& process) {
  soak::require_consistent(settings);
  if (settings.threads > 1 && process.provided < MPI_THREAD_MULTIPLE)
    throw apps::InputError(fmt::format("--threads {}: this MPI lets only one thread call it", settings.threads));
  return soak::run(settings, process.arguments);
}

int level_of_threads(const soak::Settings& settings) {
  return settings.threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED;
}

}  // namespace

int main(int argc, char** argv) {
  const apps::MpiProgram<soak::Settings> program{soak::options_for, level_of_threads, soak_all};
  return apps::mpi_main(program, argc, argv);
}
