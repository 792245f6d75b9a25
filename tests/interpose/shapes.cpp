#include "tests/interpose/shapes.hpp"

#include <array>

namespace tutti::test {
namespace {

MPI_Datatype committed(MPI_Datatype type) {
  MPI_Type_commit(&type);
  return type;
}

MPI_Datatype contiguous(int count, MPI_Datatype of) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(count, of, &type);
  return committed(type);
}

MPI_Datatype vector(int count, int length, int stride, MPI_Datatype of) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_vector(count, length, stride, of, &type);
  return committed(type);
}

MPI_Datatype indexed(const std::vector<int>& lengths, const std::vector<int>& places) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_indexed(static_cast<int>(lengths.size()), lengths.data(), places.data(), MPI_INT, &type);
  return committed(type);
}

MPI_Datatype resized(MPI_Datatype of, MPI_Aint lower, MPI_Aint extent) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(of, lower, extent, &type);
  return committed(type);
}

MPI_Datatype duplicate(MPI_Datatype of) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_dup(of, &type);
  return type;
}

MPI_Datatype with_gaps() {
  const std::array<int, 3> lengths{1, 2, 1};
  const std::array<MPI_Aint, 3> places{0, 12, 28};
  const std::array<MPI_Datatype, 3> types{MPI_INT, MPI_INT, MPI_INT};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(3, lengths.data(), places.data(), types.data(), &type);
  return committed(type);
}

MPI_Datatype part_of_matrix(int order) {
  const std::array<int, 2> sizes{3, 4}, parts{2, 2}, starts{1, 1};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_subarray(2, sizes.data(), parts.data(), starts.data(), order, MPI_INT, &type);
  return committed(type);
}

MPI_Datatype at_bytes(const std::vector<MPI_Aint>& places) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed_block(static_cast<int>(places.size()), 1, places.data(), MPI_INT, &type);
  return committed(type);
}

std::vector<Shape> all_shapes() {
  const MPI_Datatype permuted = indexed({2, 1, 1}, {2, 0, 1}), columns = vector(2, 1, 2, MPI_INT);
  return {{"int", MPI_INT, 1},
          {"contiguous", contiguous(3, MPI_INT), 3},
          {"vector", columns, 2},
          {"vector with a negative stride", vector(3, 1, -2, MPI_INT), 3},
          {"indexed, permuted", permuted, 4},
          {"indexed, with a gap", indexed({1, 2, 1}, {4, 0, 2}), 4},
          {"struct with gaps", with_gaps(), 4},
          {"resized, negative lower bound", resized(columns, -8, 24), 2},
          {"resized to its own bounds", resized(contiguous(2, MPI_INT), 0, 8), 2},
          {"nested", vector(2, 1, 3, permuted), 8},
          {"contiguous of permuted", contiguous(2, permuted), 8},
          {"duplicate of permuted", duplicate(permuted), 4},
          {"duplicate of int", duplicate(MPI_INT), 1},
          {"subarray, C", part_of_matrix(MPI_ORDER_C), 4},
          {"subarray, Fortran", part_of_matrix(MPI_ORDER_FORTRAN), 4},
          {"blocks at bytes, backwards", at_bytes({40, 20, -12}), 3},
          {"resized int, shifted", resized(at_bytes({-4}), -4, 4), 1}};
}

}  // namespace

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = all_shapes();
  return all;
}

}  // namespace tutti::test
