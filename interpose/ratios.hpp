#pragma once
// How many times as long MPI takes as Tutti, as measured. Written by scripts/interpose_table.py, which says how.

#include <array>
#include <cstdint>

#include "interpose/functions.hpp"

namespace tutti::interpose {

/// Bytes of the larger buffer.
inline constexpr std::array<std::int64_t, 6> measured_sizes{8, 128, 2048, 32'768, 524'288, 8'388'608};
using Ratios = std::array<float, measured_sizes.size()>;  ///< By size.
using Column = std::array<Ratios, function_count>;        ///< By Function.

/// Open MPI 4.1.4, 2 ranks on 1 nodes.
inline constexpr Column one_node{{
    {{1.35F, 1.35F, 1.35F, 1.35F, 1.35F, 1.35F}},  // barrier
    {{0.65F, 2.09F, 1.39F, 1.16F, 1.22F, 1.23F}},  // bcast
    {{2.23F, 1.98F, 1.28F, 1.20F, 1.71F, 1.91F}},  // reduce
    {{1.84F, 2.02F, 2.88F, 2.09F, 1.61F, 1.32F}},  // allreduce
    {{1.82F, 1.82F, 2.76F, 2.62F, 3.46F, 4.42F}},  // reduce_scatter
    {{1.82F, 1.82F, 2.76F, 2.62F, 3.46F, 4.42F}},  // reduce_scatter_block
    {{1.89F, 1.80F, 2.52F, 2.03F, 1.27F, 0.65F}},  // allgather
    {{1.92F, 1.99F, 2.54F, 1.30F, 0.98F, 0.94F}},  // allgatherv
    {{2.18F, 1.92F, 1.42F, 1.04F, 1.04F, 1.16F}},  // gather
    {{2.08F, 1.90F, 1.28F, 1.07F, 1.16F, 1.28F}},  // gatherv
    {{2.10F, 1.83F, 1.52F, 1.15F, 1.02F, 1.13F}},  // scatter
    {{2.04F, 1.85F, 1.40F, 1.10F, 1.18F, 1.21F}},  // scatterv
    {{1.98F, 2.03F, 2.54F, 1.73F, 1.23F, 0.79F}},  // alltoall
    {{1.86F, 1.95F, 2.61F, 1.47F, 1.17F, 0.70F}},  // alltoallv
    {{1.86F, 1.95F, 2.61F, 1.47F, 1.17F, 0.70F}},  // alltoallw
    {{2.09F, 1.87F, 1.34F, 1.24F, 1.70F, 1.55F}},  // scan
    {{2.09F, 1.95F, 1.34F, 1.09F, 1.24F, 1.23F}},  // exscan
}};

/// Open MPI 4.1.4, 4 ranks on 1 nodes.
inline constexpr Column one_node_crowded{{
    {{1.80F, 1.80F, 1.80F, 1.80F, 1.80F, 1.80F}},   // barrier
    {{1.13F, 3.72F, 3.43F, 1.97F, 2.06F, 1.83F}},   // bcast
    {{1.59F, 1.61F, 1.10F, 1.95F, 1.58F, 2.68F}},   // reduce
    {{1.76F, 1.84F, 2.57F, 2.81F, 1.73F, 1.32F}},   // allreduce
    {{1.78F, 2.22F, 3.04F, 2.96F, 1.57F, 4.28F}},   // reduce_scatter
    {{1.78F, 2.22F, 3.04F, 2.96F, 1.57F, 4.28F}},   // reduce_scatter_block
    {{1.82F, 1.92F, 3.21F, 2.26F, 1.66F, 1.03F}},   // allgather
    {{2.73F, 2.68F, 3.07F, 2.43F, 1.60F, 1.00F}},   // allgatherv
    {{1.31F, 1.32F, 1.22F, 1.94F, 1.15F, 1.40F}},   // gather
    {{0.97F, 1.00F, 0.92F, 1.35F, 1.21F, 1.19F}},   // gatherv
    {{1.52F, 1.82F, 14.27F, 6.87F, 1.45F, 1.31F}},  // scatter
    {{1.02F, 1.26F, 11.19F, 4.55F, 1.87F, 1.28F}},  // scatterv
    {{1.54F, 1.96F, 2.47F, 2.39F, 0.95F, 0.78F}},   // alltoall
    {{1.70F, 1.83F, 2.31F, 2.41F, 1.02F, 0.82F}},   // alltoallv
    {{1.70F, 1.83F, 2.31F, 2.41F, 1.02F, 0.82F}},   // alltoallw
    {{1.53F, 1.49F, 2.10F, 1.60F, 1.27F, 2.16F}},   // scan
    {{1.32F, 1.16F, 1.90F, 1.63F, 1.34F, 1.56F}},   // exscan
}};

/// Open MPI 4.1.4, 4 ranks on 2 nodes.
inline constexpr Column several_nodes{{
    {{1.19F, 1.19F, 1.19F, 1.19F, 1.19F, 1.19F}},  // barrier
    {{0.75F, 0.73F, 1.07F, 0.58F, 3.10F, 1.19F}},  // bcast
    {{0.92F, 0.94F, 1.10F, 1.17F, 2.04F, 2.49F}},  // reduce
    {{0.97F, 0.91F, 0.92F, 1.26F, 1.48F, 1.46F}},  // allreduce
    {{0.96F, 0.88F, 0.89F, 1.01F, 2.17F, 7.42F}},  // reduce_scatter
    {{0.96F, 0.88F, 0.89F, 1.01F, 2.17F, 7.42F}},  // reduce_scatter_block
    {{0.81F, 0.80F, 0.86F, 0.94F, 1.49F, 1.66F}},  // allgather
    {{0.91F, 0.91F, 0.76F, 0.87F, 1.74F, 1.91F}},  // allgatherv
    {{0.88F, 0.86F, 0.85F, 0.97F, 1.20F, 1.24F}},  // gather
    {{0.95F, 0.94F, 0.86F, 0.98F, 1.01F, 1.12F}},  // gatherv
    {{1.04F, 0.99F, 1.99F, 1.74F, 0.77F, 0.85F}},  // scatter
    {{0.90F, 0.60F, 1.17F, 1.02F, 1.12F, 1.45F}},  // scatterv
    {{0.99F, 0.96F, 0.83F, 0.91F, 1.00F, 0.97F}},  // alltoall
    {{1.56F, 1.51F, 1.30F, 0.82F, 0.98F, 1.03F}},  // alltoallv
    {{1.56F, 1.51F, 1.30F, 0.82F, 0.98F, 1.03F}},  // alltoallw
    {{1.12F, 1.14F, 1.29F, 1.07F, 1.32F, 1.40F}},  // scan
    {{0.89F, 0.90F, 1.38F, 1.44F, 0.91F, 0.71F}},  // exscan
}};

}  // namespace tutti::interpose
