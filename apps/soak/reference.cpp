#include "apps/soak/reference.hpp"

#include <algorithm>
#include <complex>
#include <cstring>
#include <numeric>

#include "apps/soak/layout.hpp"
#include "apps/soak/types.hpp"
#include "apps/soak/user_op.hpp"
#include "apps/soak/values.hpp"
#include "tutti/algorithm.hpp"

namespace tutti::soak {
namespace {

// ---- Reductions. No step is rounded (values.cpp), so that float is as good as the types of 16 and 8 bits.

template <class T>
constexpr bool is_narrow = !std::integral<T> && sizeof(T) <= 2;

template <class T>
auto widened(T value) {
  if constexpr (is_narrow<T>)
    return static_cast<float>(value);
  else
    return value;
}

template <std::integral T>
T combined(Op::Kind kind, T a, T b) {
  using Kind = Op::Kind;
  // Unsigned numbers of 64 bits wrap around, and so do the parts that the type holds.
  const std::uint64_t x{static_cast<std::make_unsigned_t<T>>(a)}, y{static_cast<std::make_unsigned_t<T>>(b)};
  switch (kind) {
    case Kind::prod:
      return static_cast<T>(x * y);
    case Kind::min:
      return std::min(a, b);
    case Kind::max:
      return std::max(a, b);
    case Kind::land:
      return T{a != 0 && b != 0};
    case Kind::lor:
      return T{a != 0 || b != 0};
    case Kind::lxor:
      return T{(a != 0) != (b != 0)};
    case Kind::band:
      return static_cast<T>(x & y);
    case Kind::bor:
      return static_cast<T>(x | y);
    case Kind::bxor:
      return static_cast<T>(x ^ y);
    default:
      return static_cast<T>(x + y);
  }
}

template <std::floating_point T>
T combined(Op::Kind kind, T a, T b) {
  if (kind == Op::Kind::prod) return a * b;
  if (kind == Op::Kind::min) return std::min(a, b);
  return kind == Op::Kind::max ? std::max(a, b) : a + b;
}

template <class Part>
std::complex<Part> combined(Op::Kind kind, std::complex<Part> a, std::complex<Part> b) {
  if (kind != Op::Kind::prod) return a + b;
  return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
}

/// The division of avg and the factor of scaled_sum.
template <class T>
T finished(const Op& op, int size, T value) {
  if constexpr (std::integral<T>) {
    if (op.kind() != Op::Kind::avg) return value;
    using Wide = std::conditional_t<std::signed_integral<T>, std::int64_t, std::uint64_t>;
    return static_cast<T>(Wide{value} / static_cast<Wide>(size));
  } else if constexpr (std::floating_point<T>) {
    if (op.kind() == Op::Kind::avg) return value / static_cast<T>(size);
    return op.kind() == Op::Kind::scaled_sum ? value * static_cast<T>(op.scale()) : value;
  } else {
    return {finished(op, size, value.real()), finished(op, size, value.imag())};
  }
}

template <class T>
T element_at(std::span<const std::byte> data, std::size_t i) {
  T value;
  std::memcpy(&value, data.data() + i * sizeof(T), sizeof(T));
  return value;
}

template <class T>
void write_reduced(const Call& call, int repetition, const Source& from, std::span<std::byte> into) {
  using Wide = decltype(widened(T{}));
  ByteVector data(into.size());
  std::vector<Wide> all(into.size() / sizeof(T));
  for (int i = 0; i < from.ranks; ++i) {
    write_input(call, repetition, from.first_rank + i, from.first, data);
    for (std::size_t at = 0; at < all.size(); ++at) {
      const Wide value = widened(element_at<T>(data, at));
      all[at] = i == 0 ? value : combined(call.op.kind(), all[at], value);
    }
  }
  for (std::size_t at = 0; at < all.size(); ++at) {
    const T value{finished(call.op, call.size, all[at])};
    std::memcpy(into.data() + at * sizeof(T), &value, sizeof(T));
  }
}

void write_users_result(const Call& call, int repetition, const Source& from, std::span<std::byte> into) {
  const Commutative commutative = call.op.commutative() ? Commutative::yes : Commutative::no;
  ByteVector data(into.size());
  write_input(call, repetition, from.first_rank, from.first, into);
  for (int i = 1; i < from.ranks; ++i) {
    write_input(call, repetition, from.first_rank + i, from.first, data);
    for (std::size_t at = 0; at < into.size(); ++at)
      into[at] = std::byte{soak::combined(commutative, std::to_integer<unsigned char>(into[at]),
                                          std::to_integer<unsigned char>(data[at]))};
  }
}

std::vector<Source> sources_of_reduction(const Call& call, int rank, const Layout& layout) {
  if (layout.out.counts.empty()) return {};
  Source from{0, call.size, 0};
  if (call.collective == Collective::scan) from.ranks = rank + 1;
  if (call.collective == Collective::exscan) from.ranks = rank;
  if (call.collective == Collective::reduce_scatter)
    from.first = std::accumulate(layout.in.counts.begin(), layout.in.counts.begin() + rank, std::int64_t{0});
  return from.ranks == 0 ? std::vector<Source>{} : std::vector{from};
}

// ---- Calls that move elements.

/// The messages that `rank` receives.
std::vector<Source> sources_of_messages(const Call& call, int rank) {
  std::vector<Source> sources;
  std::vector<std::int64_t> sent(static_cast<std::size_t>(call.size));
  for (const Message& message : call.messages) {
    std::int64_t& before = sent[static_cast<std::size_t>(message.from)];
    if (message.to == rank) sources.push_back({message.from, 1, before});
    before += message.count;
  }
  return sources;
}

/// Where in the input of `sender` the block for `rank` begins.
std::int64_t start_of_block(const Call& call, int sender, int rank) {
  const std::vector<std::int64_t> counts = layout_of(call, sender).in.counts;
  return std::accumulate(counts.begin(), counts.begin() + rank, std::int64_t{0});
}

std::vector<Source> sources_of_moves(const Call& call, int rank, int blocks) {
  std::vector<Source> sources;
  for (int block = 0; block < blocks; ++block) {
    if (call.collective == Collective::broadcast)
      sources.push_back({call.root, 1, 0});
    else if (call.collective == Collective::scatter)
      sources.push_back({call.root, 1, start_of_block(call, call.root, rank)});
    else if (call.collective == Collective::alltoall)
      sources.push_back({block, 1, start_of_block(call, block, rank)});
    else
      sources.push_back({block, 1, 0});
  }
  return sources;
}

}  // namespace

std::vector<Source> sources_of(const Call& call, int rank) {
  if (call.kind != Kind::collective) return sources_of_messages(call, rank);
  const Layout layout = layout_of(call, rank);
  return reduces(call.collective) ? sources_of_reduction(call, rank, layout)
                                  : sources_of_moves(call, rank, static_cast<int>(layout.out.counts.size()));
}

void write_result(const Call& call, int repetition, const Source& from, std::span<std::byte> into) {
  if (call.kind != Kind::collective || !reduces(call.collective))
    return write_input(call, repetition, from.first_rank, from.first, into);
  const auto of_period = static_cast<std::size_t>(period * size_of(call.type).value());
  const std::span once = into.first(std::min(into.size(), of_period));
  if (call.op.kind() == Op::Kind::user)
    write_users_result(call, repetition, from, once);
  else
    with_type(call.type, [&]<class T>() { write_reduced<T>(call, repetition, from, once); });
  repeat(into, once.size());
}

}  // namespace tutti::soak
