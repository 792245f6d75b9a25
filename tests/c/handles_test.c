// Communicators, operations, types, memory and what the library tells of itself.

#include "tests/c/check.h"

static void test_communicator(void) {
  tutti_comm_options options = TUTTI_COMM_OPTIONS_INIT;
  tutti_comm other = NULL;
  MPI_Comm reversed = MPI_COMM_NULL;
  int rank = -1, size = -1, is_open = -1;
  const char* text = NULL;
  int32_t one = 1, sum = 0;
  MPI_Comm_split(MPI_COMM_WORLD, 0, -check_rank, &reversed);
  options.algorithms = "allreduce=ring";
  options.transport = "mpi";
  options.buffers = "host";
  CHECK_OK(tutti_comm_create(reversed, &options, &other));
  CHECK_OK(tutti_comm_rank(other, &rank));
  CHECK_OK(tutti_comm_size(other, &size));
  CHECK_OK(tutti_comm_is_open(other, &is_open));
  CHECK_OK(tutti_comm_status(other, &text));
  CHECK(rank == check_size - 1 - check_rank && size == check_size && is_open == 1 && text[0] == 0);
  CHECK_OK(tutti_allreduce(&one, &sum, 1, TUTTI_INT32, TUTTI_SUM, other, NULL));
  CHECK(sum == check_size);
  CHECK_OK(tutti_comm_close(other));
  CHECK_OK(tutti_comm_close(other));
  CHECK_OK(tutti_comm_is_open(other, &is_open));
  CHECK(is_open == 0);
  CHECK_REFUSED(tutti_allreduce(&one, &sum, 1, TUTTI_INT32, TUTTI_SUM, other, NULL), TUTTI_ERROR_STATE, "closed");
  CHECK_OK(tutti_comm_free(&other));
  CHECK_OK(tutti_comm_free(&other));

  CHECK_OK(tutti_comm_create_f(FORTRAN_NUMBER(reversed), NULL, &other));
  CHECK_OK(tutti_comm_rank(other, &rank));
  CHECK(rank == check_size - 1 - check_rank);
  CHECK_OK(tutti_comm_free(&other));
  MPI_Comm_free(&reversed);
}

static void test_nodes(void) {
  int count = 0, node = -1;
  tutti_group group = {NULL, 0, -2};
  CHECK_OK(tutti_comm_node_count(comm, &count));
  CHECK(count == 1);  // the ranks of this test share a node
  CHECK_OK(tutti_comm_node_of(comm, check_size - 1, &node));
  CHECK(node == 0);
  CHECK_OK(tutti_comm_node(comm, &group));
  CHECK(group.count == check_size && group.me == check_rank && group.ranks[check_size - 1] == check_size - 1);
  CHECK_OK(tutti_comm_leaders(comm, &group));
  CHECK(group.count == 1 && group.ranks[0] == 0 && group.me == (check_rank == 0 ? 0 : -1));
}

static void test_counters(void) {
  tutti_messages before, after, network;
  const tutti_counter* counters = NULL;
  int count = 0, is_there = 0;
  uint64_t value = 0;
  int64_t number = check_rank;
  CHECK_OK(tutti_comm_messages(comm, TUTTI_TRANSPORT_SHM, &before));
  CHECK_OK(tutti_allreduce(TUTTI_IN_PLACE, &number, 1, TUTTI_INT64, TUTTI_SUM, comm, NULL));
  CHECK_OK(tutti_comm_messages(comm, TUTTI_TRANSPORT_SHM, &after));
  CHECK_OK(tutti_comm_messages(comm, TUTTI_TRANSPORT_NETWORK, &network));
  CHECK(check_size == 1 || (after.sent > before.sent && after.received_bytes > before.received_bytes));
  CHECK(network.sent == 0);
  CHECK_OK(tutti_comm_counters(comm, &counters, &count));
  for (int i = 0; i < count; ++i) {
    CHECK_OK(tutti_comm_counter(comm, counters[i].name, &value));
    CHECK(value == counters[i].value);
    is_there |= strncmp(counters[i].name, "shm.", 4) == 0;
  }
  CHECK(is_there);
}

/// Row vector times column: not commutative, associative. Elements are matrices of 2 x 2, as 4 elements.
static void multiply(const void* lhs, const void* rhs, void* into, int64_t count, void* context) {
  const int64_t *a = lhs, *b = rhs;
  int64_t* c = into;
  ++*(int*)context;
  for (int64_t i = 0; i + 4 <= count; i += 4) {
    const int64_t made[4] = {a[i] * b[i] + a[i + 1] * b[i + 2], a[i] * b[i + 1] + a[i + 1] * b[i + 3],
                             a[i + 2] * b[i] + a[i + 3] * b[i + 2], a[i + 2] * b[i + 1] + a[i + 3] * b[i + 3]};
    memcpy(c + i, made, sizeof(made));
  }
}

static void test_user_operation(void) {
  int calls = 0;
  int64_t mine[4] = {1, 1 + check_rank, check_rank, 2}, product[4] = {0}, wanted[4] = {1, 1, 0, 2};
  tutti_op op = NULL;
  const char* name = NULL;
  tutti_options options = TUTTI_OPTIONS_INIT;
  options.algorithm = "recursive_doubling";  // keeps a matrix whole
  for (int r = 1; r < check_size; ++r) {
    const int64_t next[4] = {1, 1 + r, r, 2};
    multiply(wanted, next, wanted, 4, &calls);
  }
  calls = 0;
  CHECK_OK(tutti_op_create_user(multiply, 0, &calls, NULL, &op));
  CHECK_OK(tutti_allreduce(mine, product, 4, TUTTI_INT64, op, comm, &options));
  CHECK(memcmp(product, wanted, sizeof(wanted)) == 0);
  MPI_Allreduce(MPI_IN_PLACE, &calls, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);  // not every rank combines
  CHECK(check_size == 1 || calls > 0);
  CHECK_OK(tutti_op_name(op, &name));
  CHECK(strcmp(name, "user") == 0);
  CHECK_REFUSED(tutti_op_create_user(NULL, 0, NULL, NULL, &op), TUTTI_ERROR_ARGUMENT, "'function' is NULL");
  CHECK(op == NULL);
}

static void test_operations(void) {
  const tutti_op ops[] = {TUTTI_SUM, TUTTI_PROD, TUTTI_MIN,  TUTTI_MAX, TUTTI_AVG, TUTTI_LAND,
                          TUTTI_LOR, TUTTI_LXOR, TUTTI_BAND, TUTTI_BOR, TUTTI_BXOR, TUTTI_EXACT_SUM};
  const char* names[] = {"sum", "prod", "min", "max", "avg", "land", "lor", "lxor", "band", "bor", "bxor", "exact_sum"};
  const char* name = NULL;
  int is_supported = -1;
  float mine = (float)(check_rank + 1), scaled = 0;
  tutti_op op = NULL;
  for (int i = 0; i < 12; ++i) {
    CHECK_OK(tutti_op_name(ops[i], &name));
    CHECK(strcmp(name, names[i]) == 0);
  }
  CHECK_OK(tutti_op_supports(TUTTI_BAND, TUTTI_FP64, &is_supported));
  CHECK(is_supported == 0);
  CHECK_OK(tutti_op_supports(TUTTI_BAND, TUTTI_INT8, &is_supported));
  CHECK(is_supported == 1);
  CHECK_OK(tutti_op_create_scaled_sum(0.25, &op));
  CHECK_OK(tutti_op_name(op, &name));
  CHECK(strcmp(name, "scaled_sum") == 0);
  CHECK_OK(tutti_allreduce(&mine, &scaled, 1, TUTTI_FP32, op, comm, NULL));
  CHECK(scaled == 0.25F * (float)(check_size * (check_size + 1) / 2));
  CHECK_OK(tutti_op_free(&op));
  CHECK(op == NULL);
  mine = check_rank == 0 ? 1e8F : check_rank == check_size - 1 ? -1e8F : 1;
  CHECK_OK(tutti_allreduce(&mine, &scaled, 1, TUTTI_FP32, TUTTI_EXACT_SUM, comm, NULL));
  CHECK(check_size == 1 || scaled == (float)(check_size - 2));
  op = TUTTI_SUM;
  CHECK_OK(tutti_op_free(&op));
  CHECK(op == NULL);
}

static void test_types(void) {
  const char* names[] = {"int8",     "int16",    "int32", "int64", "uint8", "uint16", "uint32",       "uint64",
                         "fp8_e4m3", "fp8_e5m2", "fp16",  "bf16",  "fp32",  "fp64",   "complex_fp32", "complex_fp64",
                         "bool"};
  const int64_t sizes[] = {1, 2, 4, 8, 1, 2, 4, 8, 1, 1, 2, 2, 4, 8, 8, 16, 1};
  const float numbers[] = {0.0F, 1.0F, -2.5F, 448.0F};
  const char* text = NULL;
  for (int type = 0; type < 17; ++type) {
    int64_t bytes = 0;
    CHECK_OK(tutti_type_name(type, &text));
    CHECK_OK(tutti_type_size(type, &bytes));
    CHECK(strcmp(text, names[type]) == 0 && bytes == sizes[type]);
  }
  for (int type = TUTTI_FP8_E4M3; type <= TUTTI_BF16; ++type) {
    unsigned char small[8];
    float back[4] = {9, 9, 9, 9};
    CHECK_OK(tutti_from_float(numbers, small, 4, type));
    CHECK_OK(tutti_to_float(small, back, 4, type));
    CHECK(memcmp(back, numbers, sizeof(back)) == 0);
  }
  CHECK_REFUSED(tutti_from_float(numbers, NULL, 1, TUTTI_FP16), TUTTI_ERROR_ARGUMENT, "'out' is NULL");
  CHECK_REFUSED(tutti_to_float(numbers, NULL, -1, TUTTI_FP16), TUTTI_ERROR_ARGUMENT, "'count' is -1");
  CHECK_REFUSED(tutti_from_float(numbers, NULL, 0, TUTTI_FP32), TUTTI_ERROR_ARGUMENT, "fp8_e4m3, fp8_e5m2, fp16, bf16");
  CHECK_OK(tutti_collective_name(TUTTI_EXSCAN, &text));
  CHECK(strcmp(text, "exscan") == 0);
  CHECK_OK(tutti_algorithm_names(TUTTI_ALLREDUCE, &text));
  CHECK(strstr(text, "ring, ") != NULL);
}

static void test_memory(void) {
  void *data = NULL, *none = &data;
  double* numbers = NULL;
  CHECK_OK(tutti_allocate(1000 * (int64_t)sizeof(double), &data));
  numbers = data;
  CHECK(numbers != NULL && numbers[999] == 0);
  for (int i = 0; i < 1000; ++i)
    numbers[i] = i;
  CHECK_OK(tutti_allreduce(TUTTI_IN_PLACE, numbers, 1000, TUTTI_FP64, TUTTI_SUM, comm, NULL));
  CHECK(numbers[999] == 999.0 * check_size);
  CHECK_OK(tutti_deallocate(data));
  CHECK_OK(tutti_deallocate(NULL));
  CHECK_REFUSED(tutti_deallocate(&data), TUTTI_ERROR_ARGUMENT, "allocate");
  CHECK_REFUSED(tutti_allocate(-1, &none), TUTTI_ERROR_ARGUMENT, "-1");
  CHECK(none == NULL);
  // There is no device, or no CUDA in the build.
  CHECK(tutti_allocate_device(8, &none) == TUTTI_ERROR_FAILED && none == NULL);
  CHECK_OK(tutti_deallocate_device(NULL));
  CHECK_REFUSED(tutti_require_device_memory(&data, 8), TUTTI_ERROR_ARGUMENT, "data");
  CHECK_REFUSED(tutti_require_device_memory(NULL, -8), TUTTI_ERROR_ARGUMENT, "'bytes' is -8");
  CHECK_OK(tutti_require_device_memory(NULL, 0));
}

static void test_environment(void) {
  int major = -1, minor = -1, patch = -1, count = 0, has_mpi = 0;
  char numbers[40];
  const char* library = NULL;
  const tutti_component* components = NULL;
  CHECK_OK(tutti_version_numbers(&major, &minor, &patch));
  snprintf(numbers, sizeof(numbers), "%d.%d.%d", major, minor, patch);
  CHECK(strcmp(numbers, TUTTI_VERSION) == 0 && strcmp(tutti_version(), TUTTI_VERSION) == 0);
  CHECK_OK(tutti_mpi_library(&library));
  CHECK(strlen(library) > 3);
  CHECK_OK(tutti_components(&components, &count));
  for (int i = 0; i < count; ++i)
    has_mpi |= strstr(components[i].description, library) != NULL;
  CHECK(has_mpi);
  CHECK(tutti_in_place() == TUTTI_IN_PLACE);
}

void run_tests(void) {
  test_communicator();
  test_nodes();
  test_counters();
  test_user_operation();
  test_operations();
  test_types();
  test_memory();
  test_environment();
}
