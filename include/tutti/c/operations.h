#pragma once
// Operations that combine elements. tutti/op.hpp describes them.

#include "tutti/c/types.h"

/// Operations by number, for languages without casts of C: a tutti_op of one of these values is that operation.
enum tutti_op_codes {
  TUTTI_OP_SUM = 1,
  TUTTI_OP_PROD = 2,
  TUTTI_OP_MIN = 3,
  TUTTI_OP_MAX = 4,
  TUTTI_OP_AVG = 5,
  TUTTI_OP_LAND = 6,
  TUTTI_OP_LOR = 7,
  TUTTI_OP_LXOR = 8,
  TUTTI_OP_BAND = 9,
  TUTTI_OP_BOR = 10,
  TUTTI_OP_BXOR = 11,
  TUTTI_OP_EXACT_SUM = 12  ///< Rounded once: fp16, bf16, fp32, fp64 and complex numbers.
};
#define TUTTI_SUM ((tutti_op)(intptr_t)TUTTI_OP_SUM)
#define TUTTI_PROD ((tutti_op)(intptr_t)TUTTI_OP_PROD)
#define TUTTI_MIN ((tutti_op)(intptr_t)TUTTI_OP_MIN)
#define TUTTI_MAX ((tutti_op)(intptr_t)TUTTI_OP_MAX)
#define TUTTI_AVG ((tutti_op)(intptr_t)TUTTI_OP_AVG)
#define TUTTI_LAND ((tutti_op)(intptr_t)TUTTI_OP_LAND)
#define TUTTI_LOR ((tutti_op)(intptr_t)TUTTI_OP_LOR)
#define TUTTI_LXOR ((tutti_op)(intptr_t)TUTTI_OP_LXOR)
#define TUTTI_BAND ((tutti_op)(intptr_t)TUTTI_OP_BAND)
#define TUTTI_BOR ((tutti_op)(intptr_t)TUTTI_OP_BOR)
#define TUTTI_BXOR ((tutti_op)(intptr_t)TUTTI_OP_BXOR)
#define TUTTI_EXACT_SUM ((tutti_op)(intptr_t)TUTTI_OP_EXACT_SUM)

/// The sum, multiplied once at the end by `scale`, which is the same on all ranks. Floating-point and complex only.
TUTTI_C_API tutti_status tutti_op_create_scaled_sum(double scale, tutti_op* op);

/// A user's operation: into[i] = lhs[i] (+) rhs[i] for i < count, where `lhs` comes from lower ranks than `rhs`. `into`
/// may be `lhs` or `rhs`. It must be associative and the same on all ranks, and must not call Tutti, except to ask a
/// communicator (tutti_comm_rank).
typedef void (*tutti_user_function)(const void* lhs, const void* rhs, void* into, int64_t count, void* context);

/// `is_commutative` is 0 or 1. `context` is handed to every call of `function`. `device_kernel` is NULL, or the handle
/// of a CUDA kernel that does the same on a device (DeviceKernel in tutti/op.hpp); without one, data of devices are
/// combined on the host.
TUTTI_C_API tutti_status tutti_op_create_user(tutti_user_function function, int is_commutative, void* context,
                                              void* device_kernel, tutti_op* op);
/// Frees an operation that was created, when all calls with it are over and all plans with it are freed. Operations by
/// number are set to NULL, too.
TUTTI_C_API tutti_status tutti_op_free(tutti_op* op);

/// "sum", "scaled_sum", "user", ...
TUTTI_C_API tutti_status tutti_op_name(tutti_op op, const char** name);
/// Whether the operation is defined for the type: 1 or 0.
TUTTI_C_API tutti_status tutti_op_supports(tutti_op op, tutti_type type, int* is_supported);
