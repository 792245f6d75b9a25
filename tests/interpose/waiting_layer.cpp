// A layer that waits for all requests by MPI's own function, not by that of the libraries behind it.
#include <mpi.h>

extern "C" int MPI_Wait(MPI_Request* request, MPI_Status* status) { return PMPI_Wait(request, status); }
