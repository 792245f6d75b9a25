// Sums in a wider type, compression, and sums of compressed gradients.
#include "tests/c/check.h"

enum { elements = 1000 };
static float gradient[elements], values[elements], error[elements];
static unsigned char packed[4 * elements];

static float number(int rank, int place) {
  const uint32_t mixed = ((uint32_t)rank * 7919u + (uint32_t)place * 104729u + 12345u) * 2654435761u;
  return (float)((double)mixed / 4294967296.0 - 0.5);
}

static void test_accumulate(void) {
  uint16_t in[3], out[3];
  float wide[3] = {0, 0, 0}, rounded[3];
  tutti_options options = TUTTI_OPTIONS_INIT;
  tutti_plan plan = NULL;
  const char* why = NULL;
  options.accumulate = "fp32";
  for (int rank = check_size - 1; rank >= 0; --rank) {
    const float mine[3] = {rank == 0 ? 256.0F : 1.0F, 0.5F, -1.0F};
    if (rank == check_rank) CHECK_OK(tutti_from_float(mine, in, 3, TUTTI_BF16));
    for (int i = 0; i < 3; ++i)
      wide[i] += mine[i];
  }
  CHECK_OK(tutti_allreduce(in, out, 3, TUTTI_BF16, TUTTI_SUM, comm, &options));
  CHECK_OK(tutti_from_float(wide, in, 3, TUTTI_BF16));
  CHECK(memcmp(in, out, sizeof in) == 0);
  CHECK_OK(tutti_to_float(out, rounded, 3, TUTTI_BF16));
  CHECK(rounded[1] == 0.5F * (float)check_size);
  options.rounding = "stochastic";
  CHECK_OK(tutti_plan_allreduce(in, out, 3, TUTTI_BF16, TUTTI_AVG, comm, &options, &plan));
  CHECK_OK(tutti_plan_explain(plan, &why));
  CHECK(strstr(why, "operands are added in fp32, rounded stochastically") != NULL);
  CHECK_OK(tutti_plan_free(&plan));
  options.accumulate = "fp16";
  CHECK_REFUSED(tutti_allreduce(in, out, 3, TUTTI_BF16, TUTTI_SUM, comm, &options), TUTTI_ERROR_ARGUMENT,
                "argument 'accumulate' is 'fp16'; allowed: fp32, fp64");
  options.accumulate = NULL;
  CHECK_REFUSED(tutti_allreduce(in, out, 3, TUTTI_BF16, TUTTI_SUM, comm, &options), TUTTI_ERROR_ARGUMENT,
                "argument 'rounding' is Rounding::stochastic without 'accumulate'");
  options.rounding = "up";
  CHECK_REFUSED(tutti_allreduce(in, out, 3, TUTTI_BF16, TUTTI_SUM, comm, &options), TUTTI_ERROR_ARGUMENT,
                "argument 'rounding' is 'up'; allowed: nearest, stochastic");
}

static void test_compression(void) {
  tutti_compression_options options = TUTTI_COMPRESSION_OPTIONS_INIT;
  int64_t bytes = 0;
  options.block = 100;
  for (int i = 0; i < elements; ++i)
    gradient[i] = number(0, i);
  for (int format = TUTTI_COMPRESSION_BF16; format <= TUTTI_COMPRESSION_TOP_K; ++format) {
    memset(error, 0, sizeof error);
    CHECK_OK(tutti_compressed_size(format, elements, &options, &bytes));
    CHECK(bytes > 0 && bytes <= 2 * elements);
    CHECK_OK(tutti_compress(format, gradient, error, elements, packed, bytes, &options));
    CHECK_OK(tutti_decompress(format, packed, bytes, values, elements, &options));
    for (int i = 0; i < elements; ++i)
      CHECK(values[i] + error[i] == gradient[i]);
    CHECK_OK(tutti_decompress_add(format, packed, bytes, error, elements, &options));
    CHECK(memcmp(error, gradient, sizeof error) == 0);
    CHECK_OK(tutti_compress(format, gradient, NULL, elements, packed, bytes, &options));
  }
  CHECK_REFUSED(tutti_compress(TUTTI_COMPRESSION_INT8, gradient, NULL, elements, packed, 7, &options),
                TUTTI_ERROR_ARGUMENT, "argument 'out' is 7 bytes for 1000 elements; allowed: 1040 bytes");
  CHECK_REFUSED(tutti_compressed_size(6, 1, NULL, &bytes), TUTTI_ERROR_ARGUMENT, "argument 'compression' is 6");
  CHECK_REFUSED(tutti_decompress(TUTTI_COMPRESSION_INT8, NULL, 1040, values, elements, &options), TUTTI_ERROR_ARGUMENT,
                "argument 'in' is NULL");
}

static void test_compressed_sums(void) {
  tutti_compressed sums = NULL;
  const float* lost = NULL;
  int64_t count = 0, bytes = 0;
  int is_complete = 0;
  CHECK_OK(tutti_compressed_create(elements, TUTTI_COMPRESSION_INT8, comm, NULL, NULL, &sums));
  for (int i = 0; i < elements; ++i)
    gradient[i] = values[i] = number(check_rank, i);
  CHECK_OK(tutti_compressed_run(sums, gradient, elements, 1.0F / (float)check_size));
  for (int i = 0; i < elements; ++i) {
    float exact = 0;
    for (int rank = 0; rank < check_size; ++rank)
      exact += number(rank, i) / (float)check_size;
    CHECK(gradient[i] - exact < 0.01F && exact - gradient[i] < 0.01F);
  }
  CHECK_OK(tutti_compressed_error(sums, &lost, &count));
  CHECK(count == elements);
  CHECK_OK(tutti_compressed_sum_error(sums, &lost, &count));
  CHECK_OK(tutti_compressed_bytes_sent(sums, &bytes));
  CHECK((bytes == 0) == (check_size == 1));
  CHECK_OK(tutti_compressed_reset(sums));
  CHECK_OK(tutti_compressed_start(sums, values, elements, 1.0F / (float)check_size));
  while (!is_complete)
    CHECK_OK(tutti_compressed_test(sums, &is_complete));
  CHECK_OK(tutti_compressed_wait(sums));
  CHECK(memcmp(values, gradient, sizeof values) == 0);
  CHECK_REFUSED(tutti_compressed_run(sums, values, 3, 1), TUTTI_ERROR_ARGUMENT,
                "argument 'gradient' is 3 elements; allowed: 1000 elements");
  CHECK_OK(tutti_compressed_free(&sums));
  CHECK(sums == NULL);
  CHECK_REFUSED(tutti_compressed_wait(sums), TUTTI_ERROR_ARGUMENT, "argument 'sums'");
  CHECK_REFUSED(tutti_compressed_create(-1, TUTTI_COMPRESSION_INT8, comm, NULL, NULL, &sums), TUTTI_ERROR_ARGUMENT,
                "argument 'count' is -1");
}

void run_tests(void) {
  test_accumulate();
  test_compression();
  test_compressed_sums();
}
