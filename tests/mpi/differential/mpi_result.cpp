#include "mpi_result.hpp"

#include <iterator>

#include "layout.hpp"
#include "tutti/algorithm.hpp"

namespace tutti::differential {
namespace {

MPI_Datatype mpi_type(Type type) {
  // In the order of Type; no MPI has fp8, fp16 and bf16.
  const MPI_Datatype none = MPI_DATATYPE_NULL;
  const MPI_Datatype types[] = {MPI_INT8_T,
                                MPI_INT16_T,
                                MPI_INT32_T,
                                MPI_INT64_T,
                                MPI_UINT8_T,
                                MPI_UINT16_T,
                                MPI_UINT32_T,
                                MPI_UINT64_T,
                                none,
                                none,
                                none,
                                none,
                                MPI_FLOAT,
                                MPI_DOUBLE,
                                MPI_C_FLOAT_COMPLEX,
                                MPI_C_DOUBLE_COMPLEX};
  static_assert(std::size(types) == type_count);
  return types[static_cast<std::size_t>(type)];
}

MPI_Op mpi_op(Op::Kind kind) {
  const MPI_Op ops[] = {MPI_SUM,  MPI_PROD, MPI_MIN, MPI_MAX,  MPI_OP_NULL, MPI_LAND,   MPI_LOR,
                        MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR, MPI_OP_NULL, MPI_OP_NULL};
  return ops[static_cast<std::size_t>(kind)];
}

/// Blocks as MPI takes them, side by side, in bytes where elements are only moved.
struct MpiBlocks {
  std::vector<int> counts, offsets;
  int total = 0;
  MpiBlocks(const Side& side, std::int64_t unit) {
    for (const std::int64_t count : side.counts) {
      offsets.push_back(total);
      counts.push_back(static_cast<int>(count * unit));
      total += counts.back();
    }
  }
};

/// A call that the MPI makes, as bytes in and bytes out.
struct MpiCall {
  const Call& call;
  MPI_Comm comm;
  const ByteVector& in;
  ByteVector& out;
  MpiBlocks sent, received;  ///< In units of `type`.
  MPI_Datatype type;
};

void move_elements(MpiCall& on) {
  auto& [call, comm, in, out, sent, received, type] = on;
  switch (call.collective) {
    case Collective::barrier:
      MPI_Barrier(comm);
      break;
    case Collective::broadcast:
      if (!in.empty()) out = in;
      MPI_Bcast(out.data(), received.total, type, call.root, comm);
      break;
    case Collective::allgather:
      MPI_Allgatherv(in.data(), sent.total, type, out.data(), received.counts.data(), received.offsets.data(), type,
                     comm);
      break;
    case Collective::gather:
      MPI_Gatherv(in.data(), sent.total, type, out.data(), received.counts.data(), received.offsets.data(), type,
                  call.root, comm);
      break;
    case Collective::scatter:
      MPI_Scatterv(in.data(), sent.counts.data(), sent.offsets.data(), type, out.data(), received.total, type,
                   call.root, comm);
      break;
    default:
      MPI_Alltoallv(in.data(), sent.counts.data(), sent.offsets.data(), type, out.data(), received.counts.data(),
                    received.offsets.data(), type, comm);
  }
}

void reduce_elements(MpiCall& on) {
  auto& [call, comm, in, out, sent, received, type] = on;
  const MPI_Op op = mpi_op(call.op.kind());
  switch (call.collective) {
    case Collective::reduce:
      MPI_Reduce(in.data(), out.data(), sent.total, type, op, call.root, comm);
      break;
    case Collective::allreduce:
      MPI_Allreduce(in.data(), out.data(), sent.total, type, op, comm);
      break;
    case Collective::reduce_scatter:
      MPI_Reduce_scatter(in.data(), out.data(), sent.counts.data(), type, op, comm);
      break;
    case Collective::scan:
      MPI_Scan(in.data(), out.data(), sent.total, type, op, comm);
      break;
    default:
      MPI_Exscan(in.data(), out.data(), sent.total, type, op, comm);
  }
}

}  // namespace

bool has_mpi_result(const Call& call) {
  if (call.kind != Kind::collective) return false;
  return !reduces(call.collective) ||
         (mpi_type(call.type) != MPI_DATATYPE_NULL && mpi_op(call.op.kind()) != MPI_OP_NULL);
}

std::optional<ByteVector> mpi_result(const Call& call, int repetition, int rank, MPI_Comm comm) {
  const Layout layout = layout_of(call, rank);
  const std::int64_t element = size_of(call.type).value();
  const ByteVector in = input_of(call, repetition, rank, 0, layout.in.total());
  ByteVector out(static_cast<std::size_t>(layout.out.total() * element));
  const bool combines = reduces(call.collective);
  const std::int64_t unit = combines ? 1 : element;
  MpiCall on{call, comm, in, out, {layout.in, unit}, {layout.out, unit}, combines ? mpi_type(call.type) : MPI_BYTE};
  combines ? reduce_elements(on) : move_elements(on);
  if (call.collective == Collective::exscan && rank == 0) return std::nullopt;
  return out;
}

}  // namespace tutti::differential
