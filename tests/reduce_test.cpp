// Every kernel of every instruction set this processor has, against references in wider types.

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <random>
#include <vector>

#include "lib/reduce/kernel_table.hpp"
#include "tests/reduce_reference.hpp"

namespace tutti {
namespace {

constexpr std::array sizes{0, 1, 2, 7, 63, 64, 65, 1000};
constexpr std::byte untouched{0xa5};

template <class T>
T from_bytes(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof(T));
  return value;
}

template <class T>
std::vector<T> special_values() {
  using Limits = std::numeric_limits<T>;
  if constexpr (std::integral<T>) {
    return {T(0),
            T(1),
            T(-1),
            T(2),
            T(3),
            T(-7),
            T(100),
            Limits::min(),
            T(Limits::min() + 1),
            Limits::max(),
            T(Limits::max() - 1)};
  } else {
    const T nan = Limits::quiet_NaN(), infinity = Limits::infinity(), tiny = Limits::denorm_min();
    return {T(0),
            -T(0),
            T(1),
            T(-1.5),
            infinity,
            -infinity,
            nan,
            -nan,
            tiny,
            -tiny,
            3 * tiny,
            Limits::min(),
            -Limits::min(),
            Limits::min() - tiny,
            Limits::max(),
            -Limits::max(),
            1 + Limits::epsilon(),
            T(1) / 3};
  }
}

template <>
std::vector<Half> special_values() {
  std::vector<Half> values;
  for (const int bits : {0x0000, 0x8000, 0x3c00, 0xbe00, 0x7c00, 0xfc00, 0x7e00, 0xfe01, 0x7c01, 0x0001, 0x8001, 0x0003,
                         0x0400, 0x03ff, 0x83ff, 0x7bff, 0xfbff, 0x3c01, 0x3555}) {
    values.push_back(Half::from_bits(static_cast<std::uint16_t>(bits)));
  }
  return values;
}

template <>
std::vector<BFloat16> special_values() {
  std::vector<BFloat16> values;
  for (const int bits : {0x0000, 0x8000, 0x3f80, 0xbfc0, 0x7f80, 0xff80, 0x7fc0, 0xffc1, 0x7f81, 0x0001, 0x8001, 0x0003,
                         0x0080, 0x007f, 0x807f, 0x7f7f, 0xff7f, 0x3f81, 0x3eab}) {
    values.push_back(BFloat16::from_bits(static_cast<std::uint16_t>(bits)));
  }
  return values;
}

template <>
std::vector<std::complex<float>> special_values() {
  return {{0, -0.0f},     {1, 0},       {0, 1},         {INFINITY, NAN}, {NAN, 0},
          {-INFINITY, 1}, {1e-40f, -3}, {3e38f, 3e38f}, {1 / 3.0f, 0.1f}};
}

template <>
std::vector<std::complex<double>> special_values() {
  return {{0, -0.0},      {1, 0},       {0, 1},         {INFINITY, NAN}, {NAN, 0},
          {-INFINITY, 1}, {1e-310, -3}, {1e308, 1e308}, {1 / 3.0, 0.1}};
}

/// `count` pairs: every pair of special values if there is room, then random bit patterns; else some of both.
template <class T>
struct Operands {
  explicit Operands(std::size_t count) : lhs(count), rhs(count) {
    const std::vector<T> special = special_values<T>();
    std::mt19937_64 random{count};
    for (std::size_t i = 0; i < count; ++i) {
      const bool in_pairs = count > special.size() * special.size();
      const std::size_t pair = in_pairs ? i : random() % (2 * special.size() * special.size());
      if (pair < special.size() * special.size()) {
        lhs[i] = special[pair % special.size()];
        rhs[i] = special[pair / special.size()];
      } else {
        lhs[i] = any(random);
        rhs[i] = any(random);
      }
    }
  }

  static T any(std::mt19937_64& random) {
    const std::array<std::uint64_t, 2> bits{random(), random()};
    return from_bytes<T>(reinterpret_cast<const std::byte*>(bits.data()));
  }

  std::vector<T> lhs, rhs;
};

/// An array that starts `shift` bytes after an aligned place, with bytes around it that must stay as they are.
template <class T>
class Shifted {
 public:
  Shifted(const std::vector<T>& values, std::size_t shift)
      : begin_(64 + shift), end_(begin_ + values.size() * sizeof(T)), bytes_(end_ + 64, untouched) {
    if (!values.empty()) std::memcpy(data(), values.data(), values.size() * sizeof(T));
  }
  std::byte* data() { return bytes_.data() + begin_; }
  T operator[](std::size_t index) const { return from_bytes<T>(bytes_.data() + begin_ + index * sizeof(T)); }
  [[nodiscard]] bool only_inside() const {
    for (std::size_t i = 0; i < bytes_.size(); ++i) {
      if ((i < begin_ || i >= end_) && bytes_[i] != untouched) return false;
    }
    return true;
  }

 private:
  std::size_t begin_, end_;
  std::vector<std::byte> bytes_;
};

enum class Into { apart, lhs, rhs };

template <class T>
void expect_right(Op::Kind kind, ReduceKernel kernel, const Operands<T>& operands, std::size_t shift, Into where) {
  SCOPED_TRACE(testing::Message() << "count " << operands.lhs.size() << ", shift " << shift << " bytes, into "
                                  << static_cast<int>(where));
  Shifted<T> lhs{operands.lhs, shift}, rhs{operands.rhs, 2 * shift}, apart{operands.lhs, 3 * shift};
  Shifted<T>& into = where == Into::lhs ? lhs : where == Into::rhs ? rhs : apart;
  kernel(lhs.data(), rhs.data(), into.data(), operands.lhs.size());
  for (std::size_t i = 0; i < operands.lhs.size(); ++i) {
    ASSERT_TRUE(reference::right(kind, operands.lhs[i], operands.rhs[i], into[i])) << "element " << i;
  }
  ASSERT_TRUE(into.only_inside());
}

template <class T>
struct Reduce : testing::Test {};

using ElementTypes =
    testing::Types<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t,
                   std::uint64_t, Half, BFloat16, float, double, std::complex<float>, std::complex<double>>;

struct TypeName {
  template <class T>
  static std::string GetName(int /*index*/) {
    return std::string{to_string(type_of<T>)};
  }
};
TYPED_TEST_SUITE(Reduce, ElementTypes, TypeName);

TYPED_TEST(Reduce, EveryOperationGivesTheReference) {
  for (const int size : sizes) {
    const Operands<TypeParam> operands{static_cast<std::size_t>(size)};
    for (const KernelTable* table : runnable_kernel_tables()) {
      for (int kind = 0; kind < built_in_kinds; ++kind) {
        const ReduceKernel kernel = table->reduce[kind][static_cast<int>(type_of<TypeParam>)];
        if (kernel == nullptr) continue;
        SCOPED_TRACE(testing::Message() << table->name << ", " << to_string(static_cast<Op::Kind>(kind)));
        for (const std::size_t shift : {std::size_t{0}, sizeof(TypeParam), 3 * sizeof(TypeParam), std::size_t{1}}) {
          for (const Into where : {Into::apart, Into::lhs, Into::rhs}) {
            expect_right(static_cast<Op::Kind>(kind), kernel, operands, shift, where);
            if (this->HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TYPED_TEST(Reduce, DividesByTheNumberOfRanks) {
  const Operands<TypeParam> operands{1000};
  for (const KernelTable* table : runnable_kernel_tables()) {
    for (const int divisor : {1, 2, 3, 7, 128, 1000}) {
      SCOPED_TRACE(testing::Message() << table->name << ", divisor " << divisor);
      Shifted<TypeParam> data{operands.lhs, 1};
      table->divide[static_cast<int>(type_of<TypeParam>)](data.data(), operands.lhs.size(), divisor);
      for (std::size_t i = 0; i < operands.lhs.size(); ++i) {
        ASSERT_TRUE(reference::right_quotient(operands.lhs[i], divisor, data[i])) << "element " << i;
      }
      ASSERT_TRUE(data.only_inside());
    }
  }
}

TYPED_TEST(Reduce, Scales) {
  if constexpr (std::integral<TypeParam>) {
    EXPECT_EQ(scale_kernel(type_of<TypeParam>), nullptr);
  } else {
    const Operands<TypeParam> operands{1000};
    for (const KernelTable* table : runnable_kernel_tables()) {
      for (const double factor : {1.0, 0.5, -1.0, 0.0, 1 / 3.0, 1e-3, 1e300}) {
        SCOPED_TRACE(testing::Message() << table->name << ", factor " << factor);
        Shifted<TypeParam> data{operands.lhs, 1};
        table->scale[static_cast<int>(type_of<TypeParam>)](data.data(), operands.lhs.size(), factor);
        for (std::size_t i = 0; i < operands.lhs.size(); ++i) {
          ASSERT_TRUE(reference::right_multiple(operands.lhs[i], factor, data[i])) << "element " << i;
        }
        ASSERT_TRUE(data.only_inside());
      }
    }
  }
}

TEST(KernelTables, AgreeOnWhatIsDefined) {
  for (const KernelTable* table : runnable_kernel_tables()) {
    for (int type = 0; type < type_count; ++type) {
      EXPECT_NE(table->divide[type], nullptr);
      EXPECT_EQ(table->scale[type] == nullptr, is_integer(static_cast<Type>(type)));
      for (int kind = 0; kind < built_in_kinds; ++kind) {
        EXPECT_EQ(table->reduce[kind][type] != nullptr, supports(static_cast<Op::Kind>(kind), static_cast<Type>(type)));
      }
    }
  }
}

TEST(KernelTables, TheFastestIsChosen) {
  const KernelTable& fastest = *runnable_kernel_tables().back();
  EXPECT_EQ(reduce_kernel(Op::Kind::sum, Type::fp32), fastest.reduce[0][static_cast<int>(Type::fp32)]);
  EXPECT_EQ(divide_kernel(Type::fp16), fastest.divide[static_cast<int>(Type::fp16)]);
  EXPECT_EQ(scale_kernel(Type::fp64), fastest.scale[static_cast<int>(Type::fp64)]);
  EXPECT_EQ(reduce_kernel(Op::Kind::band, Type::fp32), nullptr);
  EXPECT_EQ(reduce_kernel(Op::Kind::user, Type::fp32), nullptr);
}

TEST(Op, SupportsTheseTypes) {
  using Kind = Op::Kind;
  const std::string integers = "int8, int16, int32, int64, uint8, uint16, uint32, uint64";
  const std::string real = "fp16, bf16, fp32, fp64", complex = "complex_fp32, complex_fp64";
  for (const Kind kind : {Kind::sum, Kind::prod, Kind::avg, Kind::user}) {
    EXPECT_EQ(supported_types(kind), integers + ", " + real + ", " + complex) << to_string(kind);
  }
  for (const Kind kind : {Kind::min, Kind::max}) {
    EXPECT_EQ(supported_types(kind), integers + ", " + real) << to_string(kind);
  }
  for (const Kind kind : {Kind::land, Kind::lor, Kind::lxor, Kind::band, Kind::bor, Kind::bxor}) {
    EXPECT_EQ(supported_types(kind), integers) << to_string(kind);
  }
  EXPECT_EQ(supported_types(Kind::scaled_sum), real + ", " + complex);
}

void first_wins(const void* /*lhs*/, const void* /*rhs*/, void* /*into*/, Count /*count*/, void* /*context*/) {}

TEST(Op, IsAValue) {
  EXPECT_EQ(to_string(Op::sum.kind()), "sum");
  EXPECT_EQ(to_string(Op::bxor.kind()), "bxor");
  EXPECT_EQ(to_string(Op::Kind::user), "user");
  EXPECT_EQ(Op::scaled_sum(0.5), Op::scaled_sum(0.5));
  EXPECT_NE(Op::scaled_sum(0.5), Op::scaled_sum(0.25));
  EXPECT_NE(Op::min, Op::max);
  int context = 0;
  const Op mine = Op::user(first_wins, Commutative::no, &context);
  EXPECT_FALSE(mine.commutative());
  EXPECT_EQ(mine.function(), &first_wins);
  EXPECT_EQ(mine.context(), &context);
  EXPECT_NE(mine, Op::user(first_wins, Commutative::yes, &context));
}

}  // namespace
}  // namespace tutti
