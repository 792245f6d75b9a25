// MPI's collectives with counts of 64 bits, as the program calls them (MPI 4).
#include "bindings/preload/entry_points.hpp"

using namespace tutti;             // NOLINT(google-build-using-namespace): the names of collectives.def
using namespace tutti::interpose;  // NOLINT(google-build-using-namespace)
using N = MPI_Count;
using D = MPI_Aint;

extern "C" {

#define TUTTI_COLLECTIVE(Name, Iname, function, parameters, arguments, description) \
  TUTTI_BLOCKING(MPI_##Name##_c, function, parameters, arguments, description)
#include "bindings/preload/collectives.def"
#undef TUTTI_COLLECTIVE

#define TUTTI_COLLECTIVE(Name, Iname, function, parameters, arguments, description) \
  TUTTI_NONBLOCKING(MPI_##Iname##_c, function, parameters, arguments, description)
#include "bindings/preload/collectives.def"
#undef TUTTI_COLLECTIVE

#define TUTTI_COLLECTIVE(Name, Iname, function, parameters, arguments, description) \
  TUTTI_PERSISTENT(MPI_##Name##_init_c, function, parameters, arguments, description)
#include "bindings/preload/collectives.def"
#undef TUTTI_COLLECTIVE
}
