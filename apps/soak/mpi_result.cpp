#include "apps/soak/mpi_result.hpp"

#include "apps/bench/mpi_names.hpp"
#include "apps/soak/layout.hpp"
#include "tutti/algorithm.hpp"

namespace tutti::soak {
namespace {

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
  MPI_Comm comm = MPI_COMM_NULL;
  const ByteVector& in;
  ByteVector& out;
  MpiBlocks sent, received;  ///< In units of `type`.
  MPI_Datatype type = MPI_DATATYPE_NULL;
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
  MPI_Op op = *bench::mpi_op(call.op.kind());
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
         (bench::mpi_type(call.type).has_value() && bench::mpi_op(call.op.kind()).has_value());
}

ByteVector mpi_result(const Call& call, int repetition, int rank, MPI_Comm comm) {
  const Layout layout = layout_of(call, rank);
  const std::int64_t element = size_of(call.type).value();
  const auto bytes_of = [element](const Side& side) { return static_cast<std::size_t>(side.total() * element); };
  ByteVector in(bytes_of(layout.in)), out(bytes_of(layout.out));
  write_input(call, repetition, rank, 0, in);
  const bool combines = reduces(call.collective);
  const std::int64_t unit = combines ? 1 : element;
  MPI_Datatype type = combines ? *bench::mpi_type(call.type) : MPI_BYTE;
  MpiCall on{call, comm, in, out, {layout.in, unit}, {layout.out, unit}, type};
  combines ? reduce_elements(on) : move_elements(on);
  return out;
}

}  // namespace tutti::soak
