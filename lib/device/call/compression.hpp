#pragma once
// Compression in memory of a device, by its kernels.

#include "lib/core/reduce/compression_arguments.hpp"
#include "tutti/compression.hpp"

struct CUstream_st;

namespace tutti::device {

/// A stream of the device, in which nothing waits for long.
[[nodiscard]] CUstream_st* work_stream(int device);
/// Returns when all that was queued in it is over. Throws Error.
void wait_for(int device, CUstream_st* stream);

// Work in the order of a stream, of the context of the device that holds all memory. Each throws Error.

/// The scales, places and elements are aligned to four bytes.
void compress(int device, Compression compression, Rounding rounding, const CompressArguments& call,
              CUstream_st* stream);
/// out = decompressed, or out += that.
void decompress(int device, Compression compression, bool adds, const DecompressArguments& call, CUstream_st* stream);
/// data[i] = data[i] * factor
void scale(int device, float* data, Count count, float factor, CUstream_st* stream);

}  // namespace tutti::device
