// MPI's persistent collectives, as the program calls them (MPI 4).
#include "bindings/preload/entry_points.hpp"

using namespace tutti;             // NOLINT(google-build-using-namespace): the names of collectives.def
using namespace tutti::interpose;  // NOLINT(google-build-using-namespace)
using N = int;
using D = int;

extern "C" {

TUTTI_PERSISTENT(MPI_Barrier_init, barrier, (MPI_Comm comm), (comm), barrier(target, job))
#define TUTTI_COLLECTIVE(Name, Iname, function, parameters, arguments, description) \
  TUTTI_PERSISTENT(MPI_##Name##_init, function, parameters, arguments, description)
#include "bindings/preload/collectives.def"
#undef TUTTI_COLLECTIVE
}
