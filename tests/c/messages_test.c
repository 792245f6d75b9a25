// Messages between pairs of ranks, and batches of them.
#include "tests/c/check.h"

enum { elements = 500 };
static int64_t mine[elements], theirs[elements];

static void fill(void) {
  for (int i = 0; i < elements; ++i) {
    mine[i] = check_rank * 10000 + i;
    theirs[i] = -1;
  }
}

static void check_from(int rank) {
  for (int i = 0; i < elements; ++i)
    if (theirs[i] != rank * 10000 + i) {
      check_failed(__FILE__, __LINE__, "the message is that of its sender", "");
      return;
    }
}

/// Round the ring, of one rank too.
static void test_batch(void) {
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  tutti_batch batch = NULL;
  tutti_request request;
  tutti_plan plan;
  const char* name = NULL;
  CHECK_OK(tutti_batch_create(comm, &batch));
  CHECK_OK(tutti_batch_send(batch, mine, elements, TUTTI_INT64, right));
  CHECK_OK(tutti_batch_recv(batch, theirs, elements, TUTTI_INT64, left));
  fill();
  CHECK_OK(tutti_batch_run(batch));
  check_from(left);
  fill();
  check_request(__FILE__, __LINE__, tutti_batch_start(batch, &request), &request);
  check_from(left);
  fill();
  check_plan(__FILE__, __LINE__, tutti_batch_plan(batch, &plan), &plan);
  check_from(left);
  CHECK_OK(tutti_batch_plan(batch, &plan));
  CHECK_OK(tutti_plan_algorithm(plan, &name));
  CHECK(name[0] == 0);
  CHECK_OK(tutti_plan_free(&plan));
  CHECK_REFUSED(tutti_batch_send(batch, mine, 1, TUTTI_INT64, check_size), TUTTI_ERROR_ARGUMENT, "to");
  CHECK_REFUSED(tutti_batch_send(batch, mine, -1, TUTTI_INT64, 0), TUTTI_ERROR_ARGUMENT, "count");
  CHECK_REFUSED(tutti_batch_recv(batch, mine, 1, 17, 0), TUTTI_ERROR_ARGUMENT, "'type' is 17");
  CHECK_OK(tutti_batch_free(&batch));
  CHECK(batch == NULL);
}

static void test_sendrecv(void) {
  const int right = (check_rank + 1) % check_size, left = (check_rank + check_size - 1) % check_size;
  tutti_request request;
  tutti_plan plan;
  fill();
  CHECK_OK(tutti_sendrecv(mine, elements, right, theirs, elements, left, TUTTI_INT64, comm));
  check_from(left);
  fill();
  check_request(__FILE__, __LINE__,
                tutti_sendrecv_async(mine, elements, right, theirs, elements, left, TUTTI_INT64, comm, &request),
                &request);
  check_from(left);
  fill();
  check_plan(__FILE__, __LINE__,
             tutti_plan_sendrecv(mine, elements, right, theirs, elements, left, TUTTI_INT64, comm, &plan), &plan);
  check_from(left);
}

/// From rank 0 to rank 1, in three forms.
static void test_send_and_recv(void) {
  tutti_request request;
  tutti_plan plan;
  for (int form = 0; form < FORMS; ++form) {
    fill();
    if (check_rank == 0) {
      if (form == BLOCKING) CHECK_OK(tutti_send(mine, elements, TUTTI_INT64, 1, comm));
      if (form == NONBLOCKING)
        check_request(__FILE__, __LINE__, tutti_send_async(mine, elements, TUTTI_INT64, 1, comm, &request), &request);
      if (form == PERSISTENT)
        check_plan(__FILE__, __LINE__, tutti_plan_send(mine, elements, TUTTI_INT64, 1, comm, &plan), &plan);
    } else if (check_rank == 1) {
      if (form == BLOCKING) CHECK_OK(tutti_recv(theirs, elements, TUTTI_INT64, 0, comm));
      if (form == NONBLOCKING)
        check_request(__FILE__, __LINE__, tutti_recv_async(theirs, elements, TUTTI_INT64, 0, comm, &request), &request);
      if (form == PERSISTENT)
        check_plan(__FILE__, __LINE__, tutti_plan_recv(theirs, elements, TUTTI_INT64, 0, comm, &plan), &plan);
      check_from(0);
    }
  }
  CHECK_REFUSED(tutti_send(mine, 1, TUTTI_INT64, check_rank, comm), TUTTI_ERROR_ARGUMENT, "this rank itself");
}

/// Ranks that disagree on a size: the call fails, tells why, and leaves a communicator that says so.
static void test_failure(void) {
  tutti_comm other = NULL;
  tutti_request request = NULL;
  const char* text = NULL;
  CHECK_OK(tutti_comm_create(MPI_COMM_WORLD, NULL, &other));
  if (check_rank == 0) CHECK_OK(tutti_send(mine, 2, TUTTI_INT64, 1, other));
  if (check_rank == 1) {
    CHECK_OK(tutti_recv_async(theirs, 3, TUTTI_INT64, 0, other, &request));
    CHECK_REFUSED(tutti_request_wait(&request), TUTTI_ERROR_FAILED, "rank 0");
    CHECK(request != NULL);
    CHECK_OK(tutti_request_free(&request));
    CHECK_OK(tutti_comm_status(other, &text));
    CHECK(strstr(text, "on rank 1") != NULL);
    CHECK(tutti_barrier(other, NULL) == TUTTI_ERROR_FAILED);
  }
  MPI_Barrier(MPI_COMM_WORLD);
  CHECK_OK(tutti_comm_free(&other));
}

void run_tests(void) {
  test_batch();
  test_sendrecv();
  if (check_size > 1) {
    test_send_and_recv();
    test_failure();
  }
}
