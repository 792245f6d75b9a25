// MPI 4: MPICH aborts where a type that was made with counts of 64 bits is asked for its contents otherwise.
#include <cstddef>

#include "bindings/preload/contents.hpp"
#include "lib/core/transport/mpi/check.hpp"

namespace tutti::interpose {
namespace {

using mpi::check;

struct Envelope {
  MPI_Count integers = 0, addresses = 0, counts = 0, types = 0;
  int combiner = 0;
};

Envelope envelope_of(MPI_Datatype type) {
  Envelope its;
  check(PMPI_Type_get_envelope_c(type, &its.integers, &its.addresses, &its.counts, &its.types, &its.combiner),
        "MPI_Type_get_envelope_c");
  return its;
}

}  // namespace

int combiner_of(MPI_Datatype type) { return envelope_of(type).combiner; }

std::vector<MPI_Datatype> parts_of(MPI_Datatype type) {
  const Envelope its = envelope_of(type);
  std::vector<int> integers(static_cast<std::size_t>(its.integers));
  std::vector<MPI_Aint> addresses(static_cast<std::size_t>(its.addresses));
  std::vector<MPI_Count> counts(static_cast<std::size_t>(its.counts));
  std::vector<MPI_Datatype> types(static_cast<std::size_t>(its.types), MPI_DATATYPE_NULL);
  check(PMPI_Type_get_contents_c(type, its.integers, its.addresses, its.counts, its.types, integers.data(),
                                 addresses.data(), counts.data(), types.data()),
        "MPI_Type_get_contents_c");
  return types;
}

}  // namespace tutti::interpose
