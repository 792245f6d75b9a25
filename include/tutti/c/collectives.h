#pragma once
// The collectives. Each has three forms:
//
//     tutti_allreduce(..., comm, options)                  returns when it is complete on this rank
//     tutti_allreduce_async(..., comm, options, &request)  returns at once; tutti_request_wait completes it
//     tutti_plan_allreduce(..., comm, options, &plan)      prepares it: tutti_plan_start, tutti_plan_wait, many times
//
// Buffers of nonblocking and persistent calls stay until those are over; lists of counts and offsets are copied.
// `options` may be NULL. In place: TUTTI_IN_PLACE as `in` (in scatter: as `out`), or the same address twice, except in
// broadcast and barrier.
//
// Lists have one entry per rank, in elements. Offsets may be NULL: then blocks lie one after the other.

#include "tutti/c/requests.h"
#include "tutti/c/types.h"

/// A collective call as one structure: for bindings of other languages, which then need three functions for all
/// collectives, and for a broadcast from one buffer into another. Members that the collective does not use are ignored.
typedef struct tutti_call {
  size_t size;  ///< sizeof(tutti_call)
  tutti_collective collective;
  int blocks;  ///< A value of enum tutti_blocks, the same on all ranks.
  const void* in;
  void* out;
  int64_t count;
  tutti_type type;
  int root;
  tutti_op op;
  const int64_t *in_counts, *in_offsets;    ///< For uneven reduce_scatter, scatter and alltoall.
  const int64_t *out_counts, *out_offsets;  ///< For uneven allgather, gather and alltoall.
  const tutti_type *in_types, *out_types;   ///< For alltoall with typed blocks.
} tutti_call;
/// How the blocks of ranks are given: all with `count` elements; by lists; or by lists with a type for each, and with
/// offsets in bytes (alltoall only).
enum tutti_blocks { TUTTI_BLOCKS_EVEN = 0, TUTTI_BLOCKS_UNEVEN = 1, TUTTI_BLOCKS_TYPED = 2 };
#define TUTTI_CALL_INIT                                                                                                \
  {                                                                                                                    \
    sizeof(tutti_call), TUTTI_BARRIER, TUTTI_BLOCKS_EVEN, NULL, NULL, 0, TUTTI_UINT8, 0, NULL, NULL, NULL, NULL, NULL, \
        NULL, NULL                                                                                                     \
  }

TUTTI_C_API tutti_status tutti_run(const tutti_call* call, tutti_comm comm, const tutti_options* options);
TUTTI_C_API tutti_status tutti_start(const tutti_call* call, tutti_comm comm, const tutti_options* options,
                                     tutti_request* request);
TUTTI_C_API tutti_status tutti_prepare(const tutti_call* call, tutti_comm comm, const tutti_options* options,
                                       tutti_plan* plan);

/// No rank returns before all ranks have called.
TUTTI_C_API tutti_status tutti_barrier(tutti_comm comm, const tutti_options* options);
TUTTI_C_API tutti_status tutti_barrier_async(tutti_comm comm, const tutti_options* options, tutti_request* request);
TUTTI_C_API tutti_status tutti_plan_barrier(tutti_comm comm, const tutti_options* options, tutti_plan* plan);

/// data[i] of the root goes to data[i] of every rank, for i < count.
TUTTI_C_API tutti_status tutti_broadcast(void* data, int64_t count, tutti_type type, int root, tutti_comm comm,
                                         const tutti_options* options);
TUTTI_C_API tutti_status tutti_broadcast_async(void* data, int64_t count, tutti_type type, int root, tutti_comm comm,
                                               const tutti_options* options, tutti_request* request);
TUTTI_C_API tutti_status tutti_plan_broadcast(void* data, int64_t count, tutti_type type, int root, tutti_comm comm,
                                              const tutti_options* options, tutti_plan* plan);

/// On the root, out[i] = in[i] of rank 0 (+) in[i] of rank 1 (+) ..., for i < count.
TUTTI_C_API tutti_status tutti_reduce(const void* in, void* out, int64_t count, tutti_type type, tutti_op op, int root,
                                      tutti_comm comm, const tutti_options* options);
TUTTI_C_API tutti_status tutti_reduce_async(const void* in, void* out, int64_t count, tutti_type type, tutti_op op,
                                            int root, tutti_comm comm, const tutti_options* options,
                                            tutti_request* request);
TUTTI_C_API tutti_status tutti_plan_reduce(const void* in, void* out, int64_t count, tutti_type type, tutti_op op,
                                           int root, tutti_comm comm, const tutti_options* options, tutti_plan* plan);

/// Reduces, and gives every rank the result.
TUTTI_C_API tutti_status tutti_allreduce(const void* in, void* out, int64_t count, tutti_type type, tutti_op op,
                                         tutti_comm comm, const tutti_options* options);
TUTTI_C_API tutti_status tutti_allreduce_async(const void* in, void* out, int64_t count, tutti_type type, tutti_op op,
                                               tutti_comm comm, const tutti_options* options, tutti_request* request);
TUTTI_C_API tutti_status tutti_plan_allreduce(const void* in, void* out, int64_t count, tutti_type type, tutti_op op,
                                              tutti_comm comm, const tutti_options* options, tutti_plan* plan);

/// out[i] of rank r = in[r * count + i] of rank 0 (+) in[r * count + i] of rank 1 (+) ..., for i < count. This is
/// MPI_Reduce_scatter_block.
TUTTI_C_API tutti_status tutti_reduce_scatter(const void* in, void* out, int64_t count, tutti_type type, tutti_op op,
                                              tutti_comm comm, const tutti_options* options);
TUTTI_C_API tutti_status tutti_reduce_scatter_async(const void* in, void* out, int64_t count, tutti_type type,
                                                    tutti_op op, tutti_comm comm, const tutti_options* options,
                                                    tutti_request* request);
TUTTI_C_API tutti_status tutti_plan_reduce_scatter(const void* in, void* out, int64_t count, tutti_type type,
                                                   tutti_op op, tutti_comm comm, const tutti_options* options,
                                                   tutti_plan* plan);

/// A reduce_scatter with counts[r] elements for rank r, the same counts on all ranks. This is MPI_Reduce_scatter.
TUTTI_C_API tutti_status tutti_reduce_scatterv(const void* in, void* out, const int64_t* counts, tutti_type type,
                                               tutti_op op, tutti_comm comm, const tutti_options* options);
TUTTI_C_API tutti_status tutti_reduce_scatterv_async(const void* in, void* out, const int64_t* counts, tutti_type type,
                                                     tutti_op op, tutti_comm comm, const tutti_options* options,
                                                     tutti_request* request);
TUTTI_C_API tutti_status tutti_plan_reduce_scatterv(const void* in, void* out, const int64_t* counts, tutti_type type,
                                                    tutti_op op, tutti_comm comm, const tutti_options* options,
                                                    tutti_plan* plan);

/// out[r * count + i] = in[i] of rank r, for all ranks r and i < count.
TUTTI_C_API tutti_status tutti_allgather(const void* in, void* out, int64_t count, tutti_type type, tutti_comm comm,
                                         const tutti_options* options);
TUTTI_C_API tutti_status tutti_allgather_async(const void* in, void* out, int64_t count, tutti_type type,
                                               tutti_comm comm, const tutti_options* options, tutti_request* request);
TUTTI_C_API tutti_status tutti_plan_allgather(const void* in, void* out, int64_t count, tutti_type type,
                                              tutti_comm comm, const tutti_options* options, tutti_plan* plan);

/// Rank r gives counts[r] elements, which every rank gets at offsets[r] of `out`. Counts are the same on all ranks.
TUTTI_C_API tutti_status tutti_allgatherv(const void* in, void* out, const int64_t* counts, const int64_t* offsets,
                                          tutti_type type, tutti_comm comm, const tutti_options* options);
TUTTI_C_API tutti_status tutti_allgatherv_async(const void* in, void* out, const int64_t* counts,
                                                const int64_t* offsets, tutti_type type, tutti_comm comm,
                                                const tutti_options* options, tutti_request* request);
TUTTI_C_API tutti_status tutti_plan_allgatherv(const void* in, void* out, const int64_t* counts, const int64_t* offsets,
                                               tutti_type type, tutti_comm comm, const tutti_options* options,
                                               tutti_plan* plan);

/// On the root, out[r * count + i] = in[i] of rank r, for all ranks r and i < count.
TUTTI_C_API tutti_status tutti_gather(const void* in, void* out, int64_t count, tutti_type type, int root,
                                      tutti_comm comm, const tutti_options* options);
TUTTI_C_API tutti_status tutti_gather_async(const void* in, void* out, int64_t count, tutti_type type, int root,
                                            tutti_comm comm, const tutti_options* options, tutti_request* request);
TUTTI_C_API tutti_status tutti_plan_gather(const void* in, void* out, int64_t count, tutti_type type, int root,
                                           tutti_comm comm, const tutti_options* options, tutti_plan* plan);

/// Rank r gives `count` elements, which the root gets at offsets[r] of `out`. The lists are used on the root only,
/// where counts[r] is the `count` of rank r.
TUTTI_C_API tutti_status tutti_gatherv(const void* in, int64_t count, void* out, const int64_t* counts,
                                       const int64_t* offsets, tutti_type type, int root, tutti_comm comm,
                                       const tutti_options* options);
TUTTI_C_API tutti_status tutti_gatherv_async(const void* in, int64_t count, void* out, const int64_t* counts,
                                             const int64_t* offsets, tutti_type type, int root, tutti_comm comm,
                                             const tutti_options* options, tutti_request* request);
TUTTI_C_API tutti_status tutti_plan_gatherv(const void* in, int64_t count, void* out, const int64_t* counts,
                                            const int64_t* offsets, tutti_type type, int root, tutti_comm comm,
                                            const tutti_options* options, tutti_plan* plan);

/// out[i] of rank r = in[r * count + i] of the root, for all ranks r and i < count.
TUTTI_C_API tutti_status tutti_scatter(const void* in, void* out, int64_t count, tutti_type type, int root,
                                       tutti_comm comm, const tutti_options* options);
TUTTI_C_API tutti_status tutti_scatter_async(const void* in, void* out, int64_t count, tutti_type type, int root,
                                             tutti_comm comm, const tutti_options* options, tutti_request* request);
TUTTI_C_API tutti_status tutti_plan_scatter(const void* in, void* out, int64_t count, tutti_type type, int root,
                                            tutti_comm comm, const tutti_options* options, tutti_plan* plan);

/// Rank r gets counts[r] elements from offsets[r] of the root's `in`. The lists are used on the root only, where
/// counts[r] is the `count` of rank r.
TUTTI_C_API tutti_status tutti_scatterv(const void* in, const int64_t* counts, const int64_t* offsets, void* out,
                                        int64_t count, tutti_type type, int root, tutti_comm comm,
                                        const tutti_options* options);
TUTTI_C_API tutti_status tutti_scatterv_async(const void* in, const int64_t* counts, const int64_t* offsets, void* out,
                                              int64_t count, tutti_type type, int root, tutti_comm comm,
                                              const tutti_options* options, tutti_request* request);
TUTTI_C_API tutti_status tutti_plan_scatterv(const void* in, const int64_t* counts, const int64_t* offsets, void* out,
                                             int64_t count, tutti_type type, int root, tutti_comm comm,
                                             const tutti_options* options, tutti_plan* plan);

/// out[r * count + i] = in[own rank * count + i] of rank r, for all ranks r and i < count.
TUTTI_C_API tutti_status tutti_alltoall(const void* in, void* out, int64_t count, tutti_type type, tutti_comm comm,
                                        const tutti_options* options);
TUTTI_C_API tutti_status tutti_alltoall_async(const void* in, void* out, int64_t count, tutti_type type,
                                              tutti_comm comm, const tutti_options* options, tutti_request* request);
TUTTI_C_API tutti_status tutti_plan_alltoall(const void* in, void* out, int64_t count, tutti_type type, tutti_comm comm,
                                             const tutti_options* options, tutti_plan* plan);

/// in_counts[r] elements go to rank r, out_counts[r] come from it. The lists of `in` are ignored if it is
/// TUTTI_IN_PLACE.
TUTTI_C_API tutti_status tutti_alltoallv(const void* in, const int64_t* in_counts, const int64_t* in_offsets, void* out,
                                         const int64_t* out_counts, const int64_t* out_offsets, tutti_type type,
                                         tutti_comm comm, const tutti_options* options);
TUTTI_C_API tutti_status tutti_alltoallv_async(const void* in, const int64_t* in_counts, const int64_t* in_offsets,
                                               void* out, const int64_t* out_counts, const int64_t* out_offsets,
                                               tutti_type type, tutti_comm comm, const tutti_options* options,
                                               tutti_request* request);
TUTTI_C_API tutti_status tutti_plan_alltoallv(const void* in, const int64_t* in_counts, const int64_t* in_offsets,
                                              void* out, const int64_t* out_counts, const int64_t* out_offsets,
                                              tutti_type type, tutti_comm comm, const tutti_options* options,
                                              tutti_plan* plan);

/// An alltoall with a type for each block. All four lists of counts and offsets are needed, and offsets are bytes.
TUTTI_C_API tutti_status tutti_alltoallw(const void* in, const int64_t* in_counts, const int64_t* in_offsets,
                                         const tutti_type* in_types, void* out, const int64_t* out_counts,
                                         const int64_t* out_offsets, const tutti_type* out_types, tutti_comm comm,
                                         const tutti_options* options);
TUTTI_C_API tutti_status tutti_alltoallw_async(const void* in, const int64_t* in_counts, const int64_t* in_offsets,
                                               const tutti_type* in_types, void* out, const int64_t* out_counts,
                                               const int64_t* out_offsets, const tutti_type* out_types, tutti_comm comm,
                                               const tutti_options* options, tutti_request* request);
TUTTI_C_API tutti_status tutti_plan_alltoallw(const void* in, const int64_t* in_counts, const int64_t* in_offsets,
                                              const tutti_type* in_types, void* out, const int64_t* out_counts,
                                              const int64_t* out_offsets, const tutti_type* out_types, tutti_comm comm,
                                              const tutti_options* options, tutti_plan* plan);

/// out[i] = in[i] of rank 0 (+) ... (+) in[i] of this rank, for i < count.
TUTTI_C_API tutti_status tutti_scan(const void* in, void* out, int64_t count, tutti_type type, tutti_op op,
                                    tutti_comm comm, const tutti_options* options);
TUTTI_C_API tutti_status tutti_scan_async(const void* in, void* out, int64_t count, tutti_type type, tutti_op op,
                                          tutti_comm comm, const tutti_options* options, tutti_request* request);
TUTTI_C_API tutti_status tutti_plan_scan(const void* in, void* out, int64_t count, tutti_type type, tutti_op op,
                                         tutti_comm comm, const tutti_options* options, tutti_plan* plan);

/// A scan without this rank's elements. Rank 0's `out` is unchanged.
TUTTI_C_API tutti_status tutti_exscan(const void* in, void* out, int64_t count, tutti_type type, tutti_op op,
                                      tutti_comm comm, const tutti_options* options);
TUTTI_C_API tutti_status tutti_exscan_async(const void* in, void* out, int64_t count, tutti_type type, tutti_op op,
                                            tutti_comm comm, const tutti_options* options, tutti_request* request);
TUTTI_C_API tutti_status tutti_plan_exscan(const void* in, void* out, int64_t count, tutti_type type, tutti_op op,
                                           tutti_comm comm, const tutti_options* options, tutti_plan* plan);
