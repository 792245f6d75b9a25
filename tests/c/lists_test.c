// Lists of buffers in every form: the results of MPI's call on each buffer; and what is refused.
#include "tests/c/check.h"

enum { buffers = 5, most = 4500, ranks_most = 8 };
static const int counts[buffers] = {3, 0, 4500, 17, 1};
static int32_t in[buffers][most * ranks_most], out[buffers][most * ranks_most], wanted[buffers][most * ranks_most];
static tutti_listed_buffer list[buffers];

/// Inputs of this rank, and outputs that no collective gives. The last buffer has its input in place, too.
static void fill(int seed, int in_place_at) {
  for (int b = 0; b < buffers; ++b) {
    for (int i = 0; i < most * check_size; ++i) {
      in[b][i] = (int32_t)((seed * 7 + check_rank * 1001 + b * 31 + i * 13) % 1000);
      out[b][i] = wanted[b][i] = -1;
    }
    list[b].in = in[b];
    list[b].out = out[b];
    list[b].count = counts[b];
  }
  for (int i = 0; i < counts[buffers - 1]; ++i)
    out[buffers - 1][in_place_at + i] = wanted[buffers - 1][in_place_at + i] = in[buffers - 1][i];
}

static void compare(const char* what, int form) {
  for (int b = 0; b < buffers; ++b)
    for (int i = 0; i < most * check_size; ++i) {
      char more[200];
      if (out[b][i] == wanted[b][i]) continue;
      snprintf(more, sizeof(more), "form %d: buffer %d, element %d is %d, not %d", form, b, i, out[b][i], wanted[b][i]);
      check_failed(__FILE__, __LINE__, what, more);
      return;
    }
}

static void test_form(int form) {
  const int last = buffers - 1, root = check_size - 1;
  fill(1, 0);
  list[last].in = TUTTI_IN_PLACE;
  for (int b = 0; b < buffers; ++b)
    MPI_Allreduce(b == last ? MPI_IN_PLACE : in[b], wanted[b], counts[b], MPI_INT32_T, MPI_SUM, MPI_COMM_WORLD);
  RUN(form, allreduce_list, list, buffers, TUTTI_INT32, TUTTI_SUM);
  compare("allreduce_list", form);

  fill(2, 0);
  list[last].in = out[last];
  for (int b = 0; b < buffers; ++b) {
    if (check_rank == root && b != last) memcpy(wanted[b], in[b], (size_t)counts[b] * sizeof(int32_t));
    MPI_Bcast(wanted[b], counts[b], MPI_INT32_T, root, MPI_COMM_WORLD);
  }
  RUN(form, broadcast_list, list, buffers, TUTTI_INT32, root);
  compare("broadcast_list", form);

  fill(3, counts[last] * check_rank);
  list[last].in = TUTTI_IN_PLACE;
  for (int b = 0; b < buffers; ++b)
    MPI_Allgather(b == last ? MPI_IN_PLACE : in[b], counts[b], MPI_INT32_T, wanted[b], counts[b], MPI_INT32_T,
                  MPI_COMM_WORLD);
  RUN(form, allgather_list, list, buffers, TUTTI_INT32);
  compare("allgather_list", form);

  fill(4, 0);
  for (int b = 0; b < buffers; ++b)
    MPI_Reduce_scatter_block(in[b], wanted[b], counts[b], MPI_INT32_T, MPI_MAX, MPI_COMM_WORLD);
  RUN(form, reduce_scatter_list, list, buffers, TUTTI_INT32, TUTTI_MAX);
  compare("reduce_scatter_list", form);
}

static void test_refusals(void) {
  tutti_request request = NULL;
  tutti_plan plan = NULL;
  fill(5, 0);
  list[3].out = NULL;
  CHECK_REFUSED(tutti_allreduce_list(list, buffers, TUTTI_INT32, TUTTI_SUM, comm, NULL), TUTTI_ERROR_ARGUMENT,
                "tutti::allreduce_list, buffer 3 of 5 on rank ");
  list[3].out = out[0];
  CHECK_REFUSED(tutti_allreduce_list_async(list, buffers, TUTTI_INT32, TUTTI_SUM, comm, NULL, &request),
                TUTTI_ERROR_ARGUMENT, "outputs of buffers 0 and 3 share memory");
  CHECK_REFUSED(tutti_plan_allgather_list(NULL, 1, TUTTI_INT32, comm, NULL, &plan), TUTTI_ERROR_ARGUMENT,
                "argument 'buffers' is NULL; allowed: a list of 'size' buffers");
  CHECK_REFUSED(tutti_broadcast_list(list, -1, TUTTI_INT32, 0, comm, NULL), TUTTI_ERROR_ARGUMENT, "'size' is -1");
  CHECK_REFUSED(tutti_broadcast_list(list, 0, TUTTI_INT32, 0, NULL, NULL), TUTTI_ERROR_ARGUMENT,
                "tutti_broadcast_list on rank ");
  CHECK_REFUSED(tutti_reduce_scatter_list(list, 0, 99, TUTTI_SUM, comm, NULL), TUTTI_ERROR_ARGUMENT, "'type'");
  CHECK_REFUSED(tutti_reduce_scatter_list(list, 0, TUTTI_INT32, NULL, comm, NULL), TUTTI_ERROR_ARGUMENT, "'op'");
  CHECK(request == NULL && plan == NULL);
  CHECK_OK(tutti_allreduce_list(NULL, 0, TUTTI_INT32, TUTTI_SUM, comm, NULL));
}

void run_tests(void) {
  for (int form = 0; form < FORMS; ++form)
    test_form(form);
  test_refusals();
}
