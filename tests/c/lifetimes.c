/* A program whose arguments say what it does, in order, and what it leaves to functions of atexit(), which run in the
   opposite order. With TUTTI_NATIVE it calls Tutti's interface in C, else MPI alone: for preloading.
     init             MPI_Init
     threads          MPI_Init_thread, with MPI_THREAD_MULTIPLE
     comm             makes a communicator, which stays open (a duplicate for MPI)
     call             a collective on it
     begin            begins a nonblocking collective on it
     gapped           the same of a type with gaps, to every rank (MPI alone)
     end              completes that
     ahead            a broadcast that comes first on its communicator, whose root waits for nobody (MPI alone)
     close            closes the communicator
     finalize         MPI_Finalize
     attribute-WORD   at MPI_Finalize, in a callback of an attribute of MPI_COMM_SELF
     exit-WORD        at exit
     thread-WORD      in a thread of its own
   A collective after MPI_Finalize has to be refused (with MPI alone it is left out). "done" is printed after the last
   of all. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef TUTTI_NATIVE
#include "tutti.h"
static tutti_comm comm = NULL;
static tutti_request request = NULL;
#else
static MPI_Comm comm = MPI_COMM_NULL;
static MPI_Request request = MPI_REQUEST_NULL;
static MPI_Datatype type = MPI_DATATYPE_NULL;
#endif

static int ranks = 1, rank = 0, steps = 0, steps_wanted = 0;
static int mine[64], sum[64];

static void require(int is_right, const char* what) {
  if (is_right) return;
#ifdef TUTTI_NATIVE
  fprintf(stderr, "FAILED on rank %d: %s: %s\n", rank, what, tutti_last_error());
#else
  fprintf(stderr, "FAILED on rank %d: %s\n", rank, what);
#endif
  fflush(NULL);
  _exit(1);
}

static int is_finalized(void) {
  int is = 0;
  MPI_Finalized(&is);
  return is;
}

static void fill(int* in, int* out) {
  for (int i = 0; i < 64; ++i) {
    in[i] = rank + i;
    out[i] = -1;
  }
}

static void require_sum(const int* out) {
  for (int i = 0; i < 64; ++i)
    require(out[i] == ranks * (ranks - 1) / 2 + ranks * i, "a wrong sum");
}

/* A nonblocking call may be under way, which has other buffers. */
static void call(void) {
  int in[64], out[64];
  fill(in, out);
#ifdef TUTTI_NATIVE
  const tutti_status status = tutti_allreduce(in, out, 64, TUTTI_INT32, TUTTI_SUM, comm, NULL);
  if (is_finalized() || comm == NULL) {
    require(status != TUTTI_SUCCESS && strlen(tutti_last_error()) > 0, "a call after MPI_Finalize was not refused");
    return;
  }
  require(status == TUTTI_SUCCESS, "tutti_allreduce");
#else
  if (is_finalized()) return;
  require(MPI_Allreduce(in, out, 64, MPI_INT, MPI_SUM, comm) == MPI_SUCCESS, "MPI_Allreduce");
#endif
  require_sum(out);
}

/* The program's own copies alone may copy its attributes. */
#ifdef TUTTI_NATIVE
static int refuse_copy(MPI_Comm of, int key, void* extra, void* value, void* copy, int* flag) {
  (void)of, (void)key, (void)extra, (void)value, (void)copy, (void)flag;
  require(0, "an attribute of the program was copied");
  return MPI_SUCCESS;
}
#else
static int refuse_copy(MPI_Datatype of, int key, void* extra, void* value, void* copy, int* flag) {
  (void)of, (void)key, (void)extra, (void)value, (void)copy, (void)flag;
  require(0, "an attribute of the program was copied");
  return MPI_SUCCESS;
}
#endif

static void make(void) {
#ifdef TUTTI_NATIVE
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(refuse_copy, MPI_COMM_NULL_DELETE_FN, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_WORLD, key, NULL);
  require(tutti_comm_create(MPI_COMM_WORLD, NULL, &comm) == TUTTI_SUCCESS, "tutti_comm_create");
#else
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  for (int i = 0; i < 16; ++i) /* so that a preloaded library gets to know it */
    MPI_Barrier(comm);
#endif
}

static void begin(void) {
  fill(mine, sum);
#ifdef TUTTI_NATIVE
  require(tutti_allreduce_async(mine, sum, 64, TUTTI_INT32, TUTTI_SUM, comm, NULL, &request) == TUTTI_SUCCESS,
          "tutti_allreduce_async");
#else
  MPI_Iallreduce(mine, sum, 64, MPI_INT, MPI_SUM, comm, &request);
#endif
}

/* Every second element of rank 0's. */
static void begin_gapped(void) {
#ifndef TUTTI_NATIVE
  fill(mine, sum);
  int key = MPI_KEYVAL_INVALID;
  MPI_Type_create_keyval(refuse_copy, MPI_TYPE_NULL_DELETE_FN, &key, NULL);
  MPI_Type_vector(32, 1, 2, MPI_INT, &type);
  MPI_Type_set_attr(type, key, NULL);
  MPI_Type_commit(&type);
  for (int i = 0; i < 64; ++i)
    sum[i] = rank == 0 ? i : -1;
  MPI_Ibcast(sum, 1, type, 0, comm, &request);
#endif
}

/* Rank 1 calls after it has heard of rank 0, which then has to be done with its part. */
static void be_ahead(void) {
#ifndef TUTTI_NATIVE
  MPI_Comm fresh = MPI_COMM_NULL;
  int value = rank == 0 ? 7 : 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &fresh);
  if (rank == 1) MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Bcast(&value, 1, MPI_INT, 0, fresh);
  if (rank == 0 && ranks > 1) MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
  require(value == 7, "a wrong broadcast");
  MPI_Comm_free(&fresh);
#endif
}

static void end(void) {
#ifdef TUTTI_NATIVE
  if (is_finalized()) return; /* MPI_Finalize has completed it */
  require(tutti_request_wait(&request) == TUTTI_SUCCESS, "tutti_request_wait");
#else
  if (is_finalized()) return;
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (type != MPI_DATATYPE_NULL) {
    for (int i = 0; i < 64; i += 2)
      require(sum[i] == i, "a wrong element");
    for (int i = 1; i < 64; i += 2)
      require(sum[i] == (rank == 0 ? i : -1), "an element in a gap was written");
    MPI_Type_free(&type);
    return;
  }
#endif
  require_sum(sum);
}

static void close_it(void) {
#ifdef TUTTI_NATIVE
  tutti_comm_free(&comm);
#else
  if (!is_finalized()) MPI_Comm_free(&comm);
#endif
}

static void do_word(const char* word);

/* What is left for later: the words, by the order in which they were left. */
static const char* at_exit[16];
static int at_exits = 0;

static void exit_step(void) { do_word(at_exit[--at_exits]); }

static int attribute_step(MPI_Comm self, int key, void* word, void* extra) {
  (void)self, (void)key, (void)extra;
  do_word((const char*)word);
  return MPI_SUCCESS;
}

static void at_finalize(const char* word) {
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, attribute_step, &key, NULL);
  MPI_Comm_set_attr(MPI_COMM_SELF, key, (void*)word);
  MPI_Comm_free_keyval(&key);
}

static void* thread_step(void* word) {
  do_word((const char*)word);
  return NULL;
}

static void in_thread(const char* word) {
  pthread_t thread;
  require(pthread_create(&thread, NULL, thread_step, (void*)word) == 0, "no thread");
  pthread_join(thread, NULL);
}

static void know_world(void) {
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

static void do_word(const char* word) {
  ++steps;
  if (strncmp(word, "exit-", 5) == 0) {
    at_exit[at_exits++] = word + 5;
    atexit(exit_step);
  } else if (strncmp(word, "attribute-", 10) == 0) {
    at_finalize(word + 10);
  } else if (strncmp(word, "thread-", 7) == 0) {
    in_thread(word + 7);
  } else if (strcmp(word, "init") == 0) {
    MPI_Init(NULL, NULL);
    know_world();
  } else if (strcmp(word, "threads") == 0) {
    int provided = 0;
    MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
    know_world();
  } else if (strcmp(word, "comm") == 0) {
    make();
  } else if (strcmp(word, "call") == 0) {
    call();
  } else if (strcmp(word, "begin") == 0) {
    begin();
  } else if (strcmp(word, "gapped") == 0) {
    begin_gapped();
  } else if (strcmp(word, "ahead") == 0) {
    be_ahead();
  } else if (strcmp(word, "end") == 0) {
    end();
  } else if (strcmp(word, "close") == 0) {
    close_it();
  } else if (strcmp(word, "finalize") == 0) {
    MPI_Finalize();
  } else {
    require(0, word);
  }
}

static void tell(void) {
  require(steps == steps_wanted, "not all steps were made");
  printf("done\n");
}

int main(int argc, char** argv) {
  atexit(tell);
  for (int i = 1; i < argc; ++i)
    steps_wanted += strchr(argv[i], '-') == NULL ? 1 : 2;
  for (int i = 1; i < argc; ++i)
    do_word(argv[i]);
  return 0;
}
