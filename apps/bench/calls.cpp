#include "apps/bench/calls.hpp"

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
    default:  // those that MPI lacks, and boolean, which has few operations
      return std::nullopt;
  }
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
    default:
      return std::nullopt;
  }
}

std::string choice_in(std::string_view explanation) {
  // "allreduce of 1000 elements of fp32 on 4 ranks of 1 node: ring/64K, as many bytes want ..."
  constexpr std::string_view before = ": ";
  const std::size_t begin = explanation.find(before) + before.size();
  return std::string{explanation.substr(begin, explanation.find(", ", begin) - begin)};
}

MpiArguments::MpiArguments(const Call& its_call)
    : call(its_call),
      in(call.is_in_place ? MPI_IN_PLACE : call.in),
      out(call.out),
      // Where blocks are equal only they need to fit an int.
      count(static_cast<int>(call.count.value())),
      block(mpi::narrow(call.block().value())),
      root(call.root.value()),
      counts(call.blocks->mpi_counts()),
      offsets(call.blocks->mpi_offsets()),
      type(mpi_type(call.type).value_or(size_of(call.type) == Bytes{1} ? MPI_UINT8_T : MPI_UINT16_T)),
      op(mpi_op(call.op.kind()).value_or(MPI_OP_NULL)) {}

MpiRequests::~MpiRequests() {
  for (MPI_Request& request : requests_) {
    if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }
}

void MpiRequests::start_and_wait(const Computation* computation) {
  if (requests_.size() == 1) {
    mpi::check(MPI_Start(requests_.data()), "MPI_Start");
    compute(computation);
    mpi::check(MPI_Wait(requests_.data(), MPI_STATUS_IGNORE), "MPI_Wait");
    return;
  }
  const int count = static_cast<int>(requests_.size());
  mpi::check(MPI_Startall(count, requests_.data()), "MPI_Startall");
  compute(computation);
  mpi::check(MPI_Waitall(count, requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
}

}  // namespace tutti::bench
