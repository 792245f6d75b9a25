// What begins and ends MPI, and what frees its objects.
#include "interpose/fortran/export.hpp"
#include "interpose/fortran/handles.hpp"
#include "interpose/fortran/sentinels.hpp"

namespace tutti::interpose::fortran {
namespace {

int init() { return MPI_Init(nullptr, nullptr); }

int init_thread(const MPI_Fint* required, MPI_Fint* provided) {
  return MPI_Init_thread(nullptr, nullptr, *required, provided);
}

int comm_free(MPI_Fint* comm) { return with_handle(&MPI_Comm_free, comm); }

int comm_disconnect(MPI_Fint* comm) { return with_handle(&MPI_Comm_disconnect, comm); }

int op_free(MPI_Fint* op) { return with_handle(&MPI_Op_free, op); }

int type_free(MPI_Fint* type) { return with_handle(&MPI_Type_free, type); }

}  // namespace

TUTTI_FORTRAN(init, INIT, init, 0)
TUTTI_FORTRAN(init_thread, INIT_THREAD, init_thread, 2)
TUTTI_FORTRAN(finalize, FINALIZE, MPI_Finalize, 0)
TUTTI_FORTRAN(comm_free, COMM_FREE, comm_free, 1)
TUTTI_FORTRAN(comm_disconnect, COMM_DISCONNECT, comm_disconnect, 1)
TUTTI_FORTRAN(op_free, OP_FREE, op_free, 1)
TUTTI_FORTRAN(type_free, TYPE_FREE, type_free, 1)

}  // namespace tutti::interpose::fortran
