#pragma once
// Collectives of lists of buffers: one call, in which short buffers share their messages. tutti/lists.hpp has the
// rules; the three forms are those of tutti/c/collectives.h.

#include "tutti/c/requests.h"
#include "tutti/c/types.h"

/// One of the buffers of a list, as the ordinary call takes it. In place: TUTTI_IN_PLACE as `in`, or what that stands
/// for; in a broadcast the same address twice.
typedef struct tutti_listed_buffer {
  const void* in;
  void* out;
  int64_t count;
} tutti_listed_buffer;

// `buffers` has `size` entries, and is not used after the function has returned; it may be NULL if there are none.

TUTTI_C_API tutti_status tutti_allreduce_list(const tutti_listed_buffer* buffers, int64_t size, tutti_type type,
                                              tutti_op op, tutti_comm comm, const tutti_options* options);
TUTTI_C_API tutti_status tutti_allreduce_list_async(const tutti_listed_buffer* buffers, int64_t size, tutti_type type,
                                                    tutti_op op, tutti_comm comm, const tutti_options* options,
                                                    tutti_request* request);
TUTTI_C_API tutti_status tutti_plan_allreduce_list(const tutti_listed_buffer* buffers, int64_t size, tutti_type type,
                                                   tutti_op op, tutti_comm comm, const tutti_options* options,
                                                   tutti_plan* plan);

/// `in` is read on the root only, `out` written.
TUTTI_C_API tutti_status tutti_broadcast_list(const tutti_listed_buffer* buffers, int64_t size, tutti_type type,
                                              int root, tutti_comm comm, const tutti_options* options);
TUTTI_C_API tutti_status tutti_broadcast_list_async(const tutti_listed_buffer* buffers, int64_t size, tutti_type type,
                                                    int root, tutti_comm comm, const tutti_options* options,
                                                    tutti_request* request);
TUTTI_C_API tutti_status tutti_plan_broadcast_list(const tutti_listed_buffer* buffers, int64_t size, tutti_type type,
                                                   int root, tutti_comm comm, const tutti_options* options,
                                                   tutti_plan* plan);

/// The counts are those of a rank's block.
TUTTI_C_API tutti_status tutti_allgather_list(const tutti_listed_buffer* buffers, int64_t size, tutti_type type,
                                              tutti_comm comm, const tutti_options* options);
TUTTI_C_API tutti_status tutti_allgather_list_async(const tutti_listed_buffer* buffers, int64_t size, tutti_type type,
                                                    tutti_comm comm, const tutti_options* options,
                                                    tutti_request* request);
TUTTI_C_API tutti_status tutti_plan_allgather_list(const tutti_listed_buffer* buffers, int64_t size, tutti_type type,
                                                   tutti_comm comm, const tutti_options* options, tutti_plan* plan);

/// The counts are those of a rank's block.
TUTTI_C_API tutti_status tutti_reduce_scatter_list(const tutti_listed_buffer* buffers, int64_t size, tutti_type type,
                                                   tutti_op op, tutti_comm comm, const tutti_options* options);
TUTTI_C_API tutti_status tutti_reduce_scatter_list_async(const tutti_listed_buffer* buffers, int64_t size,
                                                         tutti_type type, tutti_op op, tutti_comm comm,
                                                         const tutti_options* options, tutti_request* request);
TUTTI_C_API tutti_status tutti_plan_reduce_scatter_list(const tutti_listed_buffer* buffers, int64_t size,
                                                        tutti_type type, tutti_op op, tutti_comm comm,
                                                        const tutti_options* options, tutti_plan* plan);
