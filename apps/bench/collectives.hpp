#pragma once
// The entries of the table of collectives.

#include "apps/bench/collective.hpp"

namespace tutti::bench {

extern const BenchCollective bench_barrier, bench_broadcast, bench_reduce, bench_allreduce, bench_reduce_scatter;
extern const BenchCollective bench_allgather, bench_allgatherv, bench_gather, bench_gatherv;
extern const BenchCollective bench_scatter, bench_scatterv, bench_alltoall, bench_alltoallv;
extern const BenchCollective bench_scan, bench_exscan, bench_sendrecv;

}  // namespace tutti::bench
