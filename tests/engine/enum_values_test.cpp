// Casts from numbers may be none of the values of a public enum: an error, wherever they are given.
#include <gtest/gtest.h>

#include "lib/core/reduce/wide_type.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/error.hpp"
#include "tutti/op.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

TEST(EnumValues, OfType) {
  for (const int number : {type_count, 99, 255}) {
    const Type bad = static_cast<Type>(number);
    EXPECT_FALSE(is_type(bad));
    EXPECT_FALSE(is_integer(bad));
    EXPECT_FALSE(is_complex(bad));
    EXPECT_THROW(static_cast<void>(to_string(bad)), ArgumentError);
    EXPECT_THROW(static_cast<void>(size_of(bad)), ArgumentError);
    EXPECT_THROW(static_cast<void>(supports(Op::Kind::sum, bad)), ArgumentError);
    EXPECT_THROW(static_cast<void>(supports(Op::Kind::user, bad)), ArgumentError);
  }
  for (int number = 0; number < type_count; ++number)
    EXPECT_TRUE(is_type(static_cast<Type>(number)));
}

TEST(EnumValues, TheWideTypeIsForUsersOperations) {
  EXPECT_FALSE(is_type(detail::wide_type));
  EXPECT_EQ(size_of(detail::wide_type), Bytes{32});
  EXPECT_FALSE(supports(Op::Kind::sum, detail::wide_type));
  EXPECT_TRUE(supports(Op::Kind::user, detail::wide_type));
}

TEST(EnumValues, OfOperations) {
  for (const int number : {static_cast<int>(Op::Kind::user) + 1, 99, 255}) {
    const auto bad = static_cast<Op::Kind>(number);
    EXPECT_THROW(static_cast<void>(to_string(bad)), ArgumentError);
    EXPECT_THROW(static_cast<void>(supports(bad, Type::fp32)), ArgumentError);
    EXPECT_THROW(static_cast<void>(supported_types(bad)), ArgumentError);
  }
}

TEST(EnumValues, OfCollective) {
  for (const int number : {collective_count, 99, 255}) {
    const auto bad = static_cast<Collective>(number);
    EXPECT_THROW(static_cast<void>(to_string(bad)), ArgumentError);
    EXPECT_THROW(static_cast<void>(reduces(bad)), ArgumentError);
    EXPECT_THROW(static_cast<void>(has_root(bad)), ArgumentError);
    EXPECT_THROW(static_cast<void>(find_algorithm(bad, "ring")), ArgumentError);
    EXPECT_THROW(static_cast<void>(algorithm_names(bad)), ArgumentError);
    EXPECT_THROW(static_cast<void>(algorithm_names(bad, Order::any)), ArgumentError);
    Problem problem{Rank{0}, 2, Count{3}};
    problem.collective = bad;
    EXPECT_THROW(static_cast<void>(shape_of(problem)), ArgumentError);
    EXPECT_THROW(ScheduleBuilder{problem}, ArgumentError);
  }
}

TEST(EnumValues, OfOrder) {
  EXPECT_THROW(static_cast<void>(algorithm_names(Collective::allreduce, static_cast<Order>(3))), ArgumentError);
}

/// The builder's errors are those of an algorithm's author: std::logic_error.
TEST(EnumValues, OfBuffer) {
  ScheduleBuilder builder{Problem{Rank{0}, 2, Count{3}}};
  const Region bad{static_cast<Buffer>(3), Count{0}, Count{0}};
  EXPECT_THROW(builder.send(bad, Rank{1}), std::logic_error);
  EXPECT_THROW(builder.recv(bad, Rank{1}), std::logic_error);
  EXPECT_THROW(builder.reduce(bad, bad, bad), std::logic_error);
  EXPECT_THROW(builder.copy(bad, bad), std::logic_error);
}

}  // namespace
}  // namespace tutti
