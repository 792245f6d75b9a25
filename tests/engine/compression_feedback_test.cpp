// Compression over many steps and many elements, and what is refused.
#include "tests/engine/compression_cases.hpp"

namespace tutti {
namespace {

TEST(Compressed, IsAddedToWhatIsThere) {
  for (const Compression c : all_formats) {
    const Floats in = numbers(1000, 31), there = numbers(1000, 32);
    const Packed bytes = packed(c, in);
    const Floats out = unpacked(c, bytes, 1000);
    Floats sum = there;
    decompress_add(c, bytes, sum);
    for (std::size_t i = 0; i < 1000; ++i)
      ASSERT_EQ(sum[i], there[i] + out[i]) << to_string(c);
  }
}

/// The sum over 100 steps of the same gradient: what is sent approaches it, as one step's error is left over at most.
TEST(Compressed, ErrorFeedbackSendsEverything) {
  for (const Rounding rounding : {Rounding::nearest, Rounding::stochastic})
    for (const Compression c : all_formats) {
      const CompressionOptions options{.keep = 0.05, .rounding = rounding};
      const Floats gradient = numbers(600, 41);
      Floats error(600), sum(600);
      for (int step = 0; step < 100; ++step)
        decompress_add(c, packed(c, gradient, error, options), sum, options);
      for (std::size_t i = 0; i < 600; ++i)
        ASSERT_NEAR(sum[i] + error[i], 100 * gradient[i], 1e-3 + 1e-5 * std::abs(100 * gradient[i]))
            << to_string(c) << ' ' << i;
    }
}

/// The mean error of n elements is less than 6 / (2 sqrt(n)) steps, but for a chance of one in 10^8.
TEST(Compressed, StochasticRoundingHasNoBias) {
  constexpr std::size_t n = 40'000;
  std::mt19937 random{5};
  Floats in(n);
  for (float& value : in)
    value = std::ldexp(static_cast<float>(random() >> 8), -24) + 1;  // [1, 2)
  in.back() = 2;
  const std::vector<std::pair<Compression, double>> steps{{Compression::bf16, 0x1p-7},
                                                          {Compression::fp16, 0x1p-10},
                                                          {Compression::fp8_e4m3, 0x1p-3},
                                                          {Compression::fp8_e5m2, 0x1p-2},
                                                          {Compression::int8, 2.0 / 127}};
  for (const auto& [c, step] : steps) {
    const CompressionOptions options{.block = Count{n}, .rounding = Rounding::stochastic};
    const Floats out = unpacked(c, packed(c, in, options), n, options);
    double total = 0;
    std::size_t ups = 0;
    for (std::size_t i = 0; i < n; ++i) {
      ASSERT_LT(std::abs(out[i] - in[i]), 1.0001 * step) << to_string(c) << ' ' << in[i];
      total += (static_cast<double>(out[i]) - in[i]) / step;
      ups += out[i] > in[i] ? 1 : 0;
    }
    EXPECT_LT(std::abs(total / n), 3 / std::sqrt(static_cast<double>(n))) << to_string(c);
    EXPECT_GT(ups, n / 3) << to_string(c);
  }
}

template <class Call>
std::string refusal(const Call& call) {
  try {
    call();
  } catch (const ArgumentError& error) {
    return error.what();
  }
  return "taken";
}

TEST(Compressed, BadArgumentsAreNamed) {
  using testing::HasSubstr;
  Floats in(10), error(9);
  Packed out(20);
  EXPECT_THAT(refusal([&] { compress(Compression::bf16, in, error, out); }),
              HasSubstr("tutti::compress: argument 'error' is 9 elements; allowed: none, or 10"));
  EXPECT_THAT(refusal([&] { compress(Compression::int8, in, {}, out); }),
              HasSubstr("argument 'out' is 20 bytes for 10 elements; allowed: 14 bytes"));
  EXPECT_THAT(refusal([&] { decompress(Compression::int8, out, in); }), HasSubstr("tutti::decompress: argument 'in'"));
  EXPECT_THAT(refusal([] { static_cast<void>(compressed_size(Compression::int8, Count{1}, {.block = Count{0}})); }),
              HasSubstr("argument 'block' is 0; allowed: 1 to 65536"));
  for (const double keep : {0.0, -1.0, 1.5, std::nan("")})
    EXPECT_THAT(refusal([&] { static_cast<void>(compressed_size(Compression::top_k, Count{1}, {.keep = keep})); }),
                HasSubstr("argument 'keep'"));
  EXPECT_THAT(refusal([] { static_cast<void>(compressed_size(static_cast<Compression>(6), Count{1})); }),
              HasSubstr("argument 'compression' is 6"));
  EXPECT_THAT(refusal([] { static_cast<void>(compressed_size(Compression::bf16, Count{-1})); }),
              HasSubstr("argument 'count' is -1"));
  EXPECT_THAT(refusal([] { static_cast<void>(compressed_size(Compression::top_k, Count{std::int64_t{1} << 32})); }),
              HasSubstr("argument 'count' is 4294967296"));
  Packed bad = packed(Compression::top_k, in);
  const std::uint32_t place = 10;
  std::memcpy(bad.data(), &place, sizeof place);
  EXPECT_THAT(refusal([&] { decompress_add(Compression::top_k, bad, in); }), HasSubstr("bytes with the place 10"));
  const CompressionOptions two{.keep = 0.2};
  Packed twice = packed(Compression::top_k, in, two);
  std::memcpy(twice.data() + sizeof place, twice.data(), sizeof place);
  EXPECT_THAT(refusal([&] { decompress(Compression::top_k, twice, in, two); }), HasSubstr("places that rise"));
  Floats whole(10);
  EXPECT_THAT(refusal([&] { compress(Compression::bf16, whole, whole, out); }),
              HasSubstr("argument 'error' is memory that argument 'in' has, too; allowed: memory of its own"));
  EXPECT_THAT(refusal([&] {
                decompress(Compression::bf16, std::as_bytes(std::span{whole}).first(10), std::span{whole}.first(5));
              }),
              HasSubstr("tutti::decompress: argument 'out' is memory that argument 'in' has, too"));
}

}  // namespace
}  // namespace tutti
