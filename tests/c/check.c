#include "tests/c/check.h"

int check_failures = 0;
int check_rank = 0, check_size = 1;
tutti_comm comm = NULL;

void check_failed(const char* file, int line, const char* what, const char* more) {
  fprintf(stderr, "rank %d: %s:%d: %s failed. %s\n", check_rank, file, line, what, more);
  ++check_failures;
}

void check_refused(const char* file, int line, const char* call, tutti_status status, tutti_status wanted,
                   const char* text) {
  char more[2000];
  if (status == wanted && strstr(tutti_last_error(), text) != NULL) return;
  snprintf(more, sizeof(more), "It gave %d (%s) with '%s', wanted %d with '%s'.", status, tutti_error_string(status),
           tutti_last_error(), wanted, text);
  check_failed(file, line, call, more);
}

void check_request(const char* file, int line, tutti_status status, tutti_request* request) {
  int is_complete = 0;
  if (status != TUTTI_SUCCESS) {
    check_failed(file, line, "starting a request", tutti_last_error());
    return;
  }
  // One look, so that both ways to complete it are taken.
  if (tutti_request_test(request, &is_complete) != TUTTI_SUCCESS)
    check_failed(file, line, "tutti_request_test", tutti_last_error());
  if (is_complete == 0 && tutti_request_wait(request) != TUTTI_SUCCESS)
    check_failed(file, line, "tutti_request_wait", tutti_last_error());
  if (*request != NULL) check_failed(file, line, "the completed request is NULL", "");
}

void check_plan(const char* file, int line, tutti_status status, tutti_plan* plan) {
  if (status != TUTTI_SUCCESS || tutti_plan_start(*plan) != TUTTI_SUCCESS || tutti_plan_wait(*plan) != TUTTI_SUCCESS ||
      tutti_plan_free(plan) != TUTTI_SUCCESS)
    check_failed(file, line, "a plan", tutti_last_error());
}

int main(int argc, char** argv) {
  int provided = 0, failures = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &check_rank);
  MPI_Comm_size(MPI_COMM_WORLD, &check_size);
  CHECK_OK(tutti_comm_create(MPI_COMM_WORLD, NULL, &comm));
  run_tests();
  CHECK_OK(tutti_comm_free(&comm));
  CHECK(comm == NULL);
  MPI_Allreduce(&check_failures, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Finalize();
  return failures != 0;
}
