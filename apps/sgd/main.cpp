// tutti-sgd: trains a small neural network on many processes. Start reading at trainer.cpp.

#include <fmt/format.h>
#include <mpi.h>

#include <cstdio>
#include <exception>

#include "apps/sgd/root.hpp"
#include "apps/sgd/run.hpp"

namespace {

using namespace tutti;

/// MPI from construction to destruction.
class MpiSession {
 public:
  MpiSession() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  }
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
  ~MpiSession() { MPI_Finalize(); }

  [[nodiscard]] int rank() const { return rank_; }

 private:
  int rank_ = 0;
};

/// Tells once of an error that all ranks have met.
int ended(int rank, const std::exception& error, int exit_code) {
  if (rank == 0) fmt::print(stderr, "tutti-sgd: {}\n", error.what());
  return exit_code;
}

}  // namespace

int main(int argc, char** argv) {
  const MpiSession mpi;
  try {
    sgd::Settings settings;
    apps::Options options = sgd::command_line(settings);
    if (const auto exit_code = apps::parse_or_report(options, argc, argv, mpi.rank() == 0)) return *exit_code;
    sgd::run(settings, MPI_COMM_WORLD);
    return apps::exit_success;
  } catch (const apps::InputError& error) {
    return ended(mpi.rank(), error, apps::exit_bad_input);
  } catch (const sgd::CommonFailure& error) {
    return ended(mpi.rank(), error, apps::exit_failure);
  } catch (const std::exception& error) {
    // This rank alone may have failed: the others must not wait for it.
    fmt::print(stderr, "tutti-sgd: rank {}: {}\n", mpi.rank(), error.what());
    MPI_Abort(MPI_COMM_WORLD, apps::exit_failure);
  }
}
