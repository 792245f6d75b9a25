#include "lib/core/reduce/exact_accumulator.hpp"

#include <algorithm>

#include "lib/core/reduce/exact_elements.hpp"

namespace tutti {
namespace {

constexpr std::size_t plus = ExactAccumulator::digit_count, minus = plus + 1, nans = plus + 2, others = plus + 3;
/// After so many numbers, each of which adds less than 2^32 to a digit, digits have to carry.
constexpr std::size_t most_added = std::size_t{1} << 30;

void add_number(ExactAccumulator::Words& words, std::uint64_t number) {
  words[others] += number == Binary64::sign ? 0 : 1;
  const std::uint64_t magnitude = number & ~Binary64::sign;
  if (magnitude >= Binary64::infinity) {
    words[magnitude > Binary64::infinity ? nans : number == magnitude ? plus : minus] += 1;
    return;
  }
  const Finite its = finite(number);
  const auto position = static_cast<unsigned>(its.exponent - Binary64::least);
  const unsigned shift = position % 32;
  std::int64_t* const digits = words.data() + position / 32;
  const std::uint64_t lower = (its.bits & 0xffffffffU) << shift, upper = (its.bits >> 32) << shift;
  const std::int64_t sign = its.negative ? -1 : 1;
  digits[0] += sign * static_cast<std::int64_t>(lower & 0xffffffffU);
  digits[1] += sign * static_cast<std::int64_t>((lower >> 32) + (upper & 0xffffffffU));
  digits[2] += sign * static_cast<std::int64_t>(upper >> 32);
}

template <class Exact>
void add_numbers(ExactAccumulator::Words& words, const std::byte* data, std::size_t count, std::size_t stride) {
  using Number = typename Exact::InMemory;
  for (std::size_t i = 0; i < count; ++i)
    add_number(words, cast<std::uint64_t>(Exact::widen(load<Number>(data + i * stride * sizeof(Number)))));
}

/// Digits as those of one number; the highest is negative if the number is.
void carry_all(std::span<std::int64_t> digits) {
  std::int64_t carry = 0;
  for (std::int64_t& digit : digits.first(digits.size() - 1)) {
    digit += carry;
    carry = digit >> 32;
    digit &= 0xffffffff;
  }
  digits.back() += carry;
}

template <class F>
void round_words(std::span<const std::int64_t, ExactAccumulator::word_count> words, void* into) {
  std::array<std::int64_t, ExactAccumulator::digit_count> digits{};
  std::copy_n(words.begin(), digits.size(), digits.begin());
  carry_all(digits);
  const bool negative = digits.back() < 0;
  if (negative) {
    for (std::int64_t& digit : digits)
      digit = -digit;
    carry_all(digits);
  }
  TopDigits top;
  int exponent = Binary64::least;
  for (const std::int64_t digit : digits) {
    top.add(static_cast<std::uint32_t>(digit), exponent);
    exponent += 32;
  }
  const Specials specials{words[nans] > 0, words[plus] > 0, words[minus] > 0, words[others] == 0};
  const auto result = static_cast<typename F::Bits>(specials.rounded<F>(top.magnitude(), negative));
  store(static_cast<std::byte*>(into), result);
}

}  // namespace

void ExactAccumulator::add(const void* data, Type type, std::size_t count, std::size_t stride) {
  const auto* from = static_cast<const std::byte*>(data);
  const std::size_t step = stride * static_cast<std::size_t>(size_of(type).value());
  while (count > 0) {
    const std::size_t some = std::min(count, most_added - added_);
    if (type == Type::fp64) add_numbers<ExactDouble>(words_, from, some, stride);
    if (type == Type::fp32) add_numbers<ExactFloat>(words_, from, some, stride);
    if (type == Type::fp16) add_numbers<ExactNarrow<Binary16, PortableHalf>>(words_, from, some, stride);
    if (type == Type::bf16) add_numbers<ExactNarrow<Brain16, BfloatConversion>>(words_, from, some, stride);
    from += some * step, count -= some, added_ += some;
    if (added_ == most_added) carry();
  }
}

void ExactAccumulator::carry() {
  carry_all(std::span{words_}.first(digit_count));
  added_ = 0;
}

const ExactAccumulator::Words& ExactAccumulator::words() {
  carry();
  return words_;
}

void ExactAccumulator::round(std::span<const std::int64_t, word_count> words, Type type, void* into) {
  if (type == Type::fp64) round_words<Binary64>(words, into);
  if (type == Type::fp32) round_words<Binary32>(words, into);
  if (type == Type::fp16) round_words<Binary16>(words, into);
  if (type == Type::bf16) round_words<Brain16>(words, into);
}

}  // namespace tutti
