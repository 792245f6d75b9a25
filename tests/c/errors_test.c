// Every mistake that a call can find out by itself is an error code with a text; none is a crash.
#include <pthread.h>

#include "tests/c/check.h"

static int64_t buffer[64], result[64];

#define REFUSED(call, text) CHECK_REFUSED(call, TUTTI_ERROR_ARGUMENT, text)

static void test_sections(void) {
  void* const section = tutti_not_contiguous();
  tutti_batch batch = NULL;
  tutti_request request = NULL;
  REFUSED(tutti_allreduce(section, result, 1, TUTTI_INT64, TUTTI_SUM, comm, NULL),
          "argument 'in' is not contiguous; allowed: contiguous memory");
  REFUSED(tutti_allreduce(buffer, section, 1, TUTTI_INT64, TUTTI_SUM, comm, NULL), "argument 'out' is not contiguous");
  REFUSED(tutti_send(section, 1, TUTTI_INT64, 0, comm), "argument 'data' is not contiguous");
  REFUSED(tutti_recv_async(section, 1, TUTTI_INT64, 0, comm, &request), "argument 'data' is not contiguous");
  REFUSED(tutti_sendrecv(section, 1, 0, result, 1, 0, TUTTI_INT64, comm), "argument 'out' is not contiguous");
  REFUSED(tutti_sendrecv(buffer, 1, 0, section, 1, 0, TUTTI_INT64, comm), "argument 'in' is not contiguous");
  CHECK_OK(tutti_batch_create(comm, &batch));
  REFUSED(tutti_batch_send(batch, section, 1, TUTTI_INT64, 0), "argument 'data' is not contiguous");
  REFUSED(tutti_batch_recv(batch, section, 1, TUTTI_INT64, 0), "argument 'data' is not contiguous");
  CHECK_OK(tutti_batch_free(&batch));
}

static void test_null_handles(void) {
  tutti_request request = NULL;
  tutti_plan plan = NULL;
  tutti_batch batch = NULL;
  tutti_comm made = NULL;
  int number = 0;
  const char* text = NULL;
  tutti_group group;
  tutti_messages messages;
  uint64_t value = 0;
  const tutti_counter* counters = NULL;
  REFUSED(tutti_comm_rank(NULL, &number), "tutti_comm_rank on rank ");
  REFUSED(tutti_comm_rank(NULL, &number),
          "argument 'comm' is NULL; allowed: a communicator that tutti_comm_create made");
  REFUSED(tutti_comm_size(NULL, &number), "'comm'");
  REFUSED(tutti_comm_is_open(NULL, &number), "'comm'");
  REFUSED(tutti_comm_node_count(NULL, &number), "'comm'");
  REFUSED(tutti_comm_node_of(NULL, 0, &number), "'comm'");
  REFUSED(tutti_comm_node(NULL, &group), "'comm'");
  REFUSED(tutti_comm_leaders(NULL, &group), "'comm'");
  REFUSED(tutti_comm_status(NULL, &text), "'comm'");
  REFUSED(tutti_comm_messages(NULL, 0, &messages), "'comm'");
  REFUSED(tutti_comm_counters(NULL, &counters, &number), "'comm'");
  REFUSED(tutti_comm_counter(NULL, "x", &value), "'comm'");
  REFUSED(tutti_comm_close(NULL), "'comm'");
  REFUSED(tutti_barrier(NULL, NULL), "tutti_barrier on rank ");
  REFUSED(tutti_barrier_async(NULL, NULL, &request), "tutti_barrier_async on rank ");
  REFUSED(tutti_plan_barrier(NULL, NULL, &plan), "tutti_plan_barrier on rank ");
  REFUSED(tutti_run(NULL, comm, NULL), "tutti_run on rank ");
  REFUSED(tutti_send(buffer, 1, TUTTI_INT64, 0, NULL), "'comm'");
  REFUSED(tutti_batch_create(NULL, &batch), "'comm'");
  REFUSED(tutti_batch_send(NULL, buffer, 1, TUTTI_INT64, 0), "'batch'");
  REFUSED(tutti_batch_recv(NULL, buffer, 1, TUTTI_INT64, 0), "'batch'");
  REFUSED(tutti_batch_run(NULL), "'batch'");
  REFUSED(tutti_batch_start(NULL, &request), "'batch'");
  REFUSED(tutti_batch_plan(NULL, &plan), "'batch'");
  REFUSED(tutti_request_wait(&request), "'request' is NULL; allowed: a request that has not been completed or freed");
  REFUSED(tutti_request_test(&request, &number), "'request'");
  REFUSED(tutti_plan_start(NULL), "'plan'");
  REFUSED(tutti_plan_wait(NULL), "'plan'");
  REFUSED(tutti_plan_test(NULL, &number), "'plan'");
  REFUSED(tutti_plan_algorithm(NULL, &text), "'plan'");
  REFUSED(tutti_plan_explain(NULL, &text), "'plan'");
  REFUSED(tutti_comm_create(MPI_COMM_NULL, NULL, &made), "MPI_COMM_NULL");
  REFUSED(tutti_comm_create_f(FORTRAN_NUMBER(MPI_COMM_NULL), NULL, &made), "MPI_COMM_NULL");
  CHECK_OK(tutti_comm_free(&made));
  CHECK_OK(tutti_request_free(&request));
  CHECK_OK(tutti_plan_free(&plan));
  CHECK_OK(tutti_batch_free(&batch));
}

/* Compilers of C only warn of these. */
static void test_handles_of_another_kind(void) {
  const tutti_op of_mpi = (tutti_op)(intptr_t)MPI_SUM;
  const tutti_comm world = (tutti_comm)(intptr_t)MPI_COMM_WORLD;
  tutti_request request = (tutti_request)comm;
  tutti_plan plan = (tutti_plan)comm;
  tutti_op op = (tutti_op)comm;
  int number = 0;
  const char* text = NULL;
  REFUSED(tutti_allreduce(buffer, result, 1, TUTTI_INT64, of_mpi, comm, NULL),
          "'op' is no such handle of Tutti's; allowed: TUTTI_SUM and the like");
  REFUSED(tutti_op_name(of_mpi, &text), "'op' is no such handle");
  REFUSED(tutti_op_name(op, &text), "'op' is no such handle");
  REFUSED(tutti_op_free(&op), "'op' is no such handle");
  REFUSED(tutti_comm_rank(world, &number), "'comm' is no such handle");
  REFUSED(tutti_barrier(world, NULL), "'comm' is no such handle");
  REFUSED(tutti_request_wait(&request), "'request' is no such handle");
  REFUSED(tutti_request_free(&request), "'request' is no such handle");
  REFUSED(tutti_plan_start(plan), "'plan' is no such handle");
  REFUSED(tutti_plan_free(&plan), "'plan' is no such handle");
  REFUSED(tutti_batch_run((tutti_batch)comm), "'batch' is no such handle");
  CHECK_OK(tutti_barrier(comm, NULL));
}

static void test_null_places(void) {
  REFUSED(tutti_comm_create(MPI_COMM_WORLD, NULL, NULL), "'comm' is NULL");
  REFUSED(tutti_comm_create_f(0, NULL, NULL), "'comm' is NULL");
  REFUSED(tutti_comm_free(NULL), "'comm' is NULL");
  REFUSED(tutti_comm_rank(comm, NULL), "'rank' is NULL");
  REFUSED(tutti_comm_size(comm, NULL), "'size' is NULL");
  REFUSED(tutti_comm_is_open(comm, NULL), "'is_open' is NULL");
  REFUSED(tutti_comm_node_count(comm, NULL), "'count' is NULL");
  REFUSED(tutti_comm_node_of(comm, 0, NULL), "'node' is NULL");
  REFUSED(tutti_comm_node(comm, NULL), "'group' is NULL");
  REFUSED(tutti_comm_leaders(comm, NULL), "'group' is NULL");
  REFUSED(tutti_comm_status(comm, NULL), "'text' is NULL");
  REFUSED(tutti_comm_messages(comm, 0, NULL), "'messages' is NULL");
  REFUSED(tutti_comm_counters(comm, NULL, NULL), "'counters' is NULL");
  REFUSED(tutti_comm_counter(comm, "x", NULL), "'value' is NULL");
  REFUSED(tutti_barrier_async(comm, NULL, NULL), "'request' is NULL");
  REFUSED(tutti_plan_barrier(comm, NULL, NULL), "'plan' is NULL");
  REFUSED(tutti_start(NULL, comm, NULL, NULL), "'request' is NULL");
  REFUSED(tutti_prepare(NULL, comm, NULL, NULL), "'plan' is NULL");
  REFUSED(tutti_request_wait(NULL), "'request' is NULL");
  REFUSED(tutti_request_test(NULL, NULL), "'is_complete' is NULL");
  REFUSED(tutti_request_free(NULL), "'request' is NULL");
  REFUSED(tutti_plan_free(NULL), "'plan' is NULL");
  REFUSED(tutti_batch_create(comm, NULL), "'batch' is NULL");
  REFUSED(tutti_batch_free(NULL), "'batch' is NULL");
  REFUSED(tutti_send_async(buffer, 1, TUTTI_INT64, 0, comm, NULL), "'request' is NULL");
  REFUSED(tutti_plan_recv(buffer, 1, TUTTI_INT64, 0, comm, NULL), "'plan' is NULL");
  REFUSED(tutti_op_create_scaled_sum(1, NULL), "'op' is NULL");
  REFUSED(tutti_op_create_user(NULL, 0, NULL, NULL, NULL), "'op' is NULL");
  REFUSED(tutti_op_free(NULL), "'op' is NULL");
  REFUSED(tutti_op_name(TUTTI_SUM, NULL), "'name' is NULL");
  REFUSED(tutti_op_supports(TUTTI_SUM, 0, NULL), "'is_supported' is NULL");
  REFUSED(tutti_type_size(0, NULL), "'bytes' is NULL");
  REFUSED(tutti_type_name(0, NULL), "'name' is NULL");
  REFUSED(tutti_collective_name(0, NULL), "'name' is NULL");
  REFUSED(tutti_algorithm_names(0, NULL), "'names' is NULL");
  REFUSED(tutti_allocate(8, NULL), "'data' is NULL");
  REFUSED(tutti_allocate_device(8, NULL), "'data' is NULL");
  REFUSED(tutti_version_numbers(NULL, NULL, NULL), "'major' is NULL");
  REFUSED(tutti_mpi_library(NULL), "'name' is NULL");
  REFUSED(tutti_components(NULL, NULL), "'components' is NULL");
}

static void test_wrong_numbers(void) {
  const char* text = NULL;
  tutti_messages messages;
  uint64_t value = 0;
  int64_t bytes = 0;
  int node = 0;
  tutti_op op = NULL;
  REFUSED(tutti_type_size(17, &bytes), "'type' is 17; allowed: a value of enum tutti_types, 0 to 16");
  REFUSED(tutti_type_name(-1, &text), "'type' is -1");
  REFUSED(tutti_collective_name(11, &text), "'collective' is 11");
  REFUSED(tutti_algorithm_names(-1, &text), "'collective' is -1");
  REFUSED(tutti_op_name(NULL, &text), "'op' is NULL; allowed: TUTTI_SUM and the like");
  REFUSED(tutti_op_create_user((tutti_user_function)(void (*)(void))test_null_places, 2, NULL, NULL, &op),
          "'is_commutative' is 2");
  REFUSED(tutti_comm_node_of(comm, check_size, &node), "rank");
  REFUSED(tutti_comm_messages(comm, 3, &messages), "'transport' is 3");
  REFUSED(tutti_comm_counter(comm, "no such", &value), "'name' is 'no such'");
  REFUSED(tutti_comm_counter(comm, NULL, &value), "'name' is NULL");
  REFUSED(tutti_broadcast(buffer, 1, 272, 0, comm, NULL), "'type' is 272");
  REFUSED(tutti_broadcast(buffer, -1, TUTTI_INT64, 0, comm, NULL), "'count' is -1");
  REFUSED(tutti_broadcast(buffer, INT64_MAX, TUTTI_INT64, 0, comm, NULL), "count");
  REFUSED(tutti_broadcast(buffer, 1, TUTTI_INT64, check_size, comm, NULL), "root");
  REFUSED(tutti_broadcast(buffer, 1, TUTTI_INT64, -1, comm, NULL), "root");
  REFUSED(tutti_allreduce(buffer, result, 1, TUTTI_INT64, NULL, comm, NULL), "'op' is NULL");
  REFUSED(tutti_allreduce(buffer, result, 1, TUTTI_FP64, TUTTI_BAND, comm, NULL), "op");
  REFUSED(tutti_allreduce(NULL, result, 1, TUTTI_INT64, TUTTI_SUM, comm, NULL), "'in'");
  REFUSED(tutti_allreduce(buffer, buffer + 1, 4, TUTTI_INT64, TUTTI_SUM, comm, NULL), "overlap");
}

static void test_wrong_lists(void) {
  int64_t counts[8] = {0, 0, 0, 0, 0, 0, 0, -4};
  const tutti_type types[8] = {0, 0, 0, 0, 0, 0, 0, 99};
  const int from = 8 - check_size;  // such that the last rank's number is the wrong one
  REFUSED(tutti_allgatherv(buffer, result, NULL, NULL, TUTTI_INT64, comm, NULL), "blocks");
  REFUSED(tutti_allgatherv(buffer, result, counts + from, NULL, TUTTI_INT64, comm, NULL), "-4");
  REFUSED(tutti_reduce_scatterv(buffer, result, NULL, TUTTI_INT64, TUTTI_SUM, comm, NULL), "count");
  REFUSED(tutti_alltoallv(buffer, NULL, NULL, result, NULL, NULL, TUTTI_INT64, comm, NULL), "blocks");
  REFUSED(tutti_alltoallw(buffer, NULL, NULL, NULL, result, NULL, NULL, NULL, comm, NULL), "blocks");
  counts[7] = 0;
  REFUSED(tutti_alltoallw(buffer, counts, counts, types + from, result, counts, counts, types + from, comm, NULL),
          "_types[");
}

static void test_wrong_structures(void) {
  tutti_options options = TUTTI_OPTIONS_INIT;
  tutti_comm_options comm_options = TUTTI_COMM_OPTIONS_INIT;
  tutti_call call = TUTTI_CALL_INIT;
  tutti_comm made = comm;
  options.algorithm = "no such";
  REFUSED(tutti_barrier(comm, &options), "'no such'");
  options.algorithm = NULL;
  options.has_stream = 1;
  CHECK(tutti_barrier(comm, &options) != TUTTI_SUCCESS);  // no device here
  options.size = 0;
  REFUSED(tutti_barrier(comm, &options), "'size' is 0; allowed: one that begins with '= TUTTI_OPTIONS_INIT'");
  comm_options.transport = "pigeon";
  REFUSED(tutti_comm_create(MPI_COMM_WORLD, &comm_options, &made), "pigeon");
  CHECK(made == NULL);
  comm_options.size += 8;
  REFUSED(tutti_comm_create(MPI_COMM_WORLD, &comm_options, &made), "TUTTI_COMM_OPTIONS_INIT");
  call.collective = 11;
  REFUSED(tutti_run(&call, comm, NULL), "'collective' is 11");
  call.collective = TUTTI_SCAN;
  call.blocks = TUTTI_BLOCKS_UNEVEN;
  REFUSED(tutti_run(&call, comm, NULL), "for scan TUTTI_BLOCKS_EVEN");
  call.collective = TUTTI_GATHER;
  call.blocks = TUTTI_BLOCKS_TYPED;
  REFUSED(tutti_run(&call, comm, NULL), "TUTTI_BLOCKS_EVEN or TUTTI_BLOCKS_UNEVEN");
  call.blocks = 3;
  REFUSED(tutti_run(&call, comm, NULL), "'blocks' is 3");
  call.size = 1;
  REFUSED(tutti_run(&call, comm, NULL), "TUTTI_CALL_INIT");
}

static void test_states(void) {
  tutti_plan plan = NULL;
  tutti_comm other = NULL;
  CHECK_OK(tutti_comm_create(MPI_COMM_WORLD, NULL, &other));
  CHECK_OK(tutti_plan_barrier(other, NULL, &plan));
  CHECK_OK(tutti_comm_free(&other));
  CHECK_REFUSED(tutti_plan_start(plan), TUTTI_ERROR_STATE, "closed");
  CHECK_OK(tutti_plan_free(&plan));
}

static void* of_another_thread(void* told) {
  int64_t bytes = 0;
  int* const is_right = told;
  *is_right = tutti_last_error()[0] == 0 && tutti_type_size(77, &bytes) == TUTTI_ERROR_ARGUMENT &&
              strstr(tutti_last_error(), "77") != NULL;
  return NULL;
}

static void test_last_error(void) {
  pthread_t thread;
  int is_right = 0;
  int64_t bytes = 0;
  CHECK(tutti_type_size(33, &bytes) == TUTTI_ERROR_ARGUMENT);
  CHECK(pthread_create(&thread, NULL, of_another_thread, &is_right) == 0);
  CHECK(pthread_join(thread, NULL) == 0);
  CHECK(is_right);
  CHECK_OK(tutti_type_size(0, &bytes));  // keeps the text
  CHECK(strstr(tutti_last_error(), "33") != NULL);
  CHECK(tutti_last_mpi_code() == MPI_SUCCESS);
  CHECK(strcmp(tutti_error_string(TUTTI_ERROR_ARGUMENT), "wrong argument") == 0);
  CHECK(strcmp(tutti_error_string(-1), "no status of Tutti") == 0);
  CHECK(strcmp(tutti_error_string(99), "no status of Tutti") == 0);
}

void run_tests(void) {
  int32_t sum = 1;
  test_null_handles();
  test_sections();
  test_handles_of_another_kind();
  test_null_places();
  test_wrong_numbers();
  test_wrong_lists();
  test_wrong_structures();
  test_states();
  test_last_error();
  // The communicator has survived all of it.
  CHECK_OK(tutti_allreduce(TUTTI_IN_PLACE, &sum, 1, TUTTI_INT32, TUTTI_SUM, comm, NULL));
  CHECK(sum == check_size);
}
