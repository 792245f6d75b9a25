#include "apps/bench/mpi_names.hpp"

namespace tutti::bench {

std::optional<MPI_Datatype> mpi_type(Type type) {
  switch (type) {
    case Type::int8:
      return MPI_INT8_T;
    case Type::int16:
      return MPI_INT16_T;
    case Type::int32:
      return MPI_INT32_T;
    case Type::int64:
      return MPI_INT64_T;
    case Type::uint8:
      return MPI_UINT8_T;
    case Type::uint16:
      return MPI_UINT16_T;
    case Type::uint32:
      return MPI_UINT32_T;
    case Type::uint64:
      return MPI_UINT64_T;
    case Type::fp32:
      return MPI_FLOAT;
    case Type::fp64:
      return MPI_DOUBLE;
    case Type::complex_fp32:
      return MPI_C_FLOAT_COMPLEX;
    case Type::complex_fp64:
      return MPI_C_DOUBLE_COMPLEX;
    case Type::fp8_e4m3:
    case Type::fp8_e5m2:
    case Type::fp16:
    case Type::bf16:
    case Type::boolean:  // few operations
      return std::nullopt;
  }
  return std::nullopt;
}

MPI_Datatype mpi_type_of_size(Type type) {
  return mpi_type(type).value_or(size_of(type) == Bytes{1} ? MPI_UINT8_T : MPI_UINT16_T);
}

std::optional<MPI_Op> mpi_op(Op::Kind kind) {
  switch (kind) {
    case Op::Kind::sum:
      return MPI_SUM;
    case Op::Kind::prod:
      return MPI_PROD;
    case Op::Kind::min:
      return MPI_MIN;
    case Op::Kind::max:
      return MPI_MAX;
    case Op::Kind::land:
      return MPI_LAND;
    case Op::Kind::lor:
      return MPI_LOR;
    case Op::Kind::lxor:
      return MPI_LXOR;
    case Op::Kind::band:
      return MPI_BAND;
    case Op::Kind::bor:
      return MPI_BOR;
    case Op::Kind::bxor:
      return MPI_BXOR;
    case Op::Kind::avg:
    case Op::Kind::scaled_sum:
    case Op::Kind::user:
      return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace tutti::bench
