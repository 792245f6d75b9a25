#pragma once
// Floats in fewer bytes, and sums of gradients that are compressed on their way. tutti/compression.hpp and
// tutti/compressed_allreduce.hpp have the rules, docs/compression.md the formats to the byte.

#include <stddef.h>

#include "tutti/c/requests.h"
#include "tutti/c/types.h"

/// A value of enum tutti_compressions. An int, so that a wrong number is an error and not undefined.
typedef int tutti_compression;
enum tutti_compressions {
  TUTTI_COMPRESSION_BF16 = 0,
  TUTTI_COMPRESSION_FP16 = 1,
  TUTTI_COMPRESSION_FP8_E4M3 = 2,
  TUTTI_COMPRESSION_FP8_E5M2 = 3,
  TUTTI_COMPRESSION_INT8 = 4,
  TUTTI_COMPRESSION_TOP_K = 5
};

/// How to compress; functions take NULL for the values of the initialiser.
typedef struct tutti_compression_options {
  size_t size;           ///< sizeof(tutti_compression_options)
  int64_t block;         ///< Elements that share a scale, 1 to 65,536 (fp8, int8).
  double keep;           ///< The share of the elements that are kept, above 0, at most 1 (top_k).
  const char* rounding;  ///< "nearest", "stochastic"; NULL: nearest.
} tutti_compression_options;
#define TUTTI_COMPRESSION_OPTIONS_INIT \
  { sizeof(tutti_compression_options), 256, 0.01, NULL }

// Memory of a device works as well, all of it on one, at addresses that 4 divides: the functions return when it is
// done.

/// The bytes that so many floats become.
TUTTI_C_API tutti_status tutti_compressed_size(tutti_compression compression, int64_t count,
                                               const tutti_compression_options* options, int64_t* bytes);
/// out = compressed(in + error), then error = (in + error) - what `out` decompresses to. `error` may be NULL, else it
/// has `count` elements, zeros at first. `out` has `bytes` bytes, which are those of tutti_compressed_size.
TUTTI_C_API tutti_status tutti_compress(tutti_compression compression, const float* in, float* error, int64_t count,
                                        void* out, int64_t bytes, const tutti_compression_options* options);
/// out = decompressed(in)
TUTTI_C_API tutti_status tutti_decompress(tutti_compression compression, const void* in, int64_t bytes, float* out,
                                          int64_t count, const tutti_compression_options* options);
/// out += decompressed(in)
TUTTI_C_API tutti_status tutti_decompress_add(tutti_compression compression, const void* in, int64_t bytes, float* out,
                                              int64_t count, const tutti_compression_options* options);

/// tutti::CompressedAllreduce: sums of gradients of `count` floats, with the errors of the runs before.
typedef struct tutti_compressed_object* tutti_compressed;
/// Collective. `options` are those of the exchanges.
TUTTI_C_API tutti_status tutti_compressed_create(int64_t count, tutti_compression compression, tutti_comm comm,
                                                 const tutti_compression_options* compression_options,
                                                 const tutti_options* options, tutti_compressed* sums);
/// The same for gradients on the device whose context is current in this thread.
TUTTI_C_API tutti_status tutti_compressed_create_on_device(int64_t count, tutti_compression compression,
                                                           tutti_comm comm,
                                                           const tutti_compression_options* compression_options,
                                                           const tutti_options* options, tutti_compressed* sums);
/// The gradient becomes the sum of all ranks' gradients times `factor`.
TUTTI_C_API tutti_status tutti_compressed_run(tutti_compressed sums, float* gradient, int64_t count, float factor);
/// The same in parts: the gradient must not be touched until a test or a wait says that the run is over.
TUTTI_C_API tutti_status tutti_compressed_start(tutti_compressed sums, float* gradient, int64_t count, float factor);
TUTTI_C_API tutti_status tutti_compressed_test(tutti_compressed sums, int* is_complete);
/// Waits for the first exchange of a run, and starts the second: where objects of one communicator run together, all
/// ranks start exchanges in the same order.
TUTTI_C_API tutti_status tutti_compressed_go_on(tutti_compressed sums);
TUTTI_C_API tutti_status tutti_compressed_wait(tutti_compressed sums);
/// What this rank's gradients have lost so far, `*count` elements; valid until the handle is freed, and in memory of
/// the device if that is where the gradients are.
TUTTI_C_API tutti_status tutti_compressed_error(tutti_compressed sums, const float** error, int64_t* count);
/// What the sum of this rank's part has lost.
TUTTI_C_API tutti_status tutti_compressed_sum_error(tutti_compressed sums, const float** error, int64_t* count);
/// Both errors become 0.
TUTTI_C_API tutti_status tutti_compressed_reset(tutti_compressed sums);
/// The bytes that one run has for other ranks.
TUTTI_C_API tutti_status tutti_compressed_bytes_sent(tutti_compressed sums, int64_t* bytes);
/// Waits for the exchange that is under way.
TUTTI_C_API tutti_status tutti_compressed_free(tutti_compressed* sums);
