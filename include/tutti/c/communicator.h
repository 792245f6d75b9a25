#pragma once
// The ranks that take part in collectives, and where they are. tutti/communicator.hpp has the rules of use.

#include <stddef.h>

#include "tutti/c/types.h"

/// Settings for making a communicator; those of rank 0 count. NULL is the default of each (CommunicatorOptions).
typedef struct tutti_comm_options {
  size_t size;             ///< sizeof(tutti_comm_options)
  const char* algorithms;  ///< "allreduce=ring,broadcast=chain/64K"
  const char* transport;   ///< "auto", "shm", "mpi", "ucx", "shm+ucx"
  const char* buffers;     ///< "auto", "host", "device", "tutti"
  int forms_match;         ///< 1: blocking, nonblocking and persistent calls match each other.
  const char* rules;       ///< "FILE", "FILE:FILE", "none"
  const char* bits;        ///< Of reductions: "same", "fixed"
} tutti_comm_options;
#define TUTTI_COMM_OPTIONS_INIT \
  { sizeof(tutti_comm_options), NULL, NULL, NULL, 0, NULL, NULL }

/// Collective over `mpi_comm`, of which the communicator is independent afterwards. `options` may be NULL.
TUTTI_C_API tutti_status tutti_comm_create(MPI_Comm mpi_comm, const tutti_comm_options* options, tutti_comm* comm);
/// Makes a communicator from the number by which Fortran knows one of MPI.
TUTTI_C_API tutti_status tutti_comm_create_f(int mpi_comm, const tutti_comm_options* options, tutti_comm* comm);
/// Completes the operations in flight. Later calls are state errors. May be repeated.
TUTTI_C_API tutti_status tutti_comm_close(tutti_comm comm);
/// Closes it without waiting for anybody: its operations under way on this rank fail at once with `why` (NULL: no
/// text), ranks that wait for this one are told, later calls are state errors (Communicator::abort). Local.
TUTTI_C_API tutti_status tutti_comm_abort(tutti_comm comm, const char* why);
TUTTI_C_API tutti_status tutti_comm_is_open(tutti_comm comm, int* is_open);
/// Closes and frees it. Requests, plans and batches may be freed later.
TUTTI_C_API tutti_status tutti_comm_free(tutti_comm* comm);

TUTTI_C_API tutti_status tutti_comm_rank(tutti_comm comm, int* rank);
TUTTI_C_API tutti_status tutti_comm_size(tutti_comm comm, int* size);

/// Nodes are the groups of ranks that share memory, numbered by their lowest rank.
TUTTI_C_API tutti_status tutti_comm_node_count(tutti_comm comm, int* count);
TUTTI_C_API tutti_status tutti_comm_node_of(tutti_comm comm, int rank, int* node);
/// Some ranks of a communicator. `me`: the place of this rank in the list, or -1.
typedef struct tutti_group {
  const int* ranks;
  int count;
  int me;
} tutti_group;
/// The ranks of this rank's node.
TUTTI_C_API tutti_status tutti_comm_node(tutti_comm comm, tutti_group* group);
/// The lowest rank of each node.
TUTTI_C_API tutti_status tutti_comm_leaders(tutti_comm comm, tutti_group* group);

/// Why the communicator cannot be used any more; "": it works.
TUTTI_C_API tutti_status tutti_comm_status(tutti_comm comm, const char** text);

/// What carries messages.
enum tutti_transports { TUTTI_TRANSPORT_SHM = 0, TUTTI_TRANSPORT_MPI = 1, TUTTI_TRANSPORT_NETWORK = 2 };
/// Messages that this rank has posted, and their bytes.
typedef struct tutti_messages {
  uint64_t sent, received, sent_bytes, received_bytes;
} tutti_messages;
/// The messages over one transport since the communicator was made.
TUTTI_C_API tutti_status tutti_comm_messages(tutti_comm comm, int transport, tutti_messages* messages);

typedef struct tutti_counter {
  const char* name;
  uint64_t value;
} tutti_counter;
/// All counters of this rank, as "shm.tutti_memory.get", by name (Communicator::counters).
TUTTI_C_API tutti_status tutti_comm_counters(tutti_comm comm, const tutti_counter** counters, int* count);
/// One of them.
TUTTI_C_API tutti_status tutti_comm_counter(tutti_comm comm, const char* name, uint64_t* value);
