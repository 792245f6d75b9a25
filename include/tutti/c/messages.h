#pragma once
// Messages between two ranks, and batches of them. tutti/batch.hpp has the rules.

#include "tutti/c/types.h"

/// Sends and receives that run as one, in any order of adding.
TUTTI_C_API tutti_status tutti_batch_create(tutti_comm comm, tutti_batch* batch);
TUTTI_C_API tutti_status tutti_batch_send(tutti_batch batch, const void* data, int64_t count, tutti_type type, int to);
TUTTI_C_API tutti_status tutti_batch_recv(tutti_batch batch, void* data, int64_t count, tutti_type type, int from);
/// Blocking, nonblocking, persistent. The batch is not changed and may be run again.
TUTTI_C_API tutti_status tutti_batch_run(tutti_batch batch);
TUTTI_C_API tutti_status tutti_batch_start(tutti_batch batch, tutti_request* request);
TUTTI_C_API tutti_status tutti_batch_plan(tutti_batch batch, tutti_plan* plan);
TUTTI_C_API tutti_status tutti_batch_free(tutti_batch* batch);

TUTTI_C_API tutti_status tutti_send(const void* data, int64_t count, tutti_type type, int to, tutti_comm comm);
TUTTI_C_API tutti_status tutti_send_async(const void* data, int64_t count, tutti_type type, int to, tutti_comm comm,
                                          tutti_request* request);
TUTTI_C_API tutti_status tutti_plan_send(const void* data, int64_t count, tutti_type type, int to, tutti_comm comm,
                                         tutti_plan* plan);
TUTTI_C_API tutti_status tutti_recv(void* data, int64_t count, tutti_type type, int from, tutti_comm comm);
TUTTI_C_API tutti_status tutti_recv_async(void* data, int64_t count, tutti_type type, int from, tutti_comm comm,
                                          tutti_request* request);
TUTTI_C_API tutti_status tutti_plan_recv(void* data, int64_t count, tutti_type type, int from, tutti_comm comm,
                                         tutti_plan* plan);
/// Messages with tags, 0 to 2^31 - 1, which meet only receives with a tag; also to this rank itself (Batch). `from` may
/// be MPI_ANY_SOURCE, `tag` of a receive MPI_ANY_TAG; the message may be shorter than `count`.
typedef struct tutti_message {
  int source;
  int tag;
  int64_t count;  ///< Whole elements of the type of the receive.
} tutti_message;
TUTTI_C_API tutti_status tutti_send_tagged(const void* data, int64_t count, tutti_type type, int to, int tag,
                                           tutti_comm comm);
TUTTI_C_API tutti_status tutti_send_tagged_async(const void* data, int64_t count, tutti_type type, int to, int tag,
                                                 tutti_comm comm, tutti_request* request);
/// `message` tells what came; it may be NULL.
TUTTI_C_API tutti_status tutti_recv_tagged(void* data, int64_t count, tutti_type type, int from, int tag,
                                           tutti_comm comm, tutti_message* message);
/// Starts a receive with a tag. `message` is written when the request is complete, and stays until then.
TUTTI_C_API tutti_status tutti_recv_tagged_async(void* data, int64_t count, tutti_type type, int from, int tag,
                                                 tutti_comm comm, tutti_message* message, tutti_request* request);
TUTTI_C_API tutti_status tutti_batch_send_tagged(tutti_batch batch, const void* data, int64_t count, tutti_type type,
                                                 int to, int tag);
/// `message` is written in each run of the batch, and stays until the last is over.
TUTTI_C_API tutti_status tutti_batch_recv_tagged(tutti_batch batch, void* data, int64_t count, tutti_type type,
                                                 int from, int tag, tutti_message* message);
/// Sends and receives at once; the two ranks may differ, or be this one.
TUTTI_C_API tutti_status tutti_sendrecv(const void* out, int64_t out_count, int to, void* in, int64_t in_count,
                                        int from, tutti_type type, tutti_comm comm);
TUTTI_C_API tutti_status tutti_sendrecv_async(const void* out, int64_t out_count, int to, void* in, int64_t in_count,
                                              int from, tutti_type type, tutti_comm comm, tutti_request* request);
TUTTI_C_API tutti_status tutti_plan_sendrecv(const void* out, int64_t out_count, int to, void* in, int64_t in_count,
                                             int from, tutti_type type, tutti_comm comm, tutti_plan* plan);
