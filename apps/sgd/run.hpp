#pragma once
// One run of tutti-sgd: data in, training, reports and checkpoints out.

#include <mpi.h>

#include "apps/sgd/settings.hpp"

namespace tutti::sgd {

/// Collective over `mpi`; rank 0 reads and writes all files and prints. Throws InputError or apps::CommonFailure on all
/// ranks alike; any other exception is one rank's own.
void run(const Settings& settings, MPI_Comm mpi);

}  // namespace tutti::sgd
