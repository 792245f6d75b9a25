// Every collective with blocks of one size, in every form, in place and not, against the MPI's own.
#define _POSIX_C_SOURCE 199309L  // for the clock
#include <stdlib.h>
#include <time.h>

#include "tests/c/check.h"

enum { most = 1100 };  // elements of a block
static int32_t *in, *out, *wanted;

/// The input of this rank, and outputs that no collective gives.
static void fill(int seed) {
  for (int i = 0; i < most * check_size; ++i) {
    in[i] = (int32_t)((seed * 7 + check_rank * 1001 + i * 13) % 1000);
    out[i] = wanted[i] = -1;
  }
}

/// The first so many elements of the output are the MPI's.
static void compare(const char* what, int form, int64_t elements) {
  for (int64_t i = 0; i < elements; ++i) {
    char more[200];
    if (out[i] == wanted[i]) continue;
    snprintf(more, sizeof(more), "form %d: element %d of %d is %d, the MPI's %d", form, (int)i, (int)elements, out[i],
             wanted[i]);
    check_failed(__FILE__, __LINE__, what, more);
    return;
  }
}

static void copy_input(int64_t elements) {
  if (elements > 0) memcpy(out, in, (size_t)elements * sizeof(int32_t));
}

static void test_reductions(int form, int n) {
  const int all = n * check_size, root = n % check_size;
  fill(n);
  MPI_Allreduce(in, wanted, n, MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD);
  RUN(form, allreduce, in, out, n, TUTTI_INT32, TUTTI_SUM);
  compare("allreduce", form, most);
  copy_input(n);
  RUN(form, allreduce, TUTTI_IN_PLACE, out, n, TUTTI_INT32, TUTTI_SUM);
  compare("allreduce in place", form, most);

  fill(n + 1);
  MPI_Reduce(in, wanted, n, MPI_INT32_T, MPI_MAX, root, MPI_COMM_WORLD);
  RUN(form, reduce, in, out, n, TUTTI_INT32, TUTTI_MAX, root);
  compare("reduce", form, check_rank == root ? n : 0);
  copy_input(n);
  RUN(form, reduce, check_rank == root ? TUTTI_IN_PLACE : in, out, n, TUTTI_INT32, TUTTI_MAX, root);
  compare("reduce in place", form, check_rank == root ? n : 0);

  fill(n + 2);
  MPI_Reduce_scatter_block(in, wanted, n, MPI_INT32_T, MPI_MIN, MPI_COMM_WORLD);
  RUN(form, reduce_scatter, in, out, n, TUTTI_INT32, TUTTI_MIN);
  compare("reduce_scatter", form, n);
  copy_input(all);
  RUN(form, reduce_scatter, TUTTI_IN_PLACE, out, n, TUTTI_INT32, TUTTI_MIN);
  compare("reduce_scatter in place", form, n);

  fill(n + 3);
  MPI_Scan(in, wanted, n, MPI_INT32_T, MPI_BXOR, MPI_COMM_WORLD);
  RUN(form, scan, in, out, n, TUTTI_INT32, TUTTI_BXOR);
  compare("scan", form, most);
  copy_input(n);
  RUN(form, scan, TUTTI_IN_PLACE, out, n, TUTTI_INT32, TUTTI_BXOR);
  compare("scan in place", form, most);

  fill(n + 4);
  MPI_Exscan(in, wanted, n, MPI_INT32_T, MPI_PROD, MPI_COMM_WORLD);
  RUN(form, exscan, in, out, n, TUTTI_INT32, TUTTI_PROD);
  compare("exscan", form, check_rank == 0 ? 0 : most);
}

static void test_movements(int form, int n) {
  const int all = n * check_size, root = n % check_size;
  fill(n);
  copy_input(n);
  if (n > 0) memcpy(wanted, in, (size_t)n * sizeof(int32_t));
  MPI_Bcast(wanted, n, MPI_INT32_T, root, MPI_COMM_WORLD);
  RUN(form, broadcast, out, n, TUTTI_INT32, root);
  compare("broadcast", form, most);

  fill(n + 1);
  MPI_Allgather(in, n, MPI_INT32_T, wanted, n, MPI_INT32_T, MPI_COMM_WORLD);
  RUN(form, allgather, in, out, n, TUTTI_INT32);
  compare("allgather", form, all);
  if (n > 0) memcpy(out + check_rank * n, in, (size_t)n * sizeof(int32_t));
  RUN(form, allgather, TUTTI_IN_PLACE, out, n, TUTTI_INT32);
  compare("allgather in place", form, all);

  fill(n + 2);
  MPI_Gather(in, n, MPI_INT32_T, wanted, n, MPI_INT32_T, root, MPI_COMM_WORLD);
  RUN(form, gather, in, out, n, TUTTI_INT32, root);
  compare("gather", form, all);

  fill(n + 3);
  MPI_Scatter(in, n, MPI_INT32_T, wanted, n, MPI_INT32_T, root, MPI_COMM_WORLD);
  RUN(form, scatter, in, out, n, TUTTI_INT32, root);
  compare("scatter", form, n);
  out[0] = wanted[0];
  RUN(form, scatter, in, check_rank == root ? TUTTI_IN_PLACE : out, n, TUTTI_INT32, root);
  compare("scatter in place", form, check_rank == root ? 0 : n);

  fill(n + 4);
  MPI_Alltoall(in, n, MPI_INT32_T, wanted, n, MPI_INT32_T, MPI_COMM_WORLD);
  RUN(form, alltoall, in, out, n, TUTTI_INT32);
  compare("alltoall", form, all);
  copy_input(all);
  RUN(form, alltoall, TUTTI_IN_PLACE, out, n, TUTTI_INT32);
  compare("alltoall in place", form, all);
}

/// By a clock that the ranks of a node share, which MPI_Wtime need not be.
static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/// No rank leaves before the last has come.
static void test_barrier(void) {
  for (int form = 0; form < FORMS; ++form) {
    tutti_request request;
    tutti_plan plan;
    double came = 0, last = 0, left = 0, first = 0;
    came = now();
    if (form == BLOCKING) CHECK_OK(tutti_barrier(comm, NULL));
    if (form == NONBLOCKING) check_request(__FILE__, __LINE__, tutti_barrier_async(comm, NULL, &request), &request);
    if (form == PERSISTENT) check_plan(__FILE__, __LINE__, tutti_plan_barrier(comm, NULL, &plan), &plan);
    left = now();
    MPI_Allreduce(&came, &last, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    MPI_Allreduce(&left, &first, 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    CHECK(first >= last);
  }
}

/// A plan runs again with what its buffers then hold, and tells of itself.
static void test_plan_again(void) {
  tutti_plan plan = NULL;
  tutti_options options = TUTTI_OPTIONS_INIT;
  const char *name = NULL, *text = NULL;
  int is_complete = 0;
  options.algorithm = "linear";
  CHECK_OK(tutti_plan_gather(in, out, 3, TUTTI_INT32, 0, comm, &options, &plan));
  CHECK_OK(tutti_plan_wait(plan));
  for (int seed = 0; seed < 3; ++seed) {
    fill(seed);
    MPI_Gather(in, 3, MPI_INT32_T, wanted, 3, MPI_INT32_T, 0, MPI_COMM_WORLD);
    CHECK_OK(tutti_plan_start(plan));
    for (is_complete = 0; is_complete == 0;)
      CHECK_OK(tutti_plan_test(plan, &is_complete));
    compare("plan", PERSISTENT, 3 * check_size);
  }
  CHECK_OK(tutti_plan_algorithm(plan, &name));
  CHECK(strcmp(name, "linear") == 0);
  CHECK_OK(tutti_plan_explain(plan, &text));
  CHECK(strncmp(text, "gather of 3 elements", 20) == 0);
  CHECK_OK(tutti_plan_free(&plan));
  CHECK(plan == NULL);
}

/// A call as one structure; here from one buffer to another.
static void test_described_call(void) {
  tutti_call call = TUTTI_CALL_INIT;
  tutti_request request;
  tutti_plan plan;
  call.collective = TUTTI_BROADCAST;
  call.in = in;
  call.out = out;
  call.count = 10;
  call.type = TUTTI_INT32;
  for (int form = 0; form < FORMS; ++form) {
    fill(form);
    memcpy(wanted, in, 10 * sizeof(int32_t));
    MPI_Bcast(wanted, 10, MPI_INT32_T, 0, MPI_COMM_WORLD);
    if (form == BLOCKING) CHECK_OK(tutti_run(&call, comm, NULL));
    if (form == NONBLOCKING) check_request(__FILE__, __LINE__, tutti_start(&call, comm, NULL, &request), &request);
    if (form == PERSISTENT) check_plan(__FILE__, __LINE__, tutti_prepare(&call, comm, NULL, &plan), &plan);
    compare("described call", form, most);
  }
}

void run_tests(void) {
  const int counts[] = {0, 1, check_size - 1, check_size + 1, most};
  const size_t bytes = sizeof(int32_t) * most * (size_t)check_size;
  in = malloc(bytes);
  out = malloc(bytes);
  wanted = malloc(bytes);
  for (int form = 0; form < FORMS; ++form)
    for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); ++i) {
      test_reductions(form, counts[i]);
      test_movements(form, counts[i]);
    }
  test_barrier();
  test_plan_again();
  test_described_call();
  free(in);
  free(out);
  free(wanted);
}
