// Compression in memory of devices: the bits of the host, in the order of a stream, and sums of compressed gradients.
#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdlib>

#include "tests/engine/compression_cases.hpp"
#include "tests/mpi/device_stream_cases.hpp"
#include "tutti.h"
#include "tutti/compressed_allreduce.hpp"

namespace tutti::test {
namespace {

using Kind = TestDevices::Kind;
using Packed8 = std::vector<std::uint8_t>;

/// Floats of every kind, among others that are alike in magnitude.
Floats difficult(std::size_t count, unsigned seed) {
  constexpr std::array special{0.0F,   -0.0F,     infinity,  -infinity, 1e-42F, -1e-42F, 3.4e38F,
                               -3e38F, 65'504.0F, 65'520.0F, 1.0F,      -1.0F,  0.5F,    1e-31F};
  Floats values = numbers(count, seed);
  std::mt19937 random{seed};
  for (std::size_t i = 0; i < count; i += 1 + random() % 97)
    values[i] = special[random() % special.size()];
  if (count > 600) values[550] = std::numeric_limits<float>::quiet_NaN();
  return values;
}

/// The bits, but all NaNs are alike.
bool is_alike(std::span<const float> a, std::span<const float> b) {
  return std::ranges::equal(a, b, [](float x, float y) {
    return (std::isnan(x) && std::isnan(y)) || std::bit_cast<std::uint32_t>(x) == std::bit_cast<std::uint32_t>(y);
  });
}

/// An array of a device that begins so many bytes behind an aligned address.
template <class T>
class OnDevice {
 public:
  OnDevice(std::span<const T> values, std::size_t offset, Kind kind = Kind::device)
      : size_(values.size()), offset_(offset), array_(offset + size_ * sizeof(T) + 16, kind) {
    if (size_ > 0) TestDevices::get().copy(array_.data() + offset_, values.data(), size_ * sizeof(T));
  }
  [[nodiscard]] DeviceSpan<T> span() const {
    return {size_ == 0 ? nullptr : reinterpret_cast<T*>(array_.data() + offset_), size_};
  }
  [[nodiscard]] std::vector<T> contents() const {
    std::vector<T> values(size_);
    if (size_ > 0) TestDevices::get().copy(values.data(), array_.data() + offset_, size_ * sizeof(T));
    return values;
  }

 private:
  std::size_t size_, offset_;
  DeviceArray array_;
};

std::span<const std::uint8_t> as_uint8(const Packed& bytes) {
  return {reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()};
}

Floats floats_at_the_end(std::span<const std::uint8_t> bytes, std::size_t last) {
  Floats values(last / sizeof(float));
  if (last > 0) std::memcpy(values.data(), bytes.last(last).data(), last);
  return values;
}

/// compress(), decompress() and decompress_add() on a device and on the host.
void expect_bits_of_host(Compression c, const Floats& values, const Floats& error, const CompressionOptions& options,
                         std::size_t offset) {
  SCOPED_TRACE(fmt::format("{}, {} elements, blocks of {}, {} bytes behind, {} errors", to_string(c), values.size(),
                           options.block.value(), offset, error.size()));
  Floats host_error = error;
  const Packed expected = packed(c, values, host_error, options);
  const OnDevice<float> in{values, offset}, its_error{error, 4};
  const OnDevice<std::uint8_t> out{Packed8(expected.size()), offset};
  compress(c, in.span(), its_error.span(), out.span(), options);
  const std::vector<std::uint8_t> given = out.contents();
  const std::size_t kept = c == Compression::top_k ? expected.size() / 2 : 0;  // bytes of floats, at the end
  ASSERT_TRUE(
      std::ranges::equal(std::span{given}.first(given.size() - kept), as_uint8(expected).first(given.size() - kept)));
  ASSERT_TRUE(is_alike(floats_at_the_end(given, kept), floats_at_the_end(as_uint8(expected), kept)));
  ASSERT_TRUE(is_alike(its_error.contents(), host_error));

  const OnDevice<float> became{Floats(values.size(), 7.0F), offset}, sum{values, 0};
  decompress(c, out.span(), became.span(), options);
  ASSERT_TRUE(is_alike(became.contents(), unpacked(c, expected, values.size(), options)));
  Floats expected_sum = values;
  decompress_add(c, expected, expected_sum, options);
  decompress_add(c, out.span(), sum.span(), options);
  ASSERT_TRUE(is_alike(sum.contents(), expected_sum));
}

class DeviceCompression : public OnStream {};

TEST_F(DeviceCompression, GivesTheBitsOfTheHost) {
  const auto before = TestDevices::get().counters();
  for (const Rounding rounding : {Rounding::nearest, Rounding::stochastic})
    for (const Compression c : all_formats)
      for (const std::size_t block : {4U, 7U, 256U})
        for (const std::size_t count : {0U, 1U, 3U, 255U, 257U, 1300U}) {
          if (!has_blocks(c) && block != 256) continue;
          const CompressionOptions options{.block = Count{block}, .keep = 0.1, .rounding = rounding};
          const Floats values = difficult(count, static_cast<unsigned>(count + block));
          for (const std::size_t offset : {0U, 4U}) {
            expect_bits_of_host(c, values, {}, options, offset);
            expect_bits_of_host(c, values, numbers(count, 9, -3), options, offset);
          }
        }
  if (TestDevices::get().is_fake()) {
    EXPECT_GT(TestDevices::get().counters().kernels, before.kernels + 1000);
  }
}

/// More threads and blocks than one turn has, and many elements of one magnitude around the threshold of top_k.
TEST_F(DeviceCompression, TakesManyElements) {
  Floats values = difficult(70'001, 5);
  for (std::size_t i = 0; i < values.size(); i += 3)
    values[i] = i % 2 == 0 ? 0.75F : -0.75F;
  for (const Compression c : all_formats)
    for (const double keep : {1e-5, 0.2, 0.4, 1.0})
      if (c == Compression::top_k || keep == 1.0)
        expect_bits_of_host(c, values, numbers(values.size(), 6, -20), {.block = Count{64}, .keep = keep}, 0);
}

/// Copies, compression and its reverse follow each other in a stream, and the host waits nowhere.
TEST_F(DeviceCompression, WorksInTheOrderOfAStream) {
  const Floats values = numbers(5000, 3);
  for (const Compression c : all_formats) {
    const CompressionOptions options{.keep = 0.2};
    const Packed expected = packed(c, values, options);
    const Floats became = unpacked(c, expected, values.size(), options);
    StreamedArray in{values.data(), values.size() * sizeof(float), Kind::device};
    StreamedArray out{became.data(), values.size() * sizeof(float), Kind::device};
    const DeviceArray bytes{expected.size()};
    const DeviceSpan<const float> from{reinterpret_cast<float*>(in.data()), values.size()};
    const DeviceSpan<float> to{reinterpret_cast<float*>(out.data()), values.size()};
    const DeviceSpan<std::uint8_t> between{reinterpret_cast<std::uint8_t*>(bytes.data()), expected.size()};
    compress(c, from, {}, between, options);  // what is made at the first use
    stream_->synchronize();
    const auto before = TestDevices::get().counters();
    in.send(*stream_);
    compress(c, from, {}, between, options, stream_->get());
    decompress(c, between, to, options, stream_->get());
    out.fetch(*stream_);
    // Without pools the memory of a selection is freed when it is over.
    if (c != Compression::top_k || std::getenv("FAKE_CUDA_MISSING") == nullptr) {
      EXPECT_EQ(TestDevices::get().counters().synchronisations, before.synchronisations) << to_string(c);
    }
    stream_->synchronize();
    EXPECT_TRUE(out.is(became.data())) << to_string(c);
  }
}

TEST_F(DeviceCompression, OfManagedMemoryIsTheHosts) {
  const Floats values = numbers(300, 3);
  Floats none;
  const Packed expected = packed(Compression::int8, values, none);
  const OnDevice<float> in{values, 0, Kind::managed};
  const OnDevice<std::uint8_t> out{Packed8(expected.size()), 0, Kind::managed};
  const auto before = TestDevices::get().counters();
  compress(Compression::int8, in.span(), {}, out.span());
  EXPECT_EQ(TestDevices::get().counters().kernels, before.kernels);
  EXPECT_TRUE(std::ranges::equal(out.contents(), as_uint8(expected)));
}

TEST_F(DeviceCompression, RefusesWhatItCannotDo) {
  const OnDevice<float> in{numbers(100, 1), 0}, managed{numbers(100, 1), 0, Kind::managed};
  const OnDevice<std::uint8_t> out{Packed8(200), 0}, odd{Packed8(200), 2}, short_one{Packed8(199), 0};
  const auto refused = [&](const auto& from, const auto& into, std::optional<CUstream_st*> stream = {}) {
    return text_of<ArgumentError>(
        [&] { compress(Compression::bf16, from.span(), {}, into.span(), CompressionOptions{}, stream); });
  };
  using testing::HasSubstr;
  EXPECT_THAT(refused(in, short_one), HasSubstr("argument 'out' is 199 bytes for 100 elements; allowed: 200 bytes"));
  EXPECT_THAT(refused(managed, out), HasSubstr("argument 'out' is memory of another device, context or kind"));
  EXPECT_THAT(refused(in, odd), HasSubstr("allowed: an address that 4 divides"));
  const OnDevice<std::uint8_t> managed_out{Packed8(200), 0, Kind::managed};
  EXPECT_THAT(refused(managed, managed_out, stream_->get()), HasSubstr("argument 'stream' is given with managed"));
  EXPECT_THAT(text_of<ArgumentError>([&] {
                const auto bytes = out.span();
                decompress(Compression::bf16, bytes, DeviceSpan{reinterpret_cast<float*>(bytes.data()), 99});
              }),
              HasSubstr("argument 'in' is 200 bytes for 99 elements"));
  EXPECT_EQ(refused(in, out, stream_->get()), "no error");
  stream_->synchronize();
}

/// The gradients of all ranks, on the host and on a device.
TEST_F(DeviceCompression, SumsGradientsWithTheBitsOfTheHost) {
  for (const Compression c : all_formats)
    for (const std::size_t count : {0U, 1U, 100U, 3001U}) {
      SCOPED_TRACE(fmt::format("{}, {} elements", to_string(c), count));
      const CompressionOptions options{.block = Count{32}, .keep = 0.1};
      CompressedAllreduce host{Count{count}, c, *comm_, options};
      auto device = CompressedAllreduce::on_device(Count{count}, c, *comm_, options);
      EXPECT_EQ(device.bytes_sent(), host.bytes_sent());
      for (unsigned step = 0; step < 4; ++step) {
        if (step == 2) host.reset(), device.reset();
        Floats gradient = numbers(count, static_cast<unsigned>(world_rank()) * 10 + step);
        const OnDevice<float> its{gradient, step % 2 == 0 ? 0U : 4U};
        const float factor = step == 0 ? 1.0F : 0.3F;
        host.run(gradient, factor);
        if (step == 1) {
          device.start(its.span(), factor);
          while (!device.test()) {
          }
        } else {
          device.run(its.span(), factor);
        }
        ASSERT_EQ(its.contents(), gradient) << "step " << step;
        Floats error(count), sum_error(device.device_sum_error().size());
        if (count > 0) TestDevices::get().copy(error.data(), device.device_error().data(), count * sizeof(float));
        ASSERT_TRUE(std::ranges::equal(error, host.error()));
        if (!sum_error.empty())
          TestDevices::get().copy(sum_error.data(), device.device_sum_error().data(), sum_error.size() * sizeof(float));
        ASSERT_TRUE(std::ranges::equal(sum_error, host.sum_error()));
      }
    }
}

/// The functions of C take memory of either kind.
TEST_F(DeviceCompression, IsThatOfCToo) {
  tutti_comm comm = nullptr;
  ASSERT_EQ(tutti_comm_create(MPI_COMM_WORLD, nullptr, &comm), TUTTI_SUCCESS);
  constexpr std::int64_t count = 500;
  for (int format = TUTTI_COMPRESSION_BF16; format <= TUTTI_COMPRESSION_TOP_K; ++format) {
    Floats values = numbers(count, static_cast<unsigned>(world_rank()));
    const auto c = static_cast<Compression>(format);
    const Packed expected = packed(c, values);
    const OnDevice<float> in{values, 0}, back{Floats(count), 0};
    const OnDevice<std::uint8_t> out{Packed8(expected.size()), 0};
    const auto bytes = static_cast<std::int64_t>(expected.size());
    ASSERT_EQ(tutti_compress(format, in.span().data(), nullptr, count, out.span().data(), bytes, nullptr),
              TUTTI_SUCCESS);
    EXPECT_TRUE(std::ranges::equal(out.contents(), as_uint8(expected)));
    ASSERT_EQ(tutti_decompress(format, out.span().data(), bytes, back.span().data(), count, nullptr), TUTTI_SUCCESS);
    EXPECT_EQ(back.contents(), unpacked(c, expected, count));
    ASSERT_EQ(tutti_decompress_add(format, out.span().data(), bytes, back.span().data(), count, nullptr),
              TUTTI_SUCCESS);

    tutti_compressed sums = nullptr;
    ASSERT_EQ(tutti_compressed_create_on_device(count, format, comm, nullptr, nullptr, &sums), TUTTI_SUCCESS);
    ASSERT_EQ(tutti_compressed_run(sums, in.span().data(), count, 1), TUTTI_SUCCESS);
    CompressedAllreduce{Count{count}, c, *comm_}.run(values);
    EXPECT_EQ(in.contents(), values);
    const float* error = nullptr;
    std::int64_t errors = 0;
    ASSERT_EQ(tutti_compressed_error(sums, &error, &errors), TUTTI_SUCCESS);
    EXPECT_EQ(errors, count);
    EXPECT_NO_THROW((DeviceSpan<const float>{error, count}));
    EXPECT_EQ(tutti_compressed_run(sums, values.data(), count, 1), TUTTI_ERROR_ARGUMENT);
    EXPECT_THAT(tutti_last_error(), testing::HasSubstr("argument 'gradient' is"));
    Floats error_of_host(count);
    EXPECT_EQ(tutti_compress(format, in.span().data(), error_of_host.data(), count, out.span().data(), bytes, nullptr),
              TUTTI_ERROR_ARGUMENT);
    EXPECT_THAT(tutti_last_error(), testing::HasSubstr("argument 'error' is memory of the host; allowed: memory of"));
    ASSERT_EQ(tutti_compressed_free(&sums), TUTTI_SUCCESS);
  }
  ASSERT_EQ(tutti_comm_free(&comm), TUTTI_SUCCESS);
}

/// The first rank on the host, the others on devices.
TEST_F(DeviceCompression, RanksMayDifferInTheirMemory) {
  for (const Compression c : all_formats) {
    Floats gradient = numbers(300, static_cast<unsigned>(world_rank())), expected = gradient;
    CompressedAllreduce{Count{300}, c, *comm_}.run(expected);
    if (world_rank() == 0) {
      CompressedAllreduce{Count{300}, c, *comm_}.run(gradient);
      EXPECT_EQ(gradient, expected);
    } else {
      const OnDevice<float> its{gradient, 0};
      CompressedAllreduce::on_device(Count{300}, c, *comm_).run(its.span());
      EXPECT_EQ(its.contents(), expected);
    }
  }
}

TEST_F(DeviceCompression, MakesManyObjects) {
  std::vector<CompressedAllreduce> all;
  for (int i = 0; i < 300; ++i)
    all.push_back(CompressedAllreduce::on_device(Count{50}, Compression::int8, *comm_));
  const OnDevice<float> its{Floats(50, 1.0F), 0};
  all.back().run(its.span());
  EXPECT_EQ(its.contents(), Floats(50, static_cast<float>(comm_->size())));
}

/// Of NaNs the first counts, whatever their bits.
TEST_F(DeviceCompression, TakesAllNaNsForOneMagnitude) {
  Floats values(600, 1.0F);
  values[17] = std::bit_cast<float>(0x7fc00001U), values[18] = std::bit_cast<float>(0xffd00000U);
  const CompressionOptions options{.keep = 1e-9};
  for (const std::size_t errors : {0U, 600U}) {
    const OnDevice<float> in{values, 0}, error{Floats(errors), 0};
    const OnDevice<std::uint8_t> out{Packed8(8), 0};
    compress(Compression::top_k, in.span(), error.span(), out.span(), options);
    Floats host_error(errors);
    const Packed host = packed(Compression::top_k, values, host_error, options);
    EXPECT_EQ(at<std::uint32_t>(host, 0), 17U);
    const Packed8 given = out.contents();
    EXPECT_TRUE(std::ranges::equal(std::span{given}.first(4), as_uint8(host).first(4)));
  }
}

TEST_F(DeviceCompression, KeepsHostsAndDevicesApart) {
  CompressedAllreduce host{Count{10}, Compression::fp16, *comm_};
  auto device = CompressedAllreduce::on_device(Count{10}, Compression::fp16, *comm_);
  Floats gradient(10, 1.0F);
  const OnDevice<float> its{gradient, 0};
  using testing::HasSubstr;
  EXPECT_THAT(text_of<ArgumentError>([&] { host.run(its.span()); }), HasSubstr("'gradient' is CUDA device memory"));
  EXPECT_THAT(text_of<ArgumentError>([&] {
                host.run(std::span{its.span().data(), 10});
              }),
              HasSubstr("'gradient' is CUDA device memory"));
  EXPECT_THAT(text_of<ArgumentError>([&] { device.run(gradient); }), HasSubstr("'gradient' is host memory"));
  const OnDevice<float> managed{gradient, 0, Kind::managed}, odd{gradient, 2};
  EXPECT_THAT(text_of<ArgumentError>([&] { device.run(managed.span()); }), HasSubstr("'gradient' is"));
  EXPECT_THAT(text_of<ArgumentError>([&] { device.run(odd.span()); }), HasSubstr("no address that 4 divides"));
  EXPECT_THAT(text_of<StateError>([&] { static_cast<void>(device.error()); }), HasSubstr("that of a device"));
  EXPECT_THAT(text_of<StateError>([&] { static_cast<void>(host.device_error()); }), HasSubstr("that of the host"));
  device.run(its.span());
  EXPECT_EQ(its.contents(), Floats(10, static_cast<float>(comm_->size())));
}

}  // namespace
}  // namespace tutti::test
