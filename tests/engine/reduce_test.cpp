// Every kernel of every instruction set this processor has, against references in wider types.

#include <gtest/gtest.h>

#include <array>

#include "lib/core/reduce/kernels.hpp"
#include "tests/engine/reduce_reference.hpp"
#include "tests/engine/reduce_values.hpp"

namespace tutti {
namespace {

constexpr std::array sizes{0, 1, 2, 3, 4, 7, 8, 15, 16, 17, 63, 64, 65, 1000};
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
      const bool is_boolean = static_cast<Type>(type) == Type::boolean;
      EXPECT_EQ(table->divide[type] == nullptr, is_boolean);
      EXPECT_EQ(table->scale[type] == nullptr, is_boolean || is_integer(static_cast<Type>(type)));
      for (int kind = 0; kind < built_in_kinds; ++kind) {
        const bool supported = supports(static_cast<Op::Kind>(kind), static_cast<Type>(type));
        EXPECT_EQ(table->reduce[kind][type] != nullptr, supported);
        EXPECT_EQ(table->reduce_many[kind][type] != nullptr, supported);
      }
    }
  }
}

TEST(KernelTables, TheFastestIsChosen) {
  const KernelTable& fastest = *runnable_kernel_tables().back();
  EXPECT_EQ(reduce_kernel(Op::Kind::sum, Type::fp32), fastest.reduce[0][static_cast<int>(Type::fp32)]);
  EXPECT_EQ(reduce_many_kernel(Op::Kind::max, Type::bf16), fastest.reduce_many[3][static_cast<int>(Type::bf16)]);
  EXPECT_EQ(divide_kernel(Type::fp16), fastest.divide[static_cast<int>(Type::fp16)]);
  EXPECT_EQ(scale_kernel(Type::fp64), fastest.scale[static_cast<int>(Type::fp64)]);
  EXPECT_EQ(reduce_kernel(Op::Kind::band, Type::fp32), nullptr);
  EXPECT_EQ(reduce_kernel(Op::Kind::user, Type::fp32), nullptr);
  EXPECT_EQ(reduce_many_kernel(Op::Kind::band, Type::fp32), nullptr);
  EXPECT_EQ(reduce_many_kernel(Op::Kind::user, Type::fp32), nullptr);
}

TEST(Op, SupportsTheseTypes) {
  using Kind = Op::Kind;
  const std::string integers = "int8, int16, int32, int64, uint8, uint16, uint32, uint64";
  const std::string real = "fp8_e4m3, fp8_e5m2, fp16, bf16, fp32, fp64", complex = "complex_fp32, complex_fp64";
  EXPECT_EQ(supported_types(Kind::avg), integers + ", " + real + ", " + complex);
  for (const Kind kind : {Kind::sum, Kind::prod, Kind::user}) {
    EXPECT_EQ(supported_types(kind), integers + ", " + real + ", " + complex + ", bool") << to_string(kind);
  }
  for (const Kind kind : {Kind::min, Kind::max}) {
    EXPECT_EQ(supported_types(kind), integers + ", " + real + ", bool") << to_string(kind);
  }
  for (const Kind kind : {Kind::land, Kind::lor, Kind::lxor, Kind::band, Kind::bor, Kind::bxor}) {
    EXPECT_EQ(supported_types(kind), integers + ", bool") << to_string(kind);
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
