// MPI's blocking and nonblocking collectives, as the program calls them.
#include "bindings/preload/entry_points.hpp"

using namespace tutti;             // NOLINT(google-build-using-namespace): the names of collectives.def
using namespace tutti::interpose;  // NOLINT(google-build-using-namespace)
using N = int;
using D = int;

extern "C" {

TUTTI_BLOCKING(MPI_Barrier, barrier, (MPI_Comm comm), (comm), barrier(target, job))
#define TUTTI_COLLECTIVE(Name, Iname, function, parameters, arguments, description) \
  TUTTI_BLOCKING(MPI_##Name, function, parameters, arguments, description)
#include "bindings/preload/collectives.def"
#undef TUTTI_COLLECTIVE

TUTTI_NONBLOCKING(MPI_Ibarrier, barrier, (MPI_Comm comm), (comm), barrier(target, job))
#define TUTTI_COLLECTIVE(Name, Iname, function, parameters, arguments, description) \
  TUTTI_NONBLOCKING(MPI_##Iname, function, parameters, arguments, description)
#include "bindings/preload/collectives.def"
#undef TUTTI_COLLECTIVE
}
