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
/// Sends and receives at once; the two ranks may differ, or be this one.
TUTTI_C_API tutti_status tutti_sendrecv(const void* out, int64_t out_count, int to, void* in, int64_t in_count,
                                        int from, tutti_type type, tutti_comm comm);
TUTTI_C_API tutti_status tutti_sendrecv_async(const void* out, int64_t out_count, int to, void* in, int64_t in_count,
                                              int from, tutti_type type, tutti_comm comm, tutti_request* request);
TUTTI_C_API tutti_status tutti_plan_sendrecv(const void* out, int64_t out_count, int to, void* in, int64_t in_count,
                                             int from, tutti_type type, tutti_comm comm, tutti_plan* plan);
