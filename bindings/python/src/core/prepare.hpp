#pragma once
// From the arguments of each collective in Python to a call of C. The docstrings in collectives.cpp say what they mean.

#include "call.hpp"

namespace tutti::python {

void barrier(Call& call);
void broadcast(Call& call, nb::handle x, nb::handle root, nb::handle out);
void allreduce(Call& call, nb::handle x, nb::handle op, nb::handle out);
void scan(Call& call, nb::handle x, nb::handle op, nb::handle out);
void exscan(Call& call, nb::handle x, nb::handle op, nb::handle out);
void reduce(Call& call, nb::handle x, nb::handle op, nb::handle root, nb::handle out);
void reduce_scatter(Call& call, nb::handle x, nb::handle op, nb::handle out);
void reduce_scatterv(Call& call, nb::handle x, nb::handle counts, nb::handle op, nb::handle out);
void allgather(Call& call, nb::handle x, nb::handle out);
void allgatherv(Call& call, nb::handle x, nb::handle counts, nb::handle offsets, nb::handle out);
void gather(Call& call, nb::handle x, nb::handle root, nb::handle out);
void gatherv(Call& call, nb::handle x, nb::handle counts, nb::handle offsets, nb::handle root, nb::handle out);
void scatter(Call& call, nb::handle x, nb::handle root, nb::handle out);
void scatterv(Call& call, nb::handle x, nb::handle counts, nb::handle offsets, nb::handle root, nb::handle out);
void alltoall(Call& call, nb::handle x, nb::handle out);
void alltoallv(Call& call, nb::handle x, nb::handle in_counts, nb::handle out_counts, nb::handle in_offsets,
               nb::handle out_offsets, nb::handle out);
void alltoallw(Call& call, nb::handle x, nb::handle in_counts, nb::handle out_counts, nb::handle in_offsets,
               nb::handle out_offsets, nb::handle in_types, nb::handle out_types, nb::handle out);

void allreduce_list(Call& call, nb::handle xs, nb::handle op, nb::handle out);
void broadcast_list(Call& call, nb::handle xs, nb::handle root);
void allgather_list(Call& call, nb::handle xs, nb::handle out);
void reduce_scatter_list(Call& call, nb::handle xs, nb::handle op, nb::handle out);

}  // namespace tutti::python
