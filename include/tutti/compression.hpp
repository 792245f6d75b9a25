#pragma once
// Floats in fewer bytes: compression with error feedback, as for gradients. docs/compression.md has the formats to the
// byte, and says when each is worth it. tutti/compressed_allreduce.hpp sums gradients that travel so.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "tutti/device_span.hpp"
#include "tutti/export.hpp"
#include "tutti/op.hpp"
#include "tutti/types.hpp"

struct CUstream_st;  // CUstream and cudaStream_t point to it

namespace tutti {

/// What floats become. fp8 and int8 have a scale for each block of elements. top_k keeps the elements of the largest
/// magnitudes, as they are.
enum class Compression : std::uint8_t { bf16, fp16, fp8_e4m3, fp8_e5m2, int8, top_k };
/// By Compression.
inline constexpr std::array<std::string_view, 6> compression_names{"bf16",     "fp16", "fp8_e4m3",
                                                                   "fp8_e5m2", "int8", "top_k"};

struct CompressionOptions {
  Count block{256};    ///< Elements that share a scale, 1 to 65,536 (fp8, int8).
  double keep = 0.01;  ///< The share of the elements that are kept, above 0, at most 1 (top_k); at least one is.
  /// How elements are rounded. Stochastic: the random bits are a hash of the element; top_k rounds nothing.
  Rounding rounding = Rounding::nearest;
};

/// The bytes that so many floats become: the same for all floats. ArgumentError if the count is negative or, for top_k,
/// 2^32 or more, and for options that are not as above; so are all functions here.
[[nodiscard]] TUTTI_API Bytes compressed_size(Compression compression, Count count,
                                              const CompressionOptions& options = {});

/// out = compressed(in + error), then error = (in + error) - what `out` decompresses to. Passed on from call to call,
/// `error` keeps what was lost, and the next call sends it: error feedback. Empty: there is none. Else it is as long as
/// `in`, and zeros at first. `out` has compressed_size() bytes. The spans do not overlap. Two passes over a block that
/// is in the nearest cache, hence one over memory; top_k: some four.
///
/// Infinities and NaN: bf16 and fp16 keep them (every NaN is the same), top_k takes NaN for the largest magnitude, then
/// infinities; a block of fp8 or int8 that has one becomes NaN as a whole. Their error is 0. Finite numbers that are
/// too large for fp16 or bf16 become the largest, and the rest is error.
TUTTI_API void compress(Compression compression, std::span<const float> in, std::span<float> error,
                        std::span<std::byte> out, const CompressionOptions& options = {});
/// out = decompressed(in). The options are those of compress(), but for the rounding. ArgumentError if `in` is not as
/// long as compressed_size(), has places that no compress() gives (top_k), or shares memory with `out`.
TUTTI_API void decompress(Compression compression, std::span<const std::byte> in, std::span<float> out,
                          const CompressionOptions& options = {});
/// out += decompressed(in)
TUTTI_API void decompress_add(Compression compression, std::span<const std::byte> in, std::span<float> out,
                              const CompressionOptions& options = {});

// The same in memory of a device, by kernels that give the host's bits (but for which NaN a NaN is). All memory is on
// one device, at addresses that 4 divides. With a stream of its context, the work is put into the stream, and the call
// returns at once; without one it returns when the work is over. Managed memory is compressed by the host, and takes no
// stream. Streams may be captured; those with top_k only where the driver captures cuMemAllocAsync. With a place of
// top_k twice, or beyond the end, decompress() gives any of its values, or passes it over, where the host refuses the
// bytes.
//
// Errors  as above, and StateError before MPI_Init and after MPI_Finalize; ArgumentError, which names the rank of
//         MPI_COMM_WORLD, for memory of several devices and for streams of other contexts; Error if the driver refuses,
//         as it does a stream that was destroyed.

TUTTI_API void compress(Compression compression, DeviceSpan<const float> in, DeviceSpan<float> error,
                        DeviceSpan<std::uint8_t> out, const CompressionOptions& options = {},
                        std::optional<CUstream_st*> stream = {});
TUTTI_API void decompress(Compression compression, DeviceSpan<const std::uint8_t> in, DeviceSpan<float> out,
                          const CompressionOptions& options = {}, std::optional<CUstream_st*> stream = {});
TUTTI_API void decompress_add(Compression compression, DeviceSpan<const std::uint8_t> in, DeviceSpan<float> out,
                              const CompressionOptions& options = {}, std::optional<CUstream_st*> stream = {});

/// "bf16", "int8", ... ArgumentError if it is no value of the enum.
[[nodiscard]] TUTTI_API std::string_view to_string(Compression compression);

}  // namespace tutti
