#pragma once
// Element types and handles. tutti/datatype.hpp describes the types.

#include <mpi.h>
#include <stdint.h>

#include "tutti/c/export.h"
#include "tutti/c/status.h"

typedef struct tutti_comm_object* tutti_comm;
typedef struct tutti_request_object* tutti_request;
typedef struct tutti_plan_object* tutti_plan;
typedef struct tutti_batch_object* tutti_batch;
typedef struct tutti_op_object* tutti_op;

/// A value of enum tutti_types. An int, so that a wrong number is an error and not undefined.
typedef int tutti_type;
enum tutti_types {
  TUTTI_INT8 = 0,
  TUTTI_INT16 = 1,
  TUTTI_INT32 = 2,
  TUTTI_INT64 = 3,
  TUTTI_UINT8 = 4,
  TUTTI_UINT16 = 5,
  TUTTI_UINT32 = 6,
  TUTTI_UINT64 = 7,
  TUTTI_FP8_E4M3 = 8,
  TUTTI_FP8_E5M2 = 9,
  TUTTI_FP16 = 10,
  TUTTI_BF16 = 11,
  TUTTI_FP32 = 12,
  TUTTI_FP64 = 13,
  TUTTI_COMPLEX_FP32 = 14,
  TUTTI_COMPLEX_FP64 = 15,
  TUTTI_BOOL = 16  ///< A byte that is 0 or 1.
};

/// A value of enum tutti_collectives.
typedef int tutti_collective;
enum tutti_collectives {
  TUTTI_BARRIER = 0,
  TUTTI_BROADCAST = 1,
  TUTTI_REDUCE = 2,
  TUTTI_ALLREDUCE = 3,
  TUTTI_REDUCE_SCATTER = 4,
  TUTTI_ALLGATHER = 5,
  TUTTI_GATHER = 6,
  TUTTI_SCATTER = 7,
  TUTTI_ALLTOALL = 8,
  TUTTI_SCAN = 9,
  TUTTI_EXSCAN = 10
};

/// Given as the input (in scatter: the output) of a collective: the data are in the other buffer.
#define TUTTI_IN_PLACE MPI_IN_PLACE
/// TUTTI_IN_PLACE for languages that cannot read the header: its value differs between MPIs.
TUTTI_C_API void* tutti_in_place(void);
/// A buffer that stands for a section of an array that is not contiguous, which no call can use. Calls that would use
/// it end with TUTTI_ERROR_ARGUMENT and "not contiguous". For interfaces of languages that have such sections.
TUTTI_C_API void* tutti_not_contiguous(void);

/// Bytes of one element.
TUTTI_C_API tutti_status tutti_type_size(tutti_type type, int64_t* bytes);
/// "fp32".
TUTTI_C_API tutti_status tutti_type_name(tutti_type type, const char** name);
/// "allreduce".
TUTTI_C_API tutti_status tutti_collective_name(tutti_collective collective, const char** name);
/// "ring, knomial, ...": the algorithms that can be named for a collective.
TUTTI_C_API tutti_status tutti_algorithm_names(tutti_collective collective, const char** names);

/// `count` elements of a floating-point type of 8 or 16 bits, from and to float: C has no such types. To nearest, ties
/// to even; tutti/datatype.hpp says what happens to numbers that are too large, and to NaNs.
TUTTI_C_API tutti_status tutti_from_float(const float* in, void* out, int64_t count, tutti_type type);
TUTTI_C_API tutti_status tutti_to_float(const void* in, float* out, int64_t count, tutti_type type);
