// Exact sums against integers of any length, for every instruction set of this processor.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <boost/multiprecision/cpp_int.hpp>
#include <cfenv>
#include <cstring>
#include <random>
#include <vector>

#include "lib/core/reduce/exact_accumulator.hpp"
#include "lib/core/reduce/kernels.hpp"

#ifdef __SSE2__
#include <xmmintrin.h>
#endif

namespace tutti {
namespace {

using boost::multiprecision::cpp_int;

/// A binary format, as IEEE 754 describes them: `digits` bits, the least of which is worth 2^least or more.
struct Form {
  Type type;
  int bytes, digits, least;
  [[nodiscard]] int exponent_bits() const { return 8 * bytes - digits; }
  [[nodiscard]] std::uint64_t first_digit() const { return std::uint64_t{1} << (digits - 1); }
  [[nodiscard]] std::uint64_t infinity() const { return ((std::uint64_t{1} << exponent_bits()) - 1) << (digits - 1); }
  [[nodiscard]] std::uint64_t nan() const { return infinity() | first_digit() >> 1; }
  [[nodiscard]] std::uint64_t sign() const { return std::uint64_t{1} << (8 * bytes - 1); }
};
constexpr Form forms[] = {
    {Type::fp64, 8, 53, -1074}, {Type::fp32, 4, 24, -149}, {Type::fp16, 2, 11, -24}, {Type::bf16, 2, 8, -133}};

/// A finite number in units of 2^least.
cpp_int units(const Form& form, std::uint64_t number) {
  const std::uint64_t fraction = number & (form.first_digit() - 1);
  const auto field = static_cast<unsigned>((number & ~form.sign()) >> (form.digits - 1));
  cpp_int value = field == 0 ? fraction : fraction | form.first_digit();
  if (field > 1) value <<= field - 1;
  return (number & form.sign()) != 0 ? cpp_int{-value} : value;
}

std::uint64_t rounded(const Form& form, cpp_int value) {
  const bool negative = value < 0;
  if (negative) value = -value;
  std::uint64_t bits = 0;
  if (value != 0) {
    const auto length = static_cast<int>(msb(value)) + 1, dropped = std::max(0, length - form.digits);
    cpp_int kept = value >> dropped;
    const cpp_int twice_the_rest = (value - (kept << dropped)) * 2, unit = cpp_int{1} << dropped;
    if (twice_the_rest > unit || (twice_the_rest == unit && (kept & 1) != 0)) ++kept;
    // The field of a normal number is one more than the exponent of its unit; its first digit makes that one.
    bits = (static_cast<std::uint64_t>(dropped) << (form.digits - 1)) + static_cast<std::uint64_t>(kept);
    bits = std::min(bits, form.infinity());
  }
  return bits | (negative ? form.sign() : 0);
}

/// The sum as one addition of IEEE 754 would have it, if that had any number of operands.
std::uint64_t sum_of(const Form& form, const std::vector<std::uint64_t>& numbers) {
  const auto has = [&](std::uint64_t number) { return std::ranges::find(numbers, number) != numbers.end(); };
  const bool has_nan =
      std::ranges::any_of(numbers, [&](std::uint64_t number) { return (number & ~form.sign()) > form.infinity(); });
  const bool plus = has(form.infinity()), minus = has(form.infinity() | form.sign());
  if (has_nan || (plus && minus)) return form.nan();
  if (plus || minus) return form.infinity() | (minus ? form.sign() : 0);
  if (std::ranges::all_of(numbers, [&](std::uint64_t number) { return number == form.sign(); })) return form.sign();
  cpp_int sum = 0;
  for (const std::uint64_t number : numbers)
    sum += units(form, number);
  return rounded(form, sum);
}

/// Sets of numbers: each kind is hard in another way.
enum class Set { any_bits, near, subnormal, powers, cancelling, special, large };
constexpr int set_count = 7;

class Numbers {
 public:
  Numbers(const Form& form, unsigned seed) : form_(form), random_(seed) {}

  std::vector<std::uint64_t> draw(Set set, std::size_t count) {
    std::vector<std::uint64_t> numbers;
    for (std::size_t k = 0; k < count; ++k)
      numbers.push_back(one(set));
    if (set == Set::cancelling)  // a small one is left of pairs of large ones
      for (std::size_t k = 0; k + 2 < count; k += 2)
        numbers[k + 1] = numbers[k] ^ form_.sign();
    std::ranges::shuffle(numbers, random_);
    return numbers;
  }

 private:
  std::uint64_t below(std::uint64_t end) { return random_() % end; }
  std::uint64_t with(std::uint64_t field, std::uint64_t fraction) {
    return field << (form_.digits - 1) | fraction % form_.first_digit() | (below(2) == 0 ? form_.sign() : 0);
  }
  std::uint64_t one(Set set) {
    const std::uint64_t fields = (std::uint64_t{1} << form_.exponent_bits()) - 1, middle = fields / 2;
    switch (set) {
      case Set::any_bits:
      case Set::cancelling:
        return with(below(fields), random_());
      case Set::near:
        return with(middle - below(4), random_());
      case Set::subnormal:
        return with(below(3), below(2) == 0 ? random_() : below(4));
      case Set::powers:
        return with(1 + below(fields - 1), 0);
      case Set::large:
        return with(fields - 1 - below(3), below(2) == 0 ? ~std::uint64_t{0} : random_());
      case Set::special:
        break;
    }
    const std::uint64_t specials[] = {
        0,           form_.sign(),         form_.infinity(), form_.infinity() | form_.sign(),
        form_.nan(), form_.infinity() | 1, with(middle, 0),  with(0, 1)};
    return below(3) == 0 ? specials[below(8)] : specials[below(2)];
  }

  const Form& form_;
  std::mt19937_64 random_;
};

using Operands = std::vector<std::vector<std::byte>>;

Operands in_memory(const Form& form, const std::vector<std::vector<std::uint64_t>>& sets) {
  Operands operands(sets[0].size(), std::vector<std::byte>(sets.size() * static_cast<std::size_t>(form.bytes)));
  for (std::size_t i = 0; i < sets.size(); ++i)
    for (std::size_t k = 0; k < operands.size(); ++k)
      std::memcpy(operands[k].data() + i * static_cast<std::size_t>(form.bytes), &sets[i][k],
                  static_cast<std::size_t>(form.bytes));  // little-endian
  return operands;
}

std::uint64_t number_at(const Form& form, const std::vector<std::byte>& data, std::size_t i) {
  std::uint64_t number = 0;
  std::memcpy(&number, data.data() + i * static_cast<std::size_t>(form.bytes), static_cast<std::size_t>(form.bytes));
  return number;
}

ReduceManyKernel kernel_of(const KernelTable& table, Type type) {
  return table.reduce_many[static_cast<int>(Op::Kind::exact_sum)][static_cast<int>(type)];
}

std::vector<std::byte> sums(ReduceManyKernel kernel, const Operands& operands, const Form& form) {
  std::vector<const void*> pointers;
  for (const auto& each : operands)
    pointers.push_back(each.data());
  std::vector<std::byte> result(operands[0].size());
  kernel(pointers.data(), pointers.size(), result.data(), nullptr,
         result.size() / static_cast<std::size_t>(form.bytes));
  return result;
}

/// Every type, instruction set and kind of set, and from 2 to 40 operands.
TEST(ExactSum, IsTheRoundedSumOfIntegers) {
  std::int64_t compared = 0;
  for (const Form& form : forms)
    for (int set = 0; set < set_count; ++set)
      for (unsigned round = 0; round < 2200; ++round) {
        Numbers numbers{form, 1000 * static_cast<unsigned>(set) + round};
        const std::size_t operand_count = round % 4 == 0 ? 2 + round % 39 : 2 + round % 8;
        std::vector<std::vector<std::uint64_t>> sets;
        for (std::size_t i = 0; i < 1 + round % 37; ++i)
          sets.push_back(numbers.draw(static_cast<Set>(set), operand_count));
        std::vector<std::uint64_t> wanted;
        for (const auto& each : sets)
          wanted.push_back(sum_of(form, each));
        for (const KernelTable* table : runnable_kernel_tables()) {
          const std::vector<std::byte> found = sums(kernel_of(*table, form.type), in_memory(form, sets), form);
          for (std::size_t i = 0; i < sets.size(); ++i, ++compared)
            ASSERT_EQ(number_at(form, found, i), wanted[i])
                << table->name << ' ' << to_string(form.type) << ", set " << set << ", round " << round << ", element "
                << i << ", " << operand_count << " operands";
        }
      }
  EXPECT_GT(compared, 1'000'000);
}

TEST(ExactSum, HasTheSameBitsInAnyOrder) {
  std::mt19937 random{5};
  for (const Form& form : forms)
    for (int set = 0; set < set_count; ++set) {
      Numbers numbers{form, 77U + static_cast<unsigned>(set)};
      std::vector<std::vector<std::uint64_t>> sets;
      for (int i = 0; i < 100; ++i)
        sets.push_back(numbers.draw(static_cast<Set>(set), 9));
      const ReduceManyKernel kernel = reduce_many_kernel(Op::Kind::exact_sum, form.type);
      Operands operands = in_memory(form, sets);
      const std::vector<std::byte> first = sums(kernel, operands, form);
      for (int order = 0; order < 10; ++order) {
        std::ranges::shuffle(operands, random);
        EXPECT_EQ(sums(kernel, operands, form), first) << to_string(form.type) << ", set " << set;
      }
    }
}

/// A program that rounds upwards, or takes subnormal numbers for 0, gets the same, and keeps its way.
TEST(ExactSum, DoesNotDependOnTheProgramsRounding) {
  const Form& form = forms[0];
  Numbers numbers{form, 3};
  std::vector<std::vector<std::uint64_t>> sets;
  for (int i = 0; i < 64; ++i)
    sets.push_back(numbers.draw(i % 2 == 0 ? Set::subnormal : Set::near, 5));
  const ReduceManyKernel kernel = reduce_many_kernel(Op::Kind::exact_sum, form.type);
  const std::vector<std::byte> wanted = sums(kernel, in_memory(form, sets), form);
#ifdef __SSE2__
  constexpr unsigned flushes_and_rounds_up = 0x8040 | 0x4000 | 0x1f80;
  const unsigned before = _mm_getcsr();
  _mm_setcsr(flushes_and_rounds_up);
  const std::vector<std::byte> found = sums(kernel, in_memory(form, sets), form);
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  EXPECT_EQ(found, wanted);
  EXPECT_EQ(after & 0xffc0U, flushes_and_rounds_up & 0xffc0U);
#else
  GTEST_SKIP() << "only x86 processors are set back to IEEE 754's rounding";
#endif
}

TEST(ExactSum, MayBeWrittenOverAnOperandAndToASecondPlace) {
  const Form& form = forms[1];
  Numbers numbers{form, 4};
  std::vector<std::vector<std::uint64_t>> sets;
  for (int i = 0; i < 1003; ++i)
    sets.push_back(numbers.draw(static_cast<Set>(i % set_count), 4));
  const Operands operands = in_memory(form, sets);
  const ReduceManyKernel kernel = reduce_many_kernel(Op::Kind::exact_sum, form.type);
  const std::vector<std::byte> wanted = sums(kernel, operands, form);
  for (std::size_t place = 0; place < operands.size(); ++place) {
    Operands own = operands;
    std::vector<std::byte> also(wanted.size());
    std::vector<const void*> pointers;
    for (const auto& each : own)
      pointers.push_back(each.data());
    kernel(pointers.data(), pointers.size(), own[place].data(), also.data(), 1003);
    EXPECT_EQ(own[place], wanted) << "over operand " << place;
    EXPECT_EQ(also, wanted);
  }
}

/// Long sums, in parts whose words are added.
TEST(ExactAccumulators, AddUpToTheRoundedSumOfIntegers) {
  for (const Form& form : forms)
    for (int set = 0; set < set_count; ++set)
      for (unsigned round = 0; round < 40; ++round) {
        Numbers numbers{form, 500 * static_cast<unsigned>(set) + round};
        const std::size_t count = 1 + round * round % 997;
        const std::vector<std::uint64_t> all = numbers.draw(static_cast<Set>(set), count);
        std::vector<std::byte> data(count * static_cast<std::size_t>(form.bytes));
        for (std::size_t i = 0; i < count; ++i)
          std::memcpy(data.data() + i * static_cast<std::size_t>(form.bytes), &all[i],
                      static_cast<std::size_t>(form.bytes));
        ExactAccumulator parts[2];
        const std::size_t first = round % (count + 1);
        parts[0].add(data.data(), form.type, first);
        parts[1].add(data.data() + first * static_cast<std::size_t>(form.bytes), form.type, count - first);
        ExactAccumulator::Words words = parts[0].words();
        for (std::size_t word = 0; word < words.size(); ++word)
          words[word] += parts[1].words()[word];
        std::vector<std::byte> found(static_cast<std::size_t>(form.bytes));
        ExactAccumulator::round(words, form.type, found.data());
        ASSERT_EQ(number_at(form, found, 0), sum_of(form, all))
            << to_string(form.type) << ", set " << set << ", " << count << " numbers";
      }
}

TEST(ExactSum, IsForFloatingPointOf16BitsAndMore) {
  EXPECT_EQ(supported_types(Op::Kind::exact_sum), "fp16, bf16, fp32, fp64, complex_fp32, complex_fp64");
  const std::vector<std::complex<float>> a{{1e8F, 1}}, b{{1, -1e8F}}, c{{-1e8F, 1e8F}};
  const void* const operands[] = {a.data(), b.data(), c.data()};
  std::complex<float> sum;
  reduce_many_kernel(Op::Kind::exact_sum, Type::complex_fp32)(operands, 3, &sum, nullptr, 1);
  EXPECT_EQ(sum, (std::complex<float>{1, 1}));
}

}  // namespace
}  // namespace tutti
