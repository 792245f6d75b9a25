#pragma once
// Options of calls, operations under way, and operations prepared to run many times. tutti/request.hpp has the rules.

#include <stddef.h>

#include "tutti/c/types.h"

/// Options of one call; calls take NULL for none.
typedef struct tutti_options {
  size_t size;             ///< sizeof(tutti_options)
  const char* algorithm;   ///< "ring", "knomial:4", "chain/64K"; NULL: the communicator's, or Tutti's choice.
  int has_stream;          ///< 1: the call takes its place in `stream`.
  void* stream;            ///< A CUstream or cudaStream_t; NULL is the legacy stream.
  const char* bits;        ///< Of a reduction: "same", or "fixed" (Options::bits); NULL: the communicator's.
  const char* accumulate;  ///< Of a sum: "fp32" or "fp64", in which it is added (Options::accumulate); NULL: neither.
  const char* rounding;    ///< Of such a sum: "nearest", or "stochastic" (Options::rounding); NULL: nearest.
} tutti_options;
#define TUTTI_OPTIONS_INIT \
  { sizeof(tutti_options), NULL, 0, NULL, NULL, NULL, NULL }

/// Returns when the operation is complete on this rank. Then the request is freed and set to NULL. After an error it
/// remains, to be freed by tutti_request_free.
TUTTI_C_API tutti_status tutti_request_wait(tutti_request* request);
/// Makes progress, never blocks. If the operation is complete, `is_complete` becomes 1, and the request is freed and
/// set to NULL; otherwise it becomes 0.
TUTTI_C_API tutti_status tutti_request_test(tutti_request* request, int* is_complete);
/// Waits as tutti_request_wait, but no longer than so many seconds, to some milliseconds. If the operation is complete,
/// `is_complete` becomes 1, and the request is freed and set to NULL; otherwise it becomes 0, and the operation goes
/// on.
TUTTI_C_API tutti_status tutti_request_wait_for(tutti_request* request, double seconds, int* is_complete);
/// Takes a receive with a tag back that no message has met: `is_cancelled` becomes 1, and the request is freed and set
/// to NULL. Otherwise it becomes 0, and nothing has happened; tutti_comm_abort ends other operations.
TUTTI_C_API tutti_status tutti_request_cancel(tutti_request* request, int* is_cancelled);
/// Waits if the operation is pending, and drops its error.
TUTTI_C_API tutti_status tutti_request_free(tutti_request* request);

TUTTI_C_API tutti_status tutti_plan_start(tutti_plan plan);
/// Returns when the plan is complete on this rank, at once if it was not started.
TUTTI_C_API tutti_status tutti_plan_wait(tutti_plan plan);
TUTTI_C_API tutti_status tutti_plan_test(tutti_plan plan, int* is_complete);
/// Waits as tutti_plan_wait, but no longer than so many seconds; `is_complete` becomes 1 or 0.
TUTTI_C_API tutti_status tutti_plan_wait_for(tutti_plan plan, double seconds, int* is_complete);
/// The algorithm's name; "" if the plan is no collective.
TUTTI_C_API tutti_status tutti_plan_algorithm(tutti_plan plan, const char** name);
/// The algorithm that runs, and why.
TUTTI_C_API tutti_status tutti_plan_explain(tutti_plan plan, const char** text);
/// Waits if it was started.
TUTTI_C_API tutti_status tutti_plan_free(tutti_plan* plan);
