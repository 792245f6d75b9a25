#include "bindings/preload/contents.hpp"

#include <cstddef>

#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"

namespace tutti::interpose {
namespace {

using mpi::api;
using mpi::check;

struct Envelope {
  int integers = 0, addresses = 0, types = 0, combiner = 0;
};

Envelope envelope_of(MPI_Datatype type) {
  Envelope its;
  check(api.Type_get_envelope(type, &its.integers, &its.addresses, &its.types, &its.combiner), "MPI_Type_get_envelope");
  return its;
}

}  // namespace

int combiner_of(MPI_Datatype type) { return envelope_of(type).combiner; }

std::vector<MPI_Datatype> parts_of(MPI_Datatype type) {
  const Envelope its = envelope_of(type);
  std::vector<int> integers(static_cast<std::size_t>(its.integers));
  std::vector<MPI_Aint> addresses(static_cast<std::size_t>(its.addresses));
  std::vector<MPI_Datatype> types(static_cast<std::size_t>(its.types), MPI_DATATYPE_NULL);
  check(api.Type_get_contents(type, its.integers, its.addresses, its.types, integers.data(), addresses.data(),
                              types.data()),
        "MPI_Type_get_contents");
  return types;
}

}  // namespace tutti::interpose
