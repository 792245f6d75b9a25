// Compression, and sums of compressed gradients, in C.
#include <fmt/format.h>

#include "bindings/c/call.hpp"
#include "bindings/c/handles.hpp"

struct tutti_compressed_object : tutti::c::Marked<0x7475747469c5> {
  explicit tutti_compressed_object(tutti::CompressedAllreduce made) : sums(std::move(made)) {}
  tutti::CompressedAllreduce sums;
};

namespace {

using namespace tutti::c;
using tutti::Compression;
using tutti::CompressionOptions;
using tutti::Count;

static_assert(TUTTI_COMPRESSION_BF16 == static_cast<int>(Compression::bf16));
static_assert(TUTTI_COMPRESSION_FP16 == static_cast<int>(Compression::fp16));
static_assert(TUTTI_COMPRESSION_FP8_E4M3 == static_cast<int>(Compression::fp8_e4m3));
static_assert(TUTTI_COMPRESSION_FP8_E5M2 == static_cast<int>(Compression::fp8_e5m2));
static_assert(TUTTI_COMPRESSION_INT8 == static_cast<int>(Compression::int8));
static_assert(TUTTI_COMPRESSION_TOP_K == static_cast<int>(Compression::top_k));

Compression compression_of(const Site& site, tutti_compression given) {
  if (given < TUTTI_COMPRESSION_BF16 || given > TUTTI_COMPRESSION_TOP_K)
    site.refuse("compression", std::to_string(given), "a value of enum tutti_compressions, 0 to 5");
  return static_cast<Compression>(given);
}

CompressionOptions options_of(const Site& site, const tutti_compression_options* given) {
  if (site.sized("options", given, "= TUTTI_COMPRESSION_OPTIONS_INIT") == nullptr) return {};
  return {Count{given->block}, given->keep, rounding_of(site, given->rounding)};
}

/// An array of C: `count` elements, which are none at NULL.
template <class Element>
std::span<Element> elements(const Site& site, std::string_view argument, Element* data, int64_t count) {
  if (count < 0) site.refuse("count", std::to_string(count), "0 or more");
  if (count > 0 && data == nullptr) site.refuse(argument, "NULL", "memory of count elements");
  return {data, static_cast<std::size_t>(count)};
}
std::span<const std::byte> bytes_at(const Site& site, const void* in, int64_t bytes) {
  return elements(site, "in", static_cast<const std::byte*>(in), bytes);
}

tutti::CompressedAllreduce& sums_of(const Site& site, tutti_compressed sums) {
  return object_of(site, "sums", sums, "a handle that tutti_compressed_create made").sums;
}

void tell(const Site& site, std::span<const float> values, const float** error, int64_t* count) {
  site.pointed("error", error) = values.data();
  site.pointed("count", count) = static_cast<int64_t>(values.size());
}

}  // namespace

tutti_status tutti_compressed_size(tutti_compression compression, int64_t count,
                                   const tutti_compression_options* options, int64_t* bytes) {
  return guarded([&](const Site& site) {
    site.pointed("bytes", bytes) =
        compressed_size(compression_of(site, compression), Count{count}, options_of(site, options)).value();
  });
}

tutti_status tutti_compress(tutti_compression compression, const float* in, float* error, int64_t count, void* out,
                            int64_t bytes, const tutti_compression_options* options) {
  return guarded([&](const Site& site) {
    const std::span<float> its_error = error == nullptr ? std::span<float>{} : elements(site, "error", error, count);
    compress(compression_of(site, compression), elements(site, "in", in, count), its_error,
             elements(site, "out", static_cast<std::byte*>(out), bytes), options_of(site, options));
  });
}

tutti_status tutti_decompress(tutti_compression compression, const void* in, int64_t bytes, float* out, int64_t count,
                              const tutti_compression_options* options) {
  return guarded([&](const Site& site) {
    decompress(compression_of(site, compression), bytes_at(site, in, bytes), elements(site, "out", out, count),
               options_of(site, options));
  });
}

tutti_status tutti_decompress_add(tutti_compression compression, const void* in, int64_t bytes, float* out,
                                  int64_t count, const tutti_compression_options* options) {
  return guarded([&](const Site& site) {
    decompress_add(compression_of(site, compression), bytes_at(site, in, bytes), elements(site, "out", out, count),
                   options_of(site, options));
  });
}

tutti_status tutti_compressed_create(int64_t count, tutti_compression compression, tutti_comm comm,
                                     const tutti_compression_options* compression_options, const tutti_options* options,
                                     tutti_compressed* sums) {
  return stored("sums", sums, [&](const Site& site) {
    return std::make_unique<tutti_compressed_object>(
               tutti::CompressedAllreduce{Count{count}, compression_of(site, compression), communicator(site, comm),
                                          options_of(site, compression_options), call_options(site, options)})
        .release();
  });
}

tutti_status tutti_compressed_run(tutti_compressed sums, float* gradient, int64_t count, float factor) {
  return guarded(
      [&](const Site& site) { sums_of(site, sums).run(elements(site, "gradient", gradient, count), factor); });
}

tutti_status tutti_compressed_start(tutti_compressed sums, float* gradient, int64_t count, float factor) {
  return guarded(
      [&](const Site& site) { sums_of(site, sums).start(elements(site, "gradient", gradient, count), factor); });
}

tutti_status tutti_compressed_test(tutti_compressed sums, int* is_complete) {
  return guarded([&](const Site& site) {
    int& told = site.pointed("is_complete", is_complete);
    told = 0;
    told = sums_of(site, sums).test() ? 1 : 0;
  });
}

tutti_status tutti_compressed_wait(tutti_compressed sums) {
  return guarded([&](const Site& site) { sums_of(site, sums).wait(); });
}

tutti_status tutti_compressed_error(tutti_compressed sums, const float** error, int64_t* count) {
  return guarded([&](const Site& site) { tell(site, sums_of(site, sums).error(), error, count); });
}

tutti_status tutti_compressed_sum_error(tutti_compressed sums, const float** error, int64_t* count) {
  return guarded([&](const Site& site) { tell(site, sums_of(site, sums).sum_error(), error, count); });
}

tutti_status tutti_compressed_reset(tutti_compressed sums) {
  return guarded([&](const Site& site) { sums_of(site, sums).reset(); });
}

tutti_status tutti_compressed_bytes_sent(tutti_compressed sums, int64_t* bytes) {
  return guarded([&](const Site& site) { site.pointed("bytes", bytes) = sums_of(site, sums).bytes_sent().value(); });
}

tutti_status tutti_compressed_free(tutti_compressed* sums) { return freed("sums", sums); }
