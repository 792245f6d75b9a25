#include "lib/core/transport/mpi/handles.hpp"

#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"

namespace tutti::mpi {

void CommTraits::destroy(MPI_Comm& comm) noexcept { api.Comm_free(&comm); }

void GroupTraits::destroy(MPI_Group& group) noexcept { api.Group_free(&group); }

void TypeTraits::destroy(MPI_Datatype& type) noexcept { api.Type_free(&type); }

UniqueComm with_same_ranks(MPI_Comm comm) {
  UniqueGroup ranks;
  UniqueComm made;
  check(api.Comm_group(comm, ranks.receive()), "MPI_Comm_group");
  check(api.Comm_create(comm, ranks.get(), made.receive()), "MPI_Comm_create");
  return made;
}

}  // namespace tutti::mpi
