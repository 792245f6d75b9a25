#include "apps/bench/pattern.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <type_traits>

namespace tutti::bench {

namespace {

using Value = std::complex<double>;

/// Every partial result of whole numbers is at most this: int8 holds no more, and fp8_e5m2 not all numbers above 8.
int largest_of(Type type) { return size_of(type) == Bytes{1} && !is_integer(type) ? 8 : 127; }

constexpr std::int64_t repeated = 64;  // Periods written or read at once.

/// A number that looks random, of rank and position (the finaliser of splitmix64).
std::uint64_t mixed(int rank, std::int64_t position) {
  auto x = static_cast<std::uint64_t>(rank) * 0x9e3779b97f4a7c15U + static_cast<std::uint64_t>(position) + 1;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

/// True on at most `most` ranks at each position, on another set of ranks at the next position.
bool is_among(int most, int rank, int ranks, std::int64_t position) {
  const int stride = (ranks + most - 1) / most;
  return (rank + position) % stride == 0;
}

template <class T>
struct Convert {
  static T of(Value value) { return static_cast<T>(value.real()); }
  static Value back(T element) { return static_cast<double>(element); }
};
template <class T>
concept Narrow =
    std::same_as<T, Float8E4M3> || std::same_as<T, Float8E5M2> || std::same_as<T, Half> || std::same_as<T, BFloat16>;
template <Narrow T>
struct Convert<T> {
  static T of(Value value) { return T{static_cast<float>(value.real())}; }
  static Value back(T element) { return static_cast<double>(static_cast<float>(element)); }
};
template <class T>
struct Convert<std::complex<T>> {
  static std::complex<T> of(Value value) { return std::complex<T>{value}; }
  static Value back(std::complex<T> element) { return Value{element}; }
};

/// How one type is stored in bytes and read back.
struct Storage {
  void (*store)(Value value, std::byte* into);
  Value (*load)(const std::byte* from);
};

template <class T>
constexpr Storage storage_of() {
  return {[](Value value, std::byte* into) {
            const T element = Convert<T>::of(value);
            std::memcpy(into, &element, sizeof element);
          },
          [](const std::byte* from) {
            T element;
            std::memcpy(static_cast<void*>(&element), from, sizeof element);
            return Convert<T>::back(element);
          }};
}

template <class... T>
constexpr std::array<Storage, type_count> storages() {
  std::array<Storage, type_count> table{};
  ((table[static_cast<std::size_t>(type_of<T>)] = storage_of<T>()), ...);
  return table;
}

/// A byte that is 0 or 1. Anything else is found to differ.
constexpr Storage storage_of_booleans{
    [](Value value, std::byte* into) { *into = static_cast<std::byte>(static_cast<int>(value.real())); },
    [](const std::byte* from) { return Value{static_cast<double>(*from)}; }};

const Storage& storage(Type type) {
  if (type == Type::boolean) return storage_of_booleans;
  static constexpr auto table = storages<std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                                         std::uint16_t, std::uint32_t, std::uint64_t, Float8E4M3, Float8E5M2, Half,
                                         BFloat16, float, double, std::complex<float>, std::complex<double>>();
  return table[static_cast<std::size_t>(type)];
}

Value combined(Op::Kind op, Value a, Value b) {
  const auto left = static_cast<int>(a.real()), right = static_cast<int>(b.real());
  switch (op) {
    case Op::Kind::sum:
    case Op::Kind::avg:
    case Op::Kind::scaled_sum:
      return a + b;
    case Op::Kind::prod:
      return a * b;
    case Op::Kind::min:
      return std::min(left, right);
    case Op::Kind::max:
      return std::max(left, right);
    case Op::Kind::land:
      return left != 0 && right != 0 ? 1 : 0;
    case Op::Kind::lor:
      return left != 0 || right != 0 ? 1 : 0;
    case Op::Kind::lxor:
      return (left != 0) != (right != 0) ? 1 : 0;
    case Op::Kind::band:
      return left & right;
    case Op::Kind::bor:
      return left | right;
    case Op::Kind::bxor:
      return left ^ right;
    case Op::Kind::user:
      break;
  }
  return 0;
}

/// Finishes the combination of all ranks: the step that is done once.
Value finished(Type type, const Op& op, int ranks, Value value) {
  if (type == Type::boolean) return value.real() != 0 ? 1 : 0;
  if (op.kind() == Op::Kind::scaled_sum) return value * op.scale();
  if (op.kind() != Op::Kind::avg) return value;
  const Value mean = value / static_cast<double>(ranks);
  return is_integer(type) ? std::trunc(mean.real()) : mean;
}

Value contribution(Type type, Op::Kind op, int rank, int ranks, std::int64_t position) {
  if (type == Type::boolean)
    return pattern_value(type, detail::of_booleans(op).value_or(op), rank, ranks, position) != 0 ? 1 : 0;
  const double real = pattern_value(type, op, rank, ranks, position);
  if (!is_complex(type) || op == Op::Kind::prod) return real;
  return {real, static_cast<double>(pattern_value(type, op, rank, ranks, position + 1))};
}

}  // namespace

int pattern_value(Type type, Op::Kind op, int rank, int ranks, std::int64_t position) {
  const int largest = largest_of(type);
  const std::uint64_t random = mixed(rank, position), other = random >> 32;
  const bool is_exception = random % static_cast<std::uint64_t>(2 * ranks) == 0;  // On none or few of the ranks.
  const auto below = [other](int limit) { return static_cast<int>(other % static_cast<std::uint64_t>(limit)); };
  switch (op) {
    case Op::Kind::sum:
    case Op::Kind::avg:
    case Op::Kind::scaled_sum:
      return is_among(largest / 3, rank, ranks, position) ? 1 + below(3) : 0;
    case Op::Kind::prod:
      return is_among(6, rank, ranks, position) ? 1 + below(2) : 1;
    case Op::Kind::min:
    case Op::Kind::max:
    case Op::Kind::bxor:
    case Op::Kind::user:
      return below(largest + 1);
    case Op::Kind::land:
      return is_exception ? 0 : 1 + below(3);
    case Op::Kind::lor:
      return is_exception ? 1 + below(3) : 0;
    case Op::Kind::lxor:
      return below(3);
    case Op::Kind::band:
      return is_exception ? largest ^ (1 << below(7)) : largest;
    case Op::Kind::bor:
      return is_exception ? 1 << below(7) : 0;
  }
  return 0;
}

Pattern::Pattern(Type type, const std::function<Value(std::int64_t)>& value) : type_(type) {
  const auto element = static_cast<std::size_t>(size_of(type).value());
  const std::size_t period = element * pattern_period;
  block_.resize(period * repeated);
  for (std::int64_t position = 0; position < pattern_period; ++position) {
    storage(type).store(value(position), &block_[static_cast<std::size_t>(position) * element]);
  }
  for (std::size_t begin = period; begin < block_.size(); begin += period) {
    std::memcpy(&block_[begin], block_.data(), period);
  }
}

std::span<const std::byte> Pattern::from(std::int64_t position) const {
  const std::int64_t skipped = position % pattern_period * size_of(type_).value();
  const auto period = block_.size() / static_cast<std::size_t>(repeated);
  // A whole number of periods, so that the next bytes start at the same place.
  return std::span{block_}.subspan(static_cast<std::size_t>(skipped), block_.size() - period);
}

void Pattern::write_to(const BenchMemory& memory, std::span<std::byte> data, std::int64_t position) const {
  const std::span<const std::byte> values = from(position);
  while (!data.empty()) {
    const std::size_t size = std::min(data.size(), values.size());
    memory.write(data.data(), values.first(size));
    data = data.subspan(size);
  }
}

std::int64_t Pattern::differences(const BenchMemory& memory, std::span<const std::byte> data, double tolerance,
                                  std::int64_t position) const {
  const auto [store, load] = storage(type_);
  const auto element = static_cast<std::size_t>(size_of(type_).value());
  const std::span<const std::byte> values = from(position);
  std::vector<std::byte> found(std::min(data.size(), values.size()));
  std::int64_t different = 0;
  for (; !data.empty(); data = data.subspan(found.size())) {
    found.resize(std::min(data.size(), found.size()));
    memory.read(data.data(), found);
    if (std::memcmp(found.data(), values.data(), found.size()) == 0) continue;
    for (std::size_t at = 0; at < found.size(); at += element) {
      const Value expected = load(&values[at]);
      // Negated, so that NaN counts.
      if (!(std::abs(load(&found[at]) - expected) <= tolerance * std::abs(expected))) ++different;
    }
  }
  return different;
}

Pattern input_pattern(Type type, const Op& op, int rank, int ranks) {
  return Pattern{type, [&](std::int64_t position) { return contribution(type, op.kind(), rank, ranks, position); }};
}

Pattern reduced_pattern(Type type, const Op& op, int ranks) { return reduced_pattern(type, op, ranks, ranks); }

Pattern reduced_pattern(Type type, const Op& op, int ranks, int end) {
  return Pattern{type, [&](std::int64_t position) {
                   Value value = contribution(type, op.kind(), 0, ranks, position);
                   for (int rank = 1; rank < end; ++rank) {
                     value = combined(op.kind(), value, contribution(type, op.kind(), rank, ranks, position));
                   }
                   return finished(type, op, ranks, value);
                 }};
}

Pattern untouched_pattern(Type type) {
  // Everything else is from 0 to 127.
  const double first = type == Type::int8 ? -1 : 255;
  constexpr std::int64_t differing = 7;
  return Pattern{type, [&](std::int64_t position) { return first - static_cast<double>(position % differing); }};
}

double rounding_tolerance(Type type, const Op& op) {
  if (op.kind() != Op::Kind::avg || is_integer(type)) return 0;
  switch (type) {
    case Type::fp8_e5m2:
      return 0x1p-2;
    case Type::fp8_e4m3:
      return 0x1p-3;
    case Type::fp16:
      return 0x1p-10;
    case Type::bf16:
      return 0x1p-7;
    case Type::fp32:
    case Type::complex_fp32:
      return 0x1p-23;
    default:
      return 0x1p-52;
  }
}

}  // namespace tutti::bench
