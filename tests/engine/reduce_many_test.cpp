// Reductions of many operands in one pass, against the same steps one by one, for every instruction set of this
// processor.

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "lib/core/reduce/kernels.hpp"
#include "tests/engine/reduce_reference.hpp"
#include "tests/engine/reduce_values.hpp"

namespace tutti {
namespace {

/// Whether the bits are equal, or both are NaN: which NaN results is not defined.
template <class T>
bool same_result(T a, T b) {
  if (std::memcmp(&a, &b, sizeof(T)) == 0) return true;
  if constexpr (std::integral<T>) {
    return false;
  } else {
    return std::isnan(reference::widen(a)) && std::isnan(reference::widen(b));
  }
}

template <class Part>
bool same_result(std::complex<Part> a, std::complex<Part> b) {
  return same_result(a.real(), b.real()) && same_result(a.imag(), b.imag());
}

template <class T>
std::vector<std::vector<T>> many_operands(std::size_t operand_count, std::size_t count) {
  std::vector<std::vector<T>> operands;
  for (std::size_t k = 0; k < operand_count; k += 2) {
    const Operands<T> pair{count, k};
    operands.push_back(pair.lhs);
    if (operands.size() < operand_count) operands.push_back(pair.rhs);
  }
  return operands;
}

/// The result of the baseline's kernels of two operands, one after the other.
template <class T>
std::vector<T> step_by_step(Op::Kind kind, const std::vector<std::vector<T>>& operands) {
  const ReduceKernel kernel = kernels_baseline.reduce[static_cast<int>(kind)][static_cast<int>(type_of<T>)];
  std::vector<T> result = operands[0];
  for (std::size_t k = 1; k < operands.size(); ++k)
    kernel(result.data(), operands[k].data(), result.data(), result.size());
  return result;
}

struct Placement {
  std::size_t shift;                ///< Bytes of misalignment; each operand's is another multiple of it.
  std::optional<std::size_t> into;  ///< The operand that is overwritten.
  bool also;
};

template <class T>
void expect_result(const Shifted<T>& got, const std::vector<T>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    ASSERT_TRUE(same_result(got[i], expected[i])) << "element " << i;
  ASSERT_TRUE(got.only_inside());
}

/// `run(operands, into, also, count)` with the arrays placed so.
template <class T, class Run>
void expect_right(const std::vector<std::vector<T>>& operands, const std::vector<T>& expected, Placement place,
                  Run run) {
  SCOPED_TRACE(testing::Message() << operands.size() << " operands, count " << expected.size() << ", shift "
                                  << place.shift << " bytes, into "
                                  << (place.into ? std::to_string(*place.into) : "none of them")
                                  << (place.also ? ", also" : ""));
  std::vector<Shifted<T>> arrays;
  for (const std::vector<T>& operand : operands)
    arrays.emplace_back(operand, arrays.size() * place.shift);
  Shifted<T> apart{operands[0], 3 * place.shift}, also{operands[0], place.shift};
  std::vector<const void*> pointers;
  for (Shifted<T>& array : arrays)
    pointers.push_back(array.data());
  Shifted<T>& into = place.into ? arrays[*place.into] : apart;
  run(pointers.data(), into.data(), place.also ? also.data() : nullptr, expected.size());
  expect_result(into, expected);
  if (place.also) expect_result(also, expected);
  for (std::size_t k = 0; k < arrays.size(); ++k) {
    if (place.into == k) continue;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const T now = arrays[k][i];
      ASSERT_EQ(std::memcmp(&now, &operands[k][i], sizeof(T)), 0) << "operand " << k << " changed at " << i;
    }
  }
}

template <class T, class Run>
void expect_right_everywhere(const std::vector<std::vector<T>>& operands, const std::vector<T>& expected, Run run) {
  std::vector<std::optional<std::size_t>> places{std::nullopt};
  for (std::size_t k = 0; k < operands.size(); ++k)
    places.emplace_back(k);
  for (const std::optional<std::size_t> into : places) {
    for (const std::size_t shift : {std::size_t{0}, std::size_t{1}, sizeof(T)}) {
      for (const bool also : {false, true}) {
        expect_right(operands, expected, {shift, into, also}, run);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

template <class T>
struct ReduceMany : testing::Test {};
TYPED_TEST_SUITE(ReduceMany, ElementTypes, TypeName);

/// Every kernel for the type, on these operands.
template <class T>
void expect_every_kernel(const std::vector<std::vector<T>>& operands) {
  for (int kind = 0; kind < built_in_kinds; ++kind) {
    if (!supports(static_cast<Op::Kind>(kind), type_of<T>)) continue;
    if (static_cast<Op::Kind>(kind) == Op::Kind::exact_sum) continue;  // rounds no step
    const std::vector<T> expected = step_by_step(static_cast<Op::Kind>(kind), operands);
    for (const KernelTable* table : runnable_kernel_tables()) {
      SCOPED_TRACE(testing::Message() << table->name << ", " << to_string(static_cast<Op::Kind>(kind)));
      const ReduceManyKernel kernel = table->reduce_many[kind][static_cast<int>(type_of<T>)];
      ASSERT_NE(kernel, nullptr);
      expect_right_everywhere(operands, expected,
                              [&](const void* const* from, void* into, void* also, std::size_t count) {
                                kernel(from, operands.size(), into, also, count);
                              });
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TYPED_TEST(ReduceMany, GivesTheBitsOfOneStepAfterTheOther) {
  for (const std::size_t operand_count : {1, 2, 3, 4, 5, 6, 7, 8, 9}) {
    for (const std::size_t count : {0, 1, 7, 63, 64, 65}) {
      expect_every_kernel(many_operands<TypeParam>(operand_count, count));
      if (this->HasFatalFailure()) return;
    }
  }
  for (const std::size_t operand_count : {2, 4, 5, 9}) {
    expect_every_kernel(many_operands<TypeParam>(operand_count, 1000));
    if (this->HasFatalFailure()) return;
  }
}

TYPED_TEST(ReduceMany, GoesInSeveralPieces) {
  const auto operands = many_operands<TypeParam>(3, 100'001 / sizeof(TypeParam));
  const std::vector<TypeParam> expected = step_by_step(Op::Kind::sum, operands);
  for (const KernelTable* table : runnable_kernel_tables()) {
    SCOPED_TRACE(table->name);
    const ReduceManyKernel kernel = table->reduce_many[0][static_cast<int>(type_of<TypeParam>)];
    expect_right_everywhere(operands, expected,
                            [&](const void* const* from, void* into, void* also, std::size_t count) {
                              kernel(from, operands.size(), into, also, count);
                            });
  }
}

}  // namespace
}  // namespace tutti
