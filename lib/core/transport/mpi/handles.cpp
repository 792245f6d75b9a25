#include "lib/core/transport/mpi/handles.hpp"

#include <numeric>

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

std::vector<int> translated_ranks(MPI_Comm comm, MPI_Comm other) {
  const int size = ranks_in(comm);
  int relation = MPI_UNEQUAL;
  std::vector<int> all(static_cast<std::size_t>(size)), translated(all.size());
  std::iota(all.begin(), all.end(), 0);
  check(api.Comm_compare(comm, other, &relation), "MPI_Comm_compare");
  // To translate may take as many steps as there are pairs of ranks.
  if (relation == MPI_IDENT || relation == MPI_CONGRUENT) return all;
  UniqueGroup ours, others;
  check(api.Comm_group(comm, ours.receive()), "MPI_Comm_group");
  check(api.Comm_group(other, others.receive()), "MPI_Comm_group");
  check(api.Group_translate_ranks(ours.get(), size, all.data(), others.get(), translated.data()),
        "MPI_Group_translate_ranks");
  return translated;
}

}  // namespace tutti::mpi
