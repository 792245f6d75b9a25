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
    {{1.94F, 1.94F, 1.94F, 1.94F, 1.94F, 1.94F}},  // barrier
    {{0.74F, 2.10F, 3.72F, 1.19F, 3.03F, 0.55F}},  // bcast
    {{1.38F, 0.62F, 1.37F, 2.96F, 0.82F, 0.60F}},  // reduce
    {{2.06F, 5.96F, 2.88F, 0.74F, 0.51F, 1.92F}},  // allreduce
    {{1.30F, 1.97F, 2.43F, 1.04F, 3.30F, 5.88F}},  // reduce_scatter
    {{1.30F, 1.97F, 2.43F, 1.04F, 3.30F, 5.88F}},  // reduce_scatter_block
    {{1.95F, 1.74F, 1.03F, 0.68F, 1.22F, 0.48F}},  // allgather
    {{1.99F, 2.07F, 1.74F, 0.60F, 1.05F, 0.50F}},  // allgatherv
    {{0.70F, 0.60F, 1.33F, 0.72F, 0.96F, 1.11F}},  // gather
    {{0.66F, 0.58F, 3.61F, 2.12F, 2.44F, 1.79F}},  // gatherv
    {{1.40F, 0.67F, 1.41F, 1.34F, 2.66F, 0.31F}},  // scatter
    {{0.68F, 1.38F, 1.43F, 0.83F, 1.02F, 0.34F}},  // scatterv
    {{2.00F, 4.29F, 0.88F, 0.64F, 2.77F, 0.32F}},  // alltoall
    {{2.87F, 5.82F, 2.71F, 1.46F, 1.47F, 0.99F}},  // alltoallv
    {{2.87F, 5.82F, 2.71F, 1.46F, 1.47F, 0.99F}},  // alltoallw
    {{0.99F, 1.87F, 1.42F, 1.28F, 0.60F, 4.23F}},  // scan
    {{0.67F, 0.79F, 3.55F, 4.11F, 2.87F, 2.36F}},  // exscan
}};

/// Open MPI 4.1.4, 4 ranks on 1 nodes.
inline constexpr Column one_node_crowded{{
    {{1.46F, 1.46F, 1.46F, 1.46F, 1.46F, 1.46F}},    // barrier
    {{1.07F, 1.23F, 22.69F, 1.67F, 5.31F, 1.99F}},   // bcast
    {{1.05F, 1.03F, 1.45F, 1.90F, 0.93F, 2.01F}},    // reduce
    {{2.16F, 2.10F, 2.39F, 2.12F, 1.65F, 1.81F}},    // allreduce
    {{2.50F, 1.53F, 2.71F, 2.53F, 1.62F, 2.76F}},    // reduce_scatter
    {{2.50F, 1.53F, 2.71F, 2.53F, 1.62F, 2.76F}},    // reduce_scatter_block
    {{0.26F, 1.66F, 2.69F, 0.58F, 0.18F, 1.11F}},    // allgather
    {{1.93F, 1.92F, 3.09F, 1.58F, 1.44F, 1.00F}},    // allgatherv
    {{0.22F, 1.16F, 1.78F, 1.20F, 0.87F, 1.12F}},    // gather
    {{0.94F, 0.95F, 0.94F, 1.61F, 0.65F, 0.85F}},    // gatherv
    {{1.20F, 1.38F, 31.88F, 19.86F, 1.97F, 0.88F}},  // scatter
    {{0.73F, 0.81F, 24.26F, 16.40F, 5.74F, 2.54F}},  // scatterv
    {{1.13F, 1.87F, 3.11F, 2.95F, 0.90F, 0.82F}},    // alltoall
    {{1.55F, 1.60F, 2.29F, 0.71F, 1.34F, 0.64F}},    // alltoallv
    {{1.55F, 1.60F, 2.29F, 0.71F, 1.34F, 0.64F}},    // alltoallw
    {{1.57F, 1.26F, 1.79F, 1.59F, 1.38F, 1.25F}},    // scan
    {{0.67F, 1.03F, 1.19F, 1.01F, 0.97F, 0.81F}},    // exscan
}};

/// Open MPI 4.1.4, 4 ranks on 2 nodes.
inline constexpr Column several_nodes{{
    {{12.90F, 12.90F, 12.90F, 12.90F, 12.90F, 12.90F}},  // barrier
    {{49.40F, 8.52F, 0.02F, 2.91F, 1.05F, 0.70F}},       // bcast
    {{0.51F, 1.75F, 1.20F, 0.75F, 0.65F, 1.74F}},        // reduce
    {{1.05F, 1.12F, 1.34F, 1.91F, 1.18F, 1.23F}},        // allreduce
    {{1.15F, 0.55F, 0.27F, 0.37F, 1.72F, 2.11F}},        // reduce_scatter
    {{1.15F, 0.55F, 0.27F, 0.37F, 1.72F, 2.11F}},        // reduce_scatter_block
    {{0.91F, 1.01F, 1.61F, 0.89F, 1.59F, 1.68F}},        // allgather
    {{0.86F, 0.90F, 0.75F, 0.87F, 1.39F, 1.09F}},        // allgatherv
    {{0.61F, 0.92F, 0.78F, 0.90F, 0.84F, 1.19F}},        // gather
    {{0.95F, 0.95F, 0.91F, 1.02F, 1.22F, 0.68F}},        // gatherv
    {{0.88F, 0.82F, 2.72F, 1.51F, 0.68F, 1.15F}},        // scatter
    {{0.46F, 0.31F, 1.12F, 1.67F, 1.18F, 0.87F}},        // scatterv
    {{1.36F, 1.42F, 1.40F, 0.95F, 1.09F, 0.91F}},        // alltoall
    {{0.85F, 1.25F, 1.13F, 1.02F, 0.92F, 0.97F}},        // alltoallv
    {{0.85F, 1.25F, 1.13F, 1.02F, 0.92F, 0.97F}},        // alltoallw
    {{0.59F, 0.95F, 1.24F, 1.26F, 1.19F, 0.96F}},        // scan
    {{1.04F, 1.14F, 1.34F, 0.96F, 1.01F, 0.93F}},        // exscan
}};

}  // namespace tutti::interpose
