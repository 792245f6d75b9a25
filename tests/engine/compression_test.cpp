// Compression: every format of every instruction set against a plain reference that is written here from the page
// (docs/compression.md).
#include <algorithm>
#include <numeric>

#include "tests/engine/compression_cases.hpp"
#include "tests/engine/reduce_reference.hpp"

namespace tutti {
namespace {

/// What a block with that largest magnitude is multiplied by when it is unpacked.
float scale_of(Compression c, float largest) {
  if (!std::isfinite(largest)) return std::numeric_limits<float>::quiet_NaN();
  if (largest < 0x1p-100F) return 0;
  if (c == Compression::int8) return largest / 127;
  int exponent = 0;
  const float digits = 2 * std::frexp(largest, &exponent);  // [1, 2)
  const int top = c == Compression::fp8_e4m3 ? 8 : 15;
  return std::ldexp(1.0F, exponent - 1 - top + (digits > 1.75F ? 1 : 0));
}

/// What an element becomes, to nearest.
float reference_of(Compression c, float value, float scale) {
  if (c == Compression::bf16 || c == Compression::fp16) {
    const auto& format = c == Compression::bf16 ? reference::format_of<BFloat16> : reference::format_of<Half>;
    if (std::isfinite(value) && std::abs(value) > format.largest)
      return std::copysign(static_cast<float>(format.largest), value);
    return static_cast<float>(format.round(value));
  }
  if (!(scale > 0)) return scale;
  if (c == Compression::fp8_e4m3)
    return static_cast<float>(reference::format_of<Float8E4M3>.round(value / scale)) * scale;
  if (c == Compression::fp8_e5m2)
    return static_cast<float>(reference::format_of<Float8E5M2>.round(value / scale)) * scale;
  return std::nearbyint(value / scale) * scale;
}

/// Half a step of int8 may fall on either side, as the reciprocal is rounded.
bool is_tie(Compression c, float value, float scale) {
  if (c != Compression::int8 || !(scale > 0)) return false;
  const double steps = std::abs(static_cast<double>(value) / scale);
  return std::abs(steps - std::floor(steps) - 0.5) < 1e-4;
}

TEST(Compressed, SizesAreThoseOfThePage) {
  EXPECT_EQ(compressed_size(Compression::bf16, Count{7}), Bytes{14});
  EXPECT_EQ(compressed_size(Compression::fp16, Count{0}), Bytes{0});
  EXPECT_EQ(compressed_size(Compression::fp8_e4m3, Count{256}), Bytes{260});
  EXPECT_EQ(compressed_size(Compression::int8, Count{257}), Bytes{265});
  EXPECT_EQ(compressed_size(Compression::fp8_e5m2, Count{100}, {.block = Count{10}}), Bytes{140});
  EXPECT_EQ(compressed_size(Compression::top_k, Count{1000}), Bytes{80});
  EXPECT_EQ(compressed_size(Compression::top_k, Count{1}), Bytes{8});
  EXPECT_EQ(compressed_size(Compression::top_k, Count{0}), Bytes{0});
  EXPECT_EQ(compressed_size(Compression::top_k, Count{10}, {.keep = 1}), Bytes{80});
}

TEST(Compressed, ElementsAreThoseOfTheReference) {
  for (const std::size_t block : {16U, 256U, 7U})
    for (const Compression c : all_formats) {
      if (c == Compression::top_k) continue;
      const CompressionOptions options{.block = Count{block}};
      for (const std::size_t count : sizes(block)) {
        const Floats in = numbers(count, static_cast<unsigned>(count)),
                     out = unpacked(c, packed(c, in, options), count, options);
        for (std::size_t i = 0; i < count; ++i) {
          const std::size_t begin = i / block * block, end = std::min(count, begin + block);
          float largest = 0;
          for (std::size_t k = begin; k < end; ++k)
            largest = std::max(largest, std::abs(in[k]));
          const float scale = has_blocks(c) ? scale_of(c, largest) : 1, wanted = reference_of(c, in[i], scale);
          if (is_tie(c, in[i], scale))
            ASSERT_NEAR(out[i], wanted, 1.001 * scale);
          else
            ASSERT_EQ(out[i], wanted) << to_string(c) << ", element " << i << " of " << count << ": " << in[i];
        }
      }
    }
}

/// Each error is at most half a unit: 2^-8, 2^-11, 2^-4 and 2^-3 of the element, or of the block's largest / 254; of
/// fp8's subnormal numbers, 2^-17 and 2^-31 of the largest.
TEST(Compressed, ErrorsAreWithinThePagesBounds) {
  for (const int exponent : {0, -60, 60, 120}) {
    const Floats in = numbers(4096, 3, exponent);
    float largest = 0;
    for (const float value : in)
      largest = std::max(largest, std::abs(value));
    const auto worst = [&](Compression c, double of_element, double of_largest) {
      Floats error(in.size());
      const Floats out = unpacked(c, packed(c, in, error), in.size());
      for (std::size_t i = 0; i < in.size(); ++i)
        ASSERT_LE(std::abs(out[i] - in[i]), of_element * std::abs(in[i]) + of_largest * largest)
            << to_string(c) << ' ' << in[i];
    };
    worst(Compression::bf16, 0x1p-8, 0);
    if (exponent == 0) worst(Compression::fp16, 0x1p-11, 0x1p-25);
    worst(Compression::fp8_e4m3, 0x1p-4, 0x1p-17);
    worst(Compression::fp8_e5m2, 0x1p-3, 0x1p-31);
    worst(Compression::int8, 0, 1.0001 / 254);
  }
}

TEST(Compressed, ErrorsAreWhatIsLost) {
  for (const Rounding rounding : {Rounding::nearest, Rounding::stochastic})
    for (const Compression c : all_formats)
      for (const std::size_t count : sizes(256)) {
        const CompressionOptions options{.keep = 0.1, .rounding = rounding};
        const Floats in = numbers(count, 7);
        Floats before = numbers(count, 8, -6), error = before;
        const Floats out = unpacked(c, packed(c, in, error, options), count, options);
        for (std::size_t i = 0; i < count; ++i) {
          const float sum = in[i] + before[i];
          if (rounding == Rounding::nearest)
            ASSERT_EQ(out[i] + error[i], sum) << to_string(c) << ' ' << i;  // exact: the two are apart
          else
            ASSERT_NEAR(out[i] + error[i], sum, 0x1p-23 * std::max(std::abs(out[i]), std::abs(sum)));
          ASSERT_EQ(error[i], sum - out[i]);
        }
      }
}

TEST(Compressed, BitsAreTheSameOnAllInstructionSets) {
  for (std::size_t format = 0; format < packed_formats; ++format)
    for (const std::size_t rounding : {0U, 1U})
      for (const std::size_t count : sizes(64)) {
        Floats in = numbers(count, 11), first_error;
        for (std::size_t i = 0; i < count; i += 97)
          in[i] = i % 2 == 0 ? 0x1p-140F : -0x1p127F;
        if (count > 3000) in[3000] = infinity;
        Packed first;
        Floats first_out;
        for (const KernelTable* table : runnable_kernel_tables()) {
          Floats error = numbers(count, 12, -4), out = numbers(count, 13), set(count);
          Packed scales(4 * (count / 64 + 1)), elements(2 * count + 1);
          const LowPrecisionKernels& kernels = *table->low_precision;
          kernels.compress[format][rounding]({in.data(), error.data(), scales.data(), elements.data(), count, 64});
          kernels.decompress[format][1]({scales.data(), elements.data(), out.data(), count, 64});
          kernels.decompress[format][0]({scales.data(), elements.data(), set.data(), count, 64});
          out.insert(out.end(), set.begin(), set.end());
          scales.insert(scales.end(), elements.begin(), elements.end());
          const auto same = [](const auto& a, const auto& b) {
            return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(a[0])) == 0;  // NaNs, too
          };
          if (table == runnable_kernel_tables().front()) {
            first = scales;
            first_error = error;
            first_out = out;
          }
          EXPECT_TRUE(same(scales, first)) << table->name << ' ' << format << ' ' << count;
          EXPECT_TRUE(same(error, first_error)) << table->name << ' ' << format << ' ' << count;
          EXPECT_TRUE(same(out, first_out)) << table->name << ' ' << format << ' ' << count;
        }
      }
}

TEST(Compressed, BytesAreThoseOfThePage) {
  const CompressionOptions two{.block = Count{2}, .keep = 0.5};
  const Floats in{1, -2, 0, 0, 3};
  const Packed bf16 = packed(Compression::bf16, in), fp8 = packed(Compression::fp8_e4m3, in, two),
               int8 = packed(Compression::int8, in, two), top = packed(Compression::top_k, in, two);
  EXPECT_EQ(at<std::uint16_t>(bf16, 2), 0xc000);
  // Three scales, then five elements: -2 is -256 * 2^-7, 3 is 384 * 2^-7.
  EXPECT_EQ(at<float>(fp8, 0), 0x1p-7F);
  EXPECT_EQ(at<float>(fp8, 4), 0.0F);
  EXPECT_EQ(at<float>(fp8, 8), 0x1p-7F);
  EXPECT_EQ(at<std::uint8_t>(fp8, 12 + 1), 0xf8);
  EXPECT_EQ(at<std::uint8_t>(fp8, 12 + 4), 0x7c);
  EXPECT_EQ(at<float>(int8, 0), 2.0F / 127);
  EXPECT_EQ(at<std::int8_t>(int8, 12), 64);
  EXPECT_EQ(at<std::int8_t>(int8, 13), -127);
  EXPECT_EQ(at<std::int8_t>(int8, 16), 127);
  // Three places, then three values; of equal magnitudes, the lower places.
  ASSERT_EQ(top.size(), 24U);
  EXPECT_EQ(at<std::uint32_t>(top, 0), 0U);
  EXPECT_EQ(at<std::uint32_t>(top, 4), 1U);
  EXPECT_EQ(at<std::uint32_t>(top, 8), 4U);
  EXPECT_EQ(at<float>(top, 12 + 4), -2.0F);
}

TEST(Compressed, NumbersThatAreNotFiniteAreDefined) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Floats in{1, infinity, -infinity, nan, 0x1.fffffep127F, 5, 6, 7};
  const CompressionOptions options{.block = Count{5}, .keep = 0.5};
  for (const Compression c : all_formats) {
    Floats error(in.size());
    const Floats out = unpacked(c, packed(c, in, error, options), in.size(), options);
    for (std::size_t i = 1; i < 4; ++i)
      EXPECT_EQ(error[i], 0) << to_string(c);
    if (has_blocks(c)) {
      for (std::size_t i = 0; i < 5; ++i)
        EXPECT_TRUE(std::isnan(out[i]) && error[i] == 0) << to_string(c);
      EXPECT_NEAR(out[7], 7, 0.5);
      continue;
    }
    EXPECT_EQ(out[1], infinity);
    EXPECT_EQ(out[2], -infinity);
    EXPECT_TRUE(std::isnan(out[3]));
    EXPECT_EQ(out[4] + error[4], in[4]) << "the largest float is cut, and the rest is error: " << to_string(c);
    EXPECT_TRUE(std::isfinite(out[4]));
  }
}

/// Blocks whose largest is below 2^-100 are sent as 0, and their errors keep them.
TEST(Compressed, SmallBlocksAreKeptAsErrors) {
  for (const Compression c : {Compression::fp8_e4m3, Compression::fp8_e5m2, Compression::int8})
    for (const float value : {0.0F, 0x1p-149F, -0x1p-127F, 0x1.fffffep-101F, 0x1p-100F}) {
      const Floats in(40, value);
      Floats error(40);
      const Floats out = unpacked(c, packed(c, in, error), 40);
      for (std::size_t i = 0; i < 40; ++i)
        EXPECT_EQ(out[i] + error[i], value);
      EXPECT_EQ(out[0] != 0, value == 0x1p-100F) << to_string(c) << ' ' << value;
    }
}

TEST(Compressed, TopKAreTheLargest) {
  for (const std::size_t count : {1U, 2U, 100U, 5000U})
    for (const double keep : {0.001, 0.01, 0.5, 1.0}) {
      Floats in = numbers(count, 21);
      for (std::size_t i = 0; i < count; i += 3)
        in[i] = i % 2 == 0 ? 0.25F : -0.25F;  // of equal magnitudes
      const CompressionOptions options{.keep = keep};
      const Packed out = packed(Compression::top_k, in, options);
      std::vector<std::uint32_t> order(count);
      std::iota(order.begin(), order.end(), 0U);
      std::ranges::stable_sort(order, [&](auto a, auto b) { return std::abs(in[a]) > std::abs(in[b]); });
      const std::size_t kept = out.size() / 8;
      EXPECT_EQ(kept, std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(keep * static_cast<double>(count)))));
      order.resize(kept);
      std::ranges::sort(order);
      for (std::size_t i = 0; i < kept; ++i) {
        ASSERT_EQ(at<std::uint32_t>(out, 4 * i), order[i]) << count << ' ' << keep;
        ASSERT_EQ(at<float>(out, 4 * kept + 4 * i), in[order[i]]);
      }
    }
}

}  // namespace
}  // namespace tutti
