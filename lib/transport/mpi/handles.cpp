#include "lib/transport/mpi/handles.hpp"

#include "lib/transport/mpi/api.hpp"

namespace tutti::mpi {

void CommTraits::destroy(MPI_Comm& comm) noexcept { api.Comm_free(&comm); }

void GroupTraits::destroy(MPI_Group& group) noexcept { api.Group_free(&group); }

void TypeTraits::destroy(MPI_Datatype& type) noexcept { api.Type_free(&type); }

}  // namespace tutti::mpi
