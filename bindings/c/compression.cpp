// Compression, and sums of compressed gradients, in C.
#include <fmt/format.h>

#include "bindings/c/call.hpp"
#include "bindings/c/handles.hpp"
#include "lib/core/memory/memory_kind.hpp"

struct tutti_compressed_object : tutti::c::Marked<0x7475747469c5> {
  tutti_compressed_object(tutti::CompressedAllreduce made, bool on_device)
      : sums(std::move(made)), is_on_device(on_device) {}
  tutti::CompressedAllreduce sums;
  bool is_on_device;
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

bool is_on_device(const void* data) { return tutti::memory_of(data).kind == tutti::MemoryKind::device; }

struct Named {
  const char* name;
  const void* data;
};
/// Whether arguments are on a device: all of them, or none. NULL is neither.
bool are_on_device(const Site& site, std::initializer_list<Named> arguments) {
  const Named* first = nullptr;
  for (const Named& argument : arguments) {
    if (argument.data == nullptr) continue;
    if (first == nullptr) first = &argument;
    const bool is_there = is_on_device(argument.data);
    if (is_there != is_on_device(first->data))
      site.refuse(argument.name, is_there ? "memory of a device" : "memory of the host",
                  std::string{"memory of the kind that '"} + first->name + "' has");
  }
  return first != nullptr && is_on_device(first->data);
}
template <class Element>
tutti::DeviceSpan<Element> on_device(std::span<Element> memory) {
  return {memory.data(), memory.size()};
}
tutti::DeviceSpan<const std::uint8_t> on_device(std::span<const std::byte> memory) {
  return {reinterpret_cast<const std::uint8_t*>(memory.data()), memory.size()};
}
tutti::DeviceSpan<std::uint8_t> on_device(std::span<std::byte> memory) {
  return {reinterpret_cast<std::uint8_t*>(memory.data()), memory.size()};
}

tutti_compressed_object& object_at(const Site& site, tutti_compressed sums) {
  return object_of(site, "sums", sums, "a handle that tutti_compressed_create made");
}
tutti::CompressedAllreduce& sums_of(const Site& site, tutti_compressed sums) { return object_at(site, sums).sums; }

void start(const Site& site, tutti_compressed sums, float* gradient, int64_t count, float factor) {
  const std::span<float> its = elements(site, "gradient", gradient, count);
  if (is_on_device(gradient))
    sums_of(site, sums).start(on_device(its), factor);
  else
    sums_of(site, sums).start(its, factor);
}

template <class Span>
void tell(const Site& site, const Span& values, const float** error, int64_t* count) {
  site.pointed("error", error) = values.data();
  site.pointed("count", count) = static_cast<int64_t>(values.size());
}

tutti_status create(bool on_device, int64_t count, tutti_compression compression, tutti_comm comm,
                    const tutti_compression_options* compression_options, const tutti_options* options,
                    tutti_compressed* sums, const char* function = __builtin_FUNCTION()) {
  return stored(
      "sums", sums,
      [&](const Site& site) {
        const auto made = [&](auto make) {
          return make(Count{count}, compression_of(site, compression), communicator(site, comm),
                      options_of(site, compression_options), call_options(site, options));
        };
        using tutti::CompressedAllreduce;
        auto its = on_device ? made([](const auto&... all) { return CompressedAllreduce::on_device(all...); })
                             : made([](const auto&... all) { return CompressedAllreduce{all...}; });
        return std::make_unique<tutti_compressed_object>(std::move(its), on_device).release();
      },
      function);
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
    const std::span<const float> values = elements(site, "in", in, count);
    const std::span<std::byte> its_out = elements(site, "out", static_cast<std::byte*>(out), bytes);
    const Compression how = compression_of(site, compression);
    if (are_on_device(site, {{"in", in}, {"error", error}, {"out", out}}))
      compress(how, on_device(values), on_device(its_error), on_device(its_out), options_of(site, options));
    else
      compress(how, values, its_error, its_out, options_of(site, options));
  });
}

tutti_status tutti_decompress(tutti_compression compression, const void* in, int64_t bytes, float* out, int64_t count,
                              const tutti_compression_options* options) {
  return guarded([&](const Site& site) {
    const Compression how = compression_of(site, compression);
    const std::span<float> values = elements(site, "out", out, count);
    if (are_on_device(site, {{"in", in}, {"out", out}}))
      decompress(how, on_device(bytes_at(site, in, bytes)), on_device(values), options_of(site, options));
    else
      decompress(how, bytes_at(site, in, bytes), values, options_of(site, options));
  });
}

tutti_status tutti_decompress_add(tutti_compression compression, const void* in, int64_t bytes, float* out,
                                  int64_t count, const tutti_compression_options* options) {
  return guarded([&](const Site& site) {
    const Compression how = compression_of(site, compression);
    const std::span<float> values = elements(site, "out", out, count);
    if (are_on_device(site, {{"in", in}, {"out", out}}))
      decompress_add(how, on_device(bytes_at(site, in, bytes)), on_device(values), options_of(site, options));
    else
      decompress_add(how, bytes_at(site, in, bytes), values, options_of(site, options));
  });
}

tutti_status tutti_compressed_create(int64_t count, tutti_compression compression, tutti_comm comm,
                                     const tutti_compression_options* compression_options, const tutti_options* options,
                                     tutti_compressed* sums) {
  return create(false, count, compression, comm, compression_options, options, sums);
}

tutti_status tutti_compressed_create_on_device(int64_t count, tutti_compression compression, tutti_comm comm,
                                               const tutti_compression_options* compression_options,
                                               const tutti_options* options, tutti_compressed* sums) {
  return create(true, count, compression, comm, compression_options, options, sums);
}

tutti_status tutti_compressed_run(tutti_compressed sums, float* gradient, int64_t count, float factor) {
  return guarded([&](const Site& site) {
    start(site, sums, gradient, count, factor);
    sums_of(site, sums).wait();
  });
}

tutti_status tutti_compressed_start(tutti_compressed sums, float* gradient, int64_t count, float factor) {
  return guarded([&](const Site& site) { start(site, sums, gradient, count, factor); });
}

tutti_status tutti_compressed_test(tutti_compressed sums, int* is_complete) {
  return guarded([&](const Site& site) {
    int& told = site.pointed("is_complete", is_complete);
    told = 0;
    told = sums_of(site, sums).test() ? 1 : 0;
  });
}

tutti_status tutti_compressed_go_on(tutti_compressed sums) {
  return guarded([&](const Site& site) { sums_of(site, sums).go_on(); });
}

tutti_status tutti_compressed_wait(tutti_compressed sums) {
  return guarded([&](const Site& site) { sums_of(site, sums).wait(); });
}

tutti_status tutti_compressed_error(tutti_compressed sums, const float** error, int64_t* count) {
  return guarded([&](const Site& site) {
    const tutti_compressed_object& object = object_at(site, sums);
    if (object.is_on_device)
      tell(site, object.sums.device_error(), error, count);
    else
      tell(site, object.sums.error(), error, count);
  });
}

tutti_status tutti_compressed_sum_error(tutti_compressed sums, const float** error, int64_t* count) {
  return guarded([&](const Site& site) {
    const tutti_compressed_object& object = object_at(site, sums);
    if (object.is_on_device)
      tell(site, object.sums.device_sum_error(), error, count);
    else
      tell(site, object.sums.sum_error(), error, count);
  });
}

tutti_status tutti_compressed_reset(tutti_compressed sums) {
  return guarded([&](const Site& site) { sums_of(site, sums).reset(); });
}

tutti_status tutti_compressed_bytes_sent(tutti_compressed sums, int64_t* bytes) {
  return guarded([&](const Site& site) { site.pointed("bytes", bytes) = sums_of(site, sums).bytes_sent().value(); });
}

tutti_status tutti_compressed_free(tutti_compressed* sums) { return freed("sums", sums); }
