// The interpreter of PTX against the host's arithmetic, bit for bit; it needs no driver.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <random>

#include "tests/fake_cuda/ptx/coverage.hpp"
#include "tests/fake_cuda/ptx/machine.hpp"

namespace fake_cuda::ptx {
namespace {

/// The size of a register, and the letters of its type.
template <class T>
constexpr std::string_view loads_as = sizeof(T) == 8   ? "b64"
                                      : sizeof(T) == 4 ? "b32"
                                      : sizeof(T) == 2 ? "b16"
                                                       : "b8";

std::byte* in_host_memory(std::uint64_t address, std::size_t, bool) { return reinterpret_cast<std::byte*>(address); }

/// Runs `body` once for every element of three arrays, which it finds in %a, %b and %c; it leaves its result in %d.
template <class To, class From>
std::vector<To> results(std::string_view body, const std::vector<From>& a, const std::vector<From>& b,
                        const std::vector<From>& c) {
  const std::string text = fmt::format(
      R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry each(.param .u64 pa, .param .u64 pb, .param .u64 pc, .param .u64 pd) {{
  .reg .b64 %rd<12>; .reg .b32 %n; .reg .pred %p<4>; .reg .{0} %a, %b, %c; .reg .{1} %d;
  ld.param.u64 %rd1, [pa]; ld.param.u64 %rd2, [pb]; ld.param.u64 %rd3, [pc]; ld.param.u64 %rd4, [pd];
  mov.u32 %n, %tid.x;
  mul.wide.u32 %rd5, %n, {2};
  mul.wide.u32 %rd6, %n, {3};
  add.s64 %rd7, %rd1, %rd5; add.s64 %rd8, %rd2, %rd5; add.s64 %rd9, %rd3, %rd5; add.s64 %rd10, %rd4, %rd6;
  ld.global.{0} %a, [%rd7]; ld.global.{0} %b, [%rd8]; ld.global.{0} %c, [%rd9];
  {4}
  st.global.{1} [%rd10], %d;
  ret;
}}
)",
      loads_as<From>, loads_as<To>, sizeof(From), sizeof(To), body);
  std::vector<To> out(a.size());
  const std::uint64_t addresses[] = {
      reinterpret_cast<std::uint64_t>(a.data()), reinterpret_cast<std::uint64_t>(b.data()),
      reinterpret_cast<std::uint64_t>(c.data()), reinterpret_cast<std::uint64_t>(out.data())};
  const auto module = load(text.c_str());
  EXPECT_EQ(module->kernels.at(0).error, "");
  if (module->kernels[0].error.empty())
    run(module->kernels[0], {}, {static_cast<unsigned>(a.size()), 1, 1}, 0, std::as_bytes(std::span{addresses}),
        in_host_memory);
  return out;
}

template <class T>
std::vector<T> values(unsigned seed) {
  std::mt19937_64 random{seed};
  std::vector<T> all;
  for (int i = 0; i < 900; ++i) {
    const std::uint64_t bits = random();
    T value;
    std::memcpy(&value, &bits, sizeof value);
    if (i % 4 == 1) value = static_cast<T>(static_cast<int>(bits % 200) - 100);
    all.push_back(value);
  }
  if constexpr (std::is_floating_point_v<T>) {
    const T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
    const T special[] = {0, -T{0}, inf, -inf, nan, std::numeric_limits<T>::denorm_min(), std::numeric_limits<T>::max()};
    for (const T value : special)
      for (int i = 0; i < 7; ++i)
        all.push_back(seed % 2 == 0 ? value : special[i]);
  }
  return all;
}

template <class T>
bool same(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::memcmp(&a, &b, sizeof a) == 0;
}

template <class To, class From>
void expect(const std::string& body, const std::function<To(From, From, From)>& host) {
  const std::vector<From> a = values<From>(2), b = values<From>(3), c = values<From>(5);
  const std::vector<To> found = results<To, From>(body, a, b, c);
  int wrong = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (const To wanted = host(a[i], b[i], c[i]); !same(found[i], wanted) && ++wrong < 4)
      ADD_FAILURE() << body << " of " << +a[i] << ", " << +b[i] << ", " << +c[i] << " is " << +found[i] << ", not "
                    << +wanted;
  EXPECT_EQ(wrong, 0) << body;
}

template <class T>
void expect_floats(const std::string& type) {
  expect<T, T>("add.rn." + type + " %d, %a, %b;", [](T a, T b, T) { return a + b; });
  expect<T, T>("sub.rn." + type + " %d, %a, %b;", [](T a, T b, T) { return a - b; });
  expect<T, T>("mul.rn." + type + " %d, %a, %b;", [](T a, T b, T) { return a * b; });
  expect<T, T>("fma.rn." + type + " %d, %a, %b, %c;", [](T a, T b, T c) { return std::fma(a, b, c); });
  expect<T, T>("div.rn." + type + " %d, %a, %b;", [](T a, T b, T) { return a / b; });
  expect<T, T>("sqrt.rn." + type + " %d, %a;", [](T a, T, T) { return std::sqrt(a); });
  expect<T, T>("rcp.rn." + type + " %d, %a;", [](T a, T, T) { return 1 / a; });
  expect<T, T>("neg." + type + " %d, %a;", [](T a, T, T) { return -a; });
  expect<T, T>("abs." + type + " %d, %a;", [](T a, T, T) { return std::fabs(a); });
  expect<T, T>("setp.lt." + type + " %p1, %a, %b; selp." + type + " %d, %a, %b, %p1;",
               [](T a, T b, T) { return a < b ? a : b; });
  expect<T, T>("setp.geu." + type + " %p1, %a, %b; selp." + type + " %d, %a, %b, %p1;",
               [](T a, T b, T) { return !(a < b) ? a : b; });
}

TEST(Interpreter, ComputesFloats) { expect_floats<float>("f32"); }
TEST(Interpreter, ComputesDoubles) { expect_floats<double>("f64"); }

TEST(Interpreter, TakesTheOtherOperandForOneNan) {
  expect<float, float>("min.f32 %d, %a, %b;", [](float a, float b, float) {
    return std::isnan(a)                        ? b
           : std::isnan(b)                      ? a
           : std::signbit(a) != std::signbit(b) ? (std::signbit(a) ? a : b)
                                                : std::min(a, b);
  });
  expect<float, float>("max.NaN.f32 %d, %a, %b;", [](float a, float b, float) {
    return std::isnan(a) || std::isnan(b)       ? NAN
           : std::signbit(a) != std::signbit(b) ? (std::signbit(a) ? b : a)
                                                : std::max(a, b);
  });
}

template <class T>
void expect_integers(const std::string& type, const std::string& bits) {
  using Unsigned = std::make_unsigned_t<T>;
  const auto wraps = [](auto function) {
    return [function](T a, T b, T c) {
      return static_cast<T>(function(static_cast<Unsigned>(a), static_cast<Unsigned>(b), static_cast<Unsigned>(c)));
    };
  };
  using U = Unsigned;
  expect<T, T>("add." + type + " %d, %a, %b;", wraps([](U a, U b, U) { return a + b; }));
  expect<T, T>("sub." + type + " %d, %a, %b;", wraps([](U a, U b, U) { return a - b; }));
  expect<T, T>("mul.lo." + type + " %d, %a, %b;", wraps([](U a, U b, U) { return std::uint64_t{a} * b; }));
  expect<T, T>("mad.lo." + type + " %d, %a, %b, %c;", wraps([](U a, U b, U c) { return std::uint64_t{a} * b + c; }));
  expect<T, T>("min." + type + " %d, %a, %b;", [](T a, T b, T) { return std::min(a, b); });
  expect<T, T>("max." + type + " %d, %a, %b;", [](T a, T b, T) { return std::max(a, b); });
  expect<T, T>("and." + bits + " %d, %a, %b;", [](T a, T b, T) { return static_cast<T>(a & b); });
  expect<T, T>("or." + bits + " %d, %a, %b;", [](T a, T b, T) { return static_cast<T>(a | b); });
  expect<T, T>("xor." + bits + " %d, %a, %b;", [](T a, T b, T) { return static_cast<T>(a ^ b); });
  expect<T, T>("not." + bits + " %d, %a;", [](T a, T, T) { return static_cast<T>(~a); });
  expect<T, T>("shr." + type + " %d, %a, 3;", [](T a, T, T) { return static_cast<T>(a >> 3); });
  expect<T, T>("shl." + bits + " %d, %a, 5;", wraps([](U a, U, U) { return std::uint64_t{a} << 5; }));
  expect<T, T>("setp.gt." + type + " %p1, %a, %b; @%p1 bra $L; mov." + bits + " %d, %b; bra $E; $L: mov." + bits +
                   " %d, %a; $E:",
               [](T a, T b, T) { return std::max(a, b); });
}

TEST(Interpreter, ComputesIntegers) {
  expect_integers<std::int32_t>("s32", "b32");
  expect_integers<std::uint32_t>("u32", "b32");
  expect_integers<std::int64_t>("s64", "b64");
  expect_integers<std::uint64_t>("u64", "b64");
  expect_integers<std::int16_t>("s16", "b16");
  expect_integers<std::uint16_t>("u16", "b16");
}

TEST(Interpreter, Converts) {
  expect<std::int64_t, std::int32_t>("cvt.s64.s32 %d, %a;", [](auto a, auto, auto) { return a; });
  expect<std::uint64_t, std::uint32_t>("cvt.u64.u32 %d, %a;", [](auto a, auto, auto) { return a; });
  expect<std::int32_t, std::int64_t>("cvt.u32.u64 %d, %a;",
                                     [](auto a, auto, auto) { return static_cast<std::int32_t>(a); });
  expect<float, std::int32_t>("cvt.rn.f32.s32 %d, %a;", [](auto a, auto, auto) { return static_cast<float>(a); });
  expect<double, std::uint64_t>("cvt.rn.f64.u64 %d, %a;", [](auto a, auto, auto) { return static_cast<double>(a); });
  expect<float, double>("cvt.rn.f32.f64 %d, %a;", [](auto a, auto, auto) { return static_cast<float>(a); });
  expect<double, float>("cvt.f64.f32 %d, %a;", [](auto a, auto, auto) { return a; });
  expect<std::int32_t, float>("cvt.rzi.s32.f32 %d, %a;", [](float a, float, float) {
    return std::isnan(a)  ? 0
           : a >= 0x1p31F ? std::numeric_limits<std::int32_t>::max()
           : a < -0x1p31F ? std::numeric_limits<std::int32_t>::min()
                          : static_cast<std::int32_t>(a);
  });
}

TEST(Interpreter, ConvertsEveryHalfToAFloatAndBack) {
  for (const std::string type : {"f16", "bf16"}) {
    std::vector<std::uint16_t> halves;
    for (unsigned bits = 0; bits < 1024; ++bits)
      halves.push_back(static_cast<std::uint16_t>(bits * 63));
    const auto floats = results<float, std::uint16_t>("cvt.f32." + type + " %d, %a;", halves, halves, halves);
    const auto back = results<std::uint16_t, float>("cvt.rn." + type + ".f32 %d, %a;", floats, floats, floats);
    for (std::size_t i = 0; i < halves.size(); ++i)
      ASSERT_TRUE(halves[i] == back[i] || std::isnan(floats[i])) << type << " " << halves[i];
  }
  EXPECT_EQ((results<float, std::uint16_t>("cvt.f32.f16 %d, %a;", {0x3C00, 0xC000, 0x7BFF, 0x0001}, {0, 0, 0, 0},
                                           {0, 0, 0, 0})),
            (std::vector<float>{1, -2, 65504, 0x1p-24F}));
  EXPECT_EQ((results<float, std::uint16_t>("cvt.f32.bf16 %d, %a;", {0x3F80, 0xC000}, {0, 0}, {0, 0})),
            (std::vector<float>{1, -2}));
}

TEST(Interpreter, AddsPairsOfHalves) {
  // 1 + 2 and 65504 + 65504; a sum that rounds to even.
  EXPECT_EQ((results<std::uint32_t, std::uint32_t>("add.rn.f16x2 %d, %a, %b;", {0x7BFF3C00, 0x3C003C00},
                                                   {0x7BFF4000, 0x10001400}, {0, 0})),
            (std::vector<std::uint32_t>{0x7C004200, 0x3C003C01}));
}

TEST(Interpreter, NamesAnInstructionThatItDoesNotHave) {
  const auto module =
      load(".version 7.0\n.visible .entry k() {\n .reg .f32 %f<3>;\n sin.approx.f32 %f1, %f2;\n ret;\n}\n");
  EXPECT_NE(module->kernels.at(0).error.find("sin.approx.f32"), std::string::npos) << module->kernels[0].error;
}

TEST(Interpreter, RefusesRoundingThatItDoesNotModel) {
  for (const std::string text :
       {"add.rz.f64 %d1, %d2, %d2", "add.sat.s32 %r1, %r2, %r2", "ld.global.b128 %d1, [%d2]"}) {
    const auto module =
        load((".version 7.0\n.visible .entry k() {\n .reg .b64 %d<3>; .reg .b32 %r<3>;\n " + text + ";\n ret;\n}\n")
                 .c_str());
    EXPECT_NE(module->kernels.at(0).error, "") << text;
  }
}

TEST(Interpreter, KnowsWhichInstructionsWereExecuted) {
  results<std::uint32_t, std::uint32_t>("setp.eq.u32 %p1, %a, %b; @%p1 popc.b32 %d, %a; clz.b32 %d, %b;", {1}, {2},
                                        {3});
  const auto has = [](const std::vector<std::string>& all, const char* text) {
    return std::ranges::find(all, text) != all.end();
  };
  EXPECT_TRUE(has(spellings(true), "clz.b32"));
  EXPECT_TRUE(has(spellings(false), "popc.b32"));
  EXPECT_FALSE(has(spellings(true), "popc.b32")) << "its guard was false";
}

}  // namespace
}  // namespace fake_cuda::ptx
