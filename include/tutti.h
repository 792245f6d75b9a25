#ifndef TUTTI_H
#define TUTTI_H
// Tutti in C: the collectives of include/tutti/tutti.hpp for programs in C99 and for the foreign-function interfaces of
// other languages. docs/c-api.md is the guide.
//
//     tutti_comm comm;
//     if (tutti_comm_create(MPI_COMM_WORLD, NULL, &comm) != TUTTI_SUCCESS) puts(tutti_last_error());
//     tutti_allreduce(in, out, 1000, TUTTI_FP32, TUTTI_SUM, comm, NULL);
//     tutti_comm_free(&comm);
//
// - Functions return a tutti_status; no exception leaves them. Text about errors: tutti/c/status.h.
// - Handles (tutti_comm, tutti_request, tutti_plan, tutti_batch, tutti_op, tutti_compressed) are pointers to objects
//   that the library owns. Functions that make one store it in their last argument, and store NULL if they fail.
//   Functions that free one take its address and set it to NULL. A NULL handle is an argument error; only freeing NULL
//   does nothing.
// - Text and lists that a function stores by pointer belong to the handle that was asked, until the same function is
//   called with it again or it is freed; those of no handle are valid until the process ends.
// - A handle is used by one thread at a time.
// - Rules of use, shapes, errors and costs of a function are those of its namesake in C++ (tutti_allreduce:
//   tutti::allreduce). Where that throws, this one returns a status.
// - Structures with a member `size` begin with an initialiser (tutti_options: TUTTI_OPTIONS_INIT), so that they can
//   grow. Until version 1.0.0, programs are compiled anew for each minor version, which the name of the library has.

#include "tutti/c/array_reduction.h"
#include "tutti/c/collectives.h"
#include "tutti/c/communicator.h"
#include "tutti/c/compression.h"
#include "tutti/c/environment.h"
#include "tutti/c/lists.h"
#include "tutti/c/memory.h"
#include "tutti/c/messages.h"
#include "tutti/c/operations.h"
#include "tutti/c/requests.h"
#include "tutti/c/status.h"
#include "tutti/c/types.h"
#include "tutti/version.h"

#endif
