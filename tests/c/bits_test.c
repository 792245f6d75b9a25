// The fixed order of reductions, and reductions of distributed arrays, against trees that are computed here.
#include "tests/c/check.h"

enum { elements = 3000, most_ranks = 64 };
static double in[elements], out[elements], array[elements], other[elements];

/// Numbers of many magnitudes, of which every order has another sum.
static double number(int rank, int place) {
  const uint32_t mixed = ((uint32_t)rank * 7919u + (uint32_t)place * 104729u + 12345u) * 2654435761u;
  const double digits = (double)mixed / 4294967296.0 - 0.5;
  return mixed % 3 == 0 ? digits * 1e6 : mixed % 3 == 1 ? digits : digits * 1e-6;
}

/// The first ranks pair up until a power of two is left, then all do.
static double folded(int place) {
  double row[most_ranks];
  int length = check_size, core = 1;
  for (int rank = 0; rank < length; ++rank)
    row[rank] = number(rank, place);
  while (2 * core <= length)
    core *= 2;
  for (int i = 0, left = length - core; i < core; ++i)
    row[i] = i < left ? row[2 * i] + row[2 * i + 1] : row[i + left];
  for (length = core; length > 1; length /= 2)
    for (int i = 0; i < length / 2; ++i)
      row[i] = row[2 * i] + row[2 * i + 1];
  return row[0];
}

/// The left part is the largest power of two that leaves a right part.
static double tree(const double* x, int count) {
  int left = 1;
  if (count == 1) return x[0];
  while (2 * left < count)
    left *= 2;
  return tree(x, left) + tree(x + left, count - left);
}

static void compare(const char* what, int first) {
  for (int i = 0; i < elements / most_ranks; ++i) {
    const double wanted = folded(first + i);
    if (memcmp(&out[i], &wanted, sizeof wanted) == 0) continue;
    check_failed(__FILE__, __LINE__, what, "other bits");
    return;
  }
}

static void test_fixed_order(void) {
  const int count = elements / most_ranks;
  tutti_options fixed = TUTTI_OPTIONS_INIT;
  tutti_comm_options all_fixed = TUTTI_COMM_OPTIONS_INIT;
  tutti_comm other_comm = NULL;
  tutti_request request = NULL;
  fixed.bits = all_fixed.bits = "fixed";
  for (int i = 0; i < elements; ++i)
    in[i] = number(check_rank, i);
  CHECK_OK(tutti_allreduce(in, out, count, TUTTI_FP64, TUTTI_SUM, comm, &fixed));
  compare("allreduce", 0);
  CHECK_OK(tutti_allreduce_async(in, out, count, TUTTI_FP64, TUTTI_SUM, comm, &fixed, &request));
  CHECK_OK(tutti_request_wait(&request));
  compare("nonblocking allreduce", 0);
  CHECK_OK(tutti_reduce_scatter(in, out, count, TUTTI_FP64, TUTTI_SUM, comm, &fixed));
  compare("reduce_scatter", check_rank * count);
  CHECK_OK(tutti_comm_create(MPI_COMM_WORLD, &all_fixed, &other_comm));
  memset(out, 0, sizeof out);
  CHECK_OK(tutti_allreduce(in, out, count, TUTTI_FP64, TUTTI_SUM, other_comm, NULL));
  compare("allreduce on a communicator", 0);
  fixed.algorithm = "ring";
  CHECK_REFUSED(tutti_allreduce(in, out, count, TUTTI_FP64, TUTTI_SUM, comm, &fixed), TUTTI_ERROR_ARGUMENT,
                "argument 'algorithm' is 'ring', which keeps no fixed order");
  fixed.algorithm = NULL;
  fixed.bits = all_fixed.bits = "exact";
  CHECK_REFUSED(tutti_allreduce(in, out, count, TUTTI_FP64, TUTTI_SUM, comm, &fixed), TUTTI_ERROR_ARGUMENT,
                "argument 'bits' is 'exact'; allowed: same, fixed");
  CHECK_OK(tutti_comm_free(&other_comm));
  CHECK_REFUSED(tutti_comm_create(MPI_COMM_WORLD, &all_fixed, &other_comm), TUTTI_ERROR_ARGUMENT,
                "argument 'bits' is 'exact'; allowed: same, fixed");
}

/// Blocks of the array: the first rank has half of it, the last one the rest, and those between one element each.
static void test_arrays(void) {
  const int half = check_size == 1 ? elements : elements / 2;
  const int begin = check_rank == 0 ? 0 : half + check_rank - 1;
  const int end = check_rank == 0 ? half : check_rank == check_size - 1 ? elements : begin + 1;
  const int64_t offset = begin, count = end - begin;
  double result = 0, wanted, products[elements], most = -1e300;
  float narrow = 1;
  for (int i = 0; i < elements; ++i) {
    array[i] = number(1000, i);
    other[i] = number(1001, i);
    products[i] = array[i] * other[i];
    most = array[i] > most ? array[i] : most;
  }
  wanted = tree(array, elements);
  CHECK_OK(tutti_sum(array + begin, count, NULL, TUTTI_FP64, &result, comm));
  CHECK(memcmp(&result, &wanted, sizeof result) == 0);
  result = 0;
  CHECK_OK(tutti_sum(array + begin, count, &offset, TUTTI_FP64, &result, comm));
  CHECK(memcmp(&result, &wanted, sizeof result) == 0);
  wanted = tree(products, elements);
  CHECK_OK(tutti_dot(array + begin, other + begin, count, NULL, TUTTI_FP64, &result, comm));
  CHECK(memcmp(&result, &wanted, sizeof result) == 0);
  CHECK_OK(tutti_dot(array + begin, array + begin, count, NULL, TUTTI_FP64, &wanted, comm));
  CHECK_OK(tutti_norm2(array + begin, count, NULL, TUTTI_FP64, &result, comm));
  CHECK(result * result <= wanted * (1 + 1e-15) && result * result >= wanted * (1 - 1e-15));
  CHECK_OK(tutti_reduce_array(array + begin, count, NULL, TUTTI_FP64, TUTTI_MAX, &result, comm));
  CHECK(memcmp(&result, &most, sizeof result) == 0);
  CHECK_OK(tutti_sum(NULL, 0, NULL, TUTTI_FP32, &narrow, comm));
  CHECK(memcmp(&narrow, &(float){0}, sizeof narrow) == 0);
}

static void test_refused_arrays(void) {
  double result = 0;
  const int64_t offset = 10 * check_rank + 1;
#define REFUSED(call, text) CHECK_REFUSED(call, TUTTI_ERROR_ARGUMENT, text)
  REFUSED(tutti_sum(array, 10, &offset, TUTTI_FP64, &result, comm), "'offset' is 1 on rank 0");
  REFUSED(tutti_sum(array, 10, NULL, 99, &result, comm), "'type' is 99");
  REFUSED(tutti_sum(array, 10, NULL, TUTTI_FP64, NULL, comm), "'result' is NULL; allowed: memory of one element");
  REFUSED(tutti_sum(NULL, 10, NULL, TUTTI_FP64, &result, comm), "'x' is null");
  REFUSED(tutti_sum(array, -1, NULL, TUTTI_FP64, &result, comm), "'count' is -1");
  REFUSED(tutti_sum(tutti_not_contiguous(), 10, NULL, TUTTI_FP64, &result, comm), "'x' is not contiguous");
  REFUSED(tutti_sum(array, 10, NULL, TUTTI_FP64, &result, NULL), "'comm' is NULL");
  REFUSED(tutti_dot(array, NULL, 10, NULL, TUTTI_FP64, &result, comm), "'y' is NULL");
  REFUSED(tutti_dot(array, array, 10, NULL, TUTTI_INT32, &result, comm), "'type' is int32; allowed: fp32, fp64");
  REFUSED(tutti_norm2(array, 10, NULL, TUTTI_BF16, &result, comm), "'type' is bf16; allowed: fp32, fp64");
  REFUSED(tutti_reduce_array(array, 0, NULL, TUTTI_FP64, TUTTI_MAX, &result, comm), "'x' is no element on any rank");
  REFUSED(tutti_reduce_array(array, 10, NULL, TUTTI_FP64, TUTTI_AVG, &result, comm), "'op' is");
  REFUSED(tutti_reduce_array(array, 10, NULL, TUTTI_FP64, NULL, &result, comm), "'op' is NULL");
}

void run_tests(void) {
  test_fixed_order();
  test_arrays();
  test_refused_arrays();
}
