#pragma once
// Reductions of an array that is distributed over the ranks. Their bits do not depend on the number of ranks or on the
// cuts between them (docs/reproducibility.md); tutti/array_reduction.hpp says in which order elements are combined.
//
// Each rank has a block: `count` elements at `x`, the first of which is number `*offset` of the array. With NULL as
// offset on all ranks, blocks follow each other in the order of ranks. Blocks may be empty. `*result` gets one element,
// the same on all ranks. Collective over `comm`; TUTTI_ERROR_ARGUMENT on all ranks if blocks overlap or leave a gap.

#include "tutti/c/operations.h"
#include "tutti/c/requests.h"
#include "tutti/c/types.h"

/// The sum of all elements; 0 if there are none.
TUTTI_C_API tutti_status tutti_sum(const void* x, int64_t count, const int64_t* offset, tutti_type type, void* result,
                                   tutti_comm comm);
/// The sum of x[i] * y[i], each product rounded; 0 if there are none. TUTTI_FP32 or TUTTI_FP64.
TUTTI_C_API tutti_status tutti_dot(const void* x, const void* y, int64_t count, const int64_t* offset, tutti_type type,
                                   void* result, tutti_comm comm);
/// The square root of the sum of squares, without needless overflow. TUTTI_FP32 or TUTTI_FP64.
TUTTI_C_API tutti_status tutti_norm2(const void* x, int64_t count, const int64_t* offset, tutti_type type, void* result,
                                     tutti_comm comm);
/// Element 0 (+) element 1 (+) ..., in this order, in groups: any associative operation but TUTTI_AVG and scaled sums.
/// TUTTI_ERROR_ARGUMENT if there are no elements; sums, TUTTI_EXACT_SUM too, are 0 then.
TUTTI_C_API tutti_status tutti_reduce_array(const void* x, int64_t count, const int64_t* offset, tutti_type type,
                                            tutti_op op, void* result, tutti_comm comm);
