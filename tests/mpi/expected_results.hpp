#pragma once
// The results that a collective must give: the MPI's own, or computed here where the MPI has no such call.

#include <vector>

#include "tests/mpi/allreduce_cases.hpp"
#include "tutti/patterns.hpp"

namespace tutti::test {

/// `T` for calls that only move elements.
template <class T>
MPI_Datatype moved_type() {
  static const MPI_Datatype type = [] {
    MPI_Datatype made = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(sizeof(T), MPI_BYTE, &made);
    MPI_Type_commit(&made);
    return made;
  }();
  return type;
}

/// Lists as MPI takes them.
struct MpiLists {
  std::vector<int> counts, offsets;
  MpiLists(Buffer buffer, const BlockList& list) {
    if (list.empty()) return;
    const Blocks blocks{buffer, list};
    for (int i = 0; i < blocks.parts(); ++i) {
      counts.push_back(static_cast<int>(blocks[i].count.value()));
      offsets.push_back(static_cast<int>(blocks[i].offset.value()));
    }
  }
};

/// The MPI's result in `out`, for a collective that moves elements.
template <class T>
void move_by_mpi(const Problem& problem, const std::vector<T>& in, std::vector<T>& out, MPI_Comm comm) {
  const MPI_Datatype type = moved_type<T>();
  const int count = static_cast<int>(problem.count.value()), root = problem.root.value();
  const MpiLists ins{Buffer::input, problem.in}, outs{Buffer::output, problem.out};
  const bool uneven = problem.uneven();
  const auto own = [](const MpiLists& lists) { return lists.counts[0]; };
  switch (problem.collective) {
    case Collective::broadcast:
      if (problem.rank == problem.root) std::copy(in.begin(), in.end(), out.begin());
      MPI_Bcast(out.data(), count, type, root, comm);
      break;
    case Collective::allgather: {
      const int mine = static_cast<int>(in.size());
      if (uneven && problem.size == 1)  // where MPICH 4.0 does not look at the offset
        std::copy(in.begin(), in.end(), out.begin() + outs.offsets[0]);
      else if (uneven)
        MPI_Allgatherv(in.data(), mine, type, out.data(), outs.counts.data(), outs.offsets.data(), type, comm);
      else
        MPI_Allgather(in.data(), mine, type, out.data(), count, type, comm);
      break;
    }
    case Collective::gather:
      if (uneven)
        MPI_Gatherv(in.data(), own(ins), type, out.data(), outs.counts.data(), outs.offsets.data(), type, root, comm);
      else
        MPI_Gather(in.data(), count, type, out.data(), count, type, root, comm);
      break;
    case Collective::scatter:
      if (uneven)
        MPI_Scatterv(in.data(), ins.counts.data(), ins.offsets.data(), type, out.data(), own(outs), type, root, comm);
      else
        MPI_Scatter(in.data(), count, type, out.data(), count, type, root, comm);
      break;
    case Collective::alltoall:
      if (uneven)
        MPI_Alltoallv(in.data(), ins.counts.data(), ins.offsets.data(), type, out.data(), outs.counts.data(),
                      outs.offsets.data(), type, comm);
      else
        MPI_Alltoall(in.data(), count, type, out.data(), count, type, comm);
      break;
    default:
      break;
  }
}

/// The MPI's result in `out`, for a collective that reduces; false if the MPI lacks the type or the operation.
template <class T>
bool reduce_by_mpi(const Problem& problem, const Op& op, const std::vector<T>& in, std::vector<T>& out, MPI_Comm comm) {
  const MPI_Datatype type = mpi_type<T>();
  const MPI_Op combined = mpi_op(op.kind());
  if (type == MPI_DATATYPE_NULL || combined == MPI_OP_NULL) return false;
  const int count = static_cast<int>(problem.count.value());
  switch (problem.collective) {
    case Collective::reduce:
      MPI_Reduce(in.data(), out.data(), count, type, combined, problem.root.value(), comm);
      break;
    case Collective::allreduce:
      MPI_Allreduce(in.data(), out.data(), count, type, combined, comm);
      break;
    case Collective::reduce_scatter:
      if (problem.uneven())
        MPI_Reduce_scatter(in.data(), out.data(), MpiLists{Buffer::input, problem.in}.counts.data(), type, combined,
                           comm);
      else
        MPI_Reduce_scatter_block(in.data(), out.data(), count, type, combined, comm);
      break;
    case Collective::scan:
      MPI_Scan(in.data(), out.data(), count, type, combined, comm);
      break;
    case Collective::exscan: {
      std::vector<T> result = out;
      MPI_Exscan(in.data(), result.data(), count, type, combined, comm);
      if (problem.rank != Rank{0}) out = result;  // rank 0's is undefined by the standard; here it is left alone
      break;
    }
    default:
      return false;
  }
  return true;
}

/// The result, computed here from the inputs of all ranks.
template <class T>
void reduce_here(const Problem& problem, const Op& op, std::vector<T>& out) {
  int ranks = problem.size;
  std::int64_t first = 0;
  if (problem.collective == Collective::scan) ranks = problem.rank.value() + 1;
  if (problem.collective == Collective::exscan) ranks = problem.rank.value();
  if (problem.collective == Collective::reduce_scatter)
    first = input_blocks(problem)[problem.rank.value()].offset.value();
  if (ranks == 0) return;
  const double divisor = op.kind() == Op::Kind::avg ? problem.size : 1;
  const double factor = op.kind() == Op::Kind::scaled_sum ? op.scale() : 1;
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int64_t at = first + static_cast<std::int64_t>(i);
    Whole all = operand<T>(op.kind(), 0, at);
    for (int rank = 1; rank < ranks; ++rank)
      all = combine(op.kind(), all, operand<T>(op.kind(), rank, at));
    out[i] = element<T>(static_cast<double>(all.re) * factor / divisor, static_cast<double>(all.im) * factor / divisor);
  }
}

}  // namespace tutti::test
