// Every predefined operation on every predefined type: the same results as MPI's, and the same errors.
#include "tests/interpose/reductions.hpp"

namespace tutti::test {
namespace {

struct Named {
  std::string name;
  MPI_Op op;
};

std::vector<Named> operations() {
  return {{"MPI_SUM", MPI_SUM},   {"MPI_PROD", MPI_PROD}, {"MPI_MIN", MPI_MIN},       {"MPI_MAX", MPI_MAX},
          {"MPI_LAND", MPI_LAND}, {"MPI_LOR", MPI_LOR},   {"MPI_LXOR", MPI_LXOR},     {"MPI_BAND", MPI_BAND},
          {"MPI_BOR", MPI_BOR},   {"MPI_BXOR", MPI_BXOR}, {"MPI_MINLOC", MPI_MINLOC}, {"MPI_MAXLOC", MPI_MAXLOC}};
}

/// MPICH 4.0 takes logical operations for those of floating-point types, and fails in them.
bool crashes_mpi(const NumberType& number, MPI_Op op) {
  const bool is_logical = op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR;
  return is_logical && library_is("MPICH") && number.is_floating;
}

template <class Check>
void for_all(const Check& check) {
  const ReturningComm comm;
  for (const NumberType& number : number_types())
    for (const auto& [name, op] : operations()) {
      if (testing::Test::HasFailure()) return;
      if (crashes_mpi(number, op)) continue;
      check(ReductionCase{name + " on " + number.name, number, op, comm.get()});
    }
}

TEST(Reductions, OfAllTypesByAllOperations) {
  for_all([](const ReductionCase& reduction) { compare_reductions<false>(reduction); });
}

TEST(Reductions, InPlace) {
  for_all([](const ReductionCase& reduction) { compare_reductions<true>(reduction); });
}

}  // namespace
}  // namespace tutti::test
