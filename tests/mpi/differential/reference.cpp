#include "reference.hpp"

#include <complex>
#include <cstring>
#include <numeric>
#include <utility>

#include "layout.hpp"
#include "tests/engine/reduce_reference.hpp"
#include "tutti/algorithm.hpp"
#include "types.hpp"
#include "user_op.hpp"

namespace tutti::differential {
namespace {

// ---- Reductions, in wider types: 128-bit integers, double, complex of double.

template <class T>
auto widened(T value) {
  if constexpr (is_complex(type_of<T>))
    return std::complex<double>{value};
  else
    return reference::widen(value);
}

template <class T, class W>
T narrowed(W value) {
  if constexpr (is_complex(type_of<T>) || is_integer(type_of<T>) || type_of<T> == Type::fp64)
    return static_cast<T>(value);
  else
    return static_cast<T>(static_cast<float>(value));
}

template <class T, class W>
W combined_once(Op::Kind kind, W a, W b) {
  if constexpr (!is_complex(type_of<T>))
    return reference::rounded<T>(reference::combine(kind, a, b));
  else if (kind == Op::Kind::prod)
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  else
    return a + b;
}

/// The division of avg and the factor of scaled_sum, for a real number.
template <class T, class W>
W finished(const Op& op, int size, W value) {
  if (op.kind() == Op::Kind::avg) return reference::rounded<T>(value / static_cast<W>(size));
  if constexpr (std::same_as<W, double>) {
    if (op.kind() != Op::Kind::scaled_sum) return value;
    if (std::same_as<T, double>) return value * op.scale();
    return reference::rounded<T>(double{static_cast<float>(value * double{static_cast<float>(op.scale())})});
  }
  return value;
}

template <class T>
std::complex<double> finished(const Op& op, int size, std::complex<double> value) {
  using Part = typename T::value_type;
  return {finished<Part>(op, size, value.real()), finished<Part>(op, size, value.imag())};
}

template <class T>
T element_at(const ByteVector& data, std::size_t i) {
  T value;
  std::memcpy(&value, data.data() + i * sizeof(T), sizeof(T));
  return value;
}

/// Which elements of the input of which ranks are combined.
struct Operands {
  int ranks;
  std::int64_t first, count;
};

template <class T>
ByteVector built_in_result(const Call& call, int repetition, const Operands& of) {
  using Wide = decltype(widened(T{}));
  const auto count = static_cast<std::size_t>(of.count);
  std::vector<Wide> all(count);
  for (int rank = 0; rank < of.ranks; ++rank) {
    const ByteVector data = input_of(call, repetition, rank, of.first, of.count);
    for (std::size_t i = 0; i < count; ++i) {
      const Wide value = widened(element_at<T>(data, i));
      all[i] = rank == 0 ? value : combined_once<T>(call.op.kind(), all[i], value);
    }
  }
  ByteVector result(count * sizeof(T));
  for (std::size_t i = 0; i < count; ++i) {
    const T value = narrowed<T>(finished<T>(call.op, call.size, all[i]));
    std::memcpy(result.data() + i * sizeof(T), &value, sizeof(T));
  }
  return result;
}

ByteVector users_result(const Call& call, int repetition, const Operands& of) {
  const Commutative commutative = call.op.commutative() ? Commutative::yes : Commutative::no;
  ByteVector all = input_of(call, repetition, 0, of.first, of.count);
  for (int rank = 1; rank < of.ranks; ++rank) {
    const ByteVector data = input_of(call, repetition, rank, of.first, of.count);
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i] = std::byte{
          combined(commutative, std::to_integer<unsigned char>(all[i]), std::to_integer<unsigned char>(data[i]))};
  }
  return all;
}

std::int64_t sum_of_first(const std::vector<std::int64_t>& counts, int number) {
  return std::accumulate(counts.begin(), counts.begin() + number, std::int64_t{0});
}

std::optional<ByteVector> reduced(const Call& call, int repetition, int rank) {
  const Layout layout = layout_of(call, rank);
  Operands of{call.size, 0, layout.out.total()};
  if (call.collective == Collective::scan) of.ranks = rank + 1;
  if (call.collective == Collective::exscan) of.ranks = rank;
  if (call.collective == Collective::reduce_scatter) of.first = sum_of_first(layout.in.counts, rank);
  if (of.ranks == 0) return std::nullopt;
  if (call.op.kind() == Op::Kind::user) return users_result(call, repetition, of);
  return with_type(call.type, [&]<class T>() { return built_in_result<T>(call, repetition, of); });
}

// ---- Calls that move elements.

/// Where the elements of a block come from: a rank, and the first of its elements.
struct Source {
  int rank;
  std::int64_t first;
};

/// The sources of the messages that `rank` receives.
std::vector<Source> sources_of_messages(const Call& call, int rank) {
  std::vector<Source> sources;
  std::vector<std::int64_t> sent(static_cast<std::size_t>(call.size));
  for (const Message& message : call.messages) {
    std::int64_t& before = sent[static_cast<std::size_t>(message.from)];
    if (message.to == rank) sources.push_back({message.from, before});
    before += message.count;
  }
  return sources;
}

std::vector<Source> sources_of(const Call& call, int rank, int blocks) {
  if (call.kind != Kind::collective) return sources_of_messages(call, rank);
  std::vector<Source> sources;
  for (int block = 0; block < blocks; ++block) {
    if (call.collective == Collective::broadcast)
      sources.push_back({call.root, 0});
    else if (call.collective == Collective::scatter)
      sources.push_back({call.root, sum_of_first(layout_of(call, call.root).in.counts, rank)});
    else if (call.collective == Collective::alltoall)
      sources.push_back({block, sum_of_first(layout_of(call, block).in.counts, rank)});
    else
      sources.push_back({block, 0});
  }
  return sources;
}

ByteVector moved(const Call& call, int repetition, int rank) {
  const Side out = layout_of(call, rank).out;
  const std::vector<Source> sources = sources_of(call, rank, static_cast<int>(out.counts.size()));
  ByteVector result;
  for (std::size_t block = 0; block < sources.size(); ++block) {
    const ByteVector data = input_of(call, repetition, sources[block].rank, sources[block].first, out.counts[block]);
    result.insert(result.end(), data.begin(), data.end());
  }
  return result;
}

}  // namespace

std::optional<ByteVector> reference_result(const Call& call, int repetition, int rank) {
  if (call.kind == Kind::collective && reduces(call.collective)) return reduced(call, repetition, rank);
  return moved(call, repetition, rank);
}

}  // namespace tutti::differential
