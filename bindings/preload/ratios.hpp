#pragma once
// How many times as long MPI takes as Tutti, as measured. Written by scripts/interpose_table.py, which says how.

#include <array>
#include <cstdint>

#include "bindings/preload/functions.hpp"

namespace tutti::interpose {

/// Bytes of the larger buffer.
inline constexpr std::array<std::int64_t, 6> measured_sizes{8, 128, 2048, 32'768, 524'288, 8'388'608};
using Ratios = std::array<float, measured_sizes.size()>;  ///< By size.
using Column = std::array<Ratios, function_count>;        ///< By Function.

/// Open MPI 4.1.4, 2 ranks on 1 node.
inline constexpr Column one_node{{
    {{1.40F, 1.40F, 1.40F, 1.40F, 1.40F, 1.40F}},  // barrier
    {{1.56F, 1.40F, 1.26F, 1.03F, 1.16F, 1.30F}},  // bcast
    {{1.47F, 1.40F, 1.23F, 0.99F, 1.33F, 1.69F}},  // reduce
    {{1.59F, 1.54F, 2.49F, 2.01F, 1.52F, 1.31F}},  // allreduce
    {{1.55F, 1.60F, 2.50F, 2.49F, 3.96F, 4.35F}},  // reduce_scatter
    {{1.55F, 1.60F, 2.50F, 2.49F, 3.96F, 4.35F}},  // reduce_scatter_block
    {{1.32F, 1.32F, 2.18F, 1.63F, 1.23F, 0.65F}},  // allgather
    {{0.98F, 1.08F, 1.77F, 1.23F, 0.96F, 0.89F}},  // allgatherv
    {{1.53F, 1.46F, 1.19F, 0.94F, 0.97F, 1.16F}},  // gather
    {{1.26F, 1.38F, 1.17F, 0.97F, 0.99F, 1.18F}},  // gatherv
    {{1.40F, 1.67F, 1.42F, 1.21F, 1.16F, 1.24F}},  // scatter
    {{1.20F, 1.52F, 1.21F, 1.10F, 1.07F, 1.40F}},  // scatterv
    {{1.53F, 1.74F, 2.28F, 1.42F, 1.17F, 0.78F}},  // alltoall
    {{0.84F, 1.00F, 1.67F, 1.32F, 1.14F, 0.71F}},  // alltoallv
    {{0.84F, 1.00F, 1.67F, 1.32F, 1.14F, 0.71F}},  // alltoallw
    {{1.33F, 1.57F, 1.16F, 1.28F, 1.58F, 1.55F}},  // scan
    {{1.29F, 1.67F, 1.19F, 1.12F, 1.11F, 1.13F}},  // exscan
}};

/// Open MPI 4.1.4, 4 ranks on 1 node.
inline constexpr Column one_node_crowded{{
    {{1.48F, 1.48F, 1.48F, 1.48F, 1.48F, 1.48F}},   // barrier
    {{1.94F, 2.34F, 4.49F, 1.98F, 1.81F, 1.80F}},   // bcast
    {{1.05F, 1.03F, 1.13F, 1.71F, 1.43F, 2.43F}},   // reduce
    {{1.90F, 1.75F, 2.32F, 2.28F, 1.19F, 1.23F}},   // allreduce
    {{1.68F, 1.78F, 2.64F, 2.33F, 1.49F, 5.07F}},   // reduce_scatter
    {{1.68F, 1.78F, 2.64F, 2.33F, 1.49F, 5.07F}},   // reduce_scatter_block
    {{1.67F, 1.63F, 2.72F, 2.05F, 1.33F, 0.99F}},   // allgather
    {{1.71F, 1.82F, 2.40F, 1.90F, 2.05F, 1.05F}},   // allgatherv
    {{1.25F, 1.42F, 1.46F, 1.88F, 1.14F, 1.22F}},   // gather
    {{0.98F, 1.08F, 1.04F, 1.27F, 1.06F, 1.06F}},   // gatherv
    {{2.59F, 3.00F, 8.93F, 5.92F, 1.49F, 1.20F}},   // scatter
    {{0.41F, 0.48F, 11.27F, 3.16F, 1.80F, 1.16F}},  // scatterv
    {{1.48F, 1.57F, 2.59F, 2.14F, 0.99F, 0.84F}},   // alltoall
    {{1.14F, 1.28F, 1.64F, 1.76F, 1.04F, 0.85F}},   // alltoallv
    {{1.14F, 1.28F, 1.64F, 1.76F, 1.04F, 0.85F}},   // alltoallw
    {{1.20F, 1.34F, 1.99F, 1.60F, 1.66F, 1.98F}},   // scan
    {{1.28F, 1.47F, 1.95F, 1.49F, 1.15F, 1.11F}},   // exscan
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
