// Reductions of distributed arrays: each rank reduces the ranges of indices that its block has, all tell each other,
// and all combine the same values in the same order.
#include "tutti/array_reduction.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <vector>

#include "lib/core/call/array_blocks.hpp"
#include "lib/core/communicator/communicator_state.hpp"
#include "lib/core/reduce/exact_accumulator.hpp"
#include "lib/core/reduce/index_tree.hpp"
#include "lib/core/reduce/kernels.hpp"
#include "lib/core/reduce/user_function.hpp"
#include "tutti/allgather.hpp"
#include "tutti/allreduce.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

/// So many products are computed at once.
constexpr std::int64_t piece = 1024;

/// A user's function that fails makes the communicator unusable for all ranks, as in every reduction.
IndexTree::Combine combine_of(const CallSite& site, Type type, const Op& op, const Communicator& comm) {
  if (op.kind() == Op::Kind::user)
    return [=, &comm](const void* lhs, const void* rhs, void* into, std::size_t count) {
      try {
        const UserFunctionRun running;
        op.function()(lhs, rhs, into, Count{count}, op.context());
        UserFunctionRun::require_kept_out();
      } catch (const std::exception& error) {
        const std::string why = fmt::format("{} on rank {}: {}", site.function, site.rank.value(), error.what());
        const Progress::Entry entry{comm.state().progress()};
        comm.state().fail(records::FailureKind::error, why);
        throw Error("tutti: " + why);
      }
    };
  return reduce_kernel(op.kind(), type);
}

template <class T>
void add_pairs(const void* data, void* into, std::size_t count) {
  const auto* const from = static_cast<const T*>(data);
  auto* const sums = static_cast<T*>(into);
  for (std::size_t i = 0; i < count; ++i)
    sums[i] = from[2 * i] + from[2 * i + 1];
}

/// The usual ones at once; others by the kernels of reductions.
IndexTree::CombinePairs pairs_of(Type type, const Op& op) {
  if (op.kind() != Op::Kind::sum) return {};
  if (type == Type::fp32) return add_pairs<float>;
  return type == Type::fp64 ? IndexTree::CombinePairs{add_pairs<double>} : IndexTree::CombinePairs{};
}

template <class T>
void append_products(IndexTree& tree, const T* x, const T* y, std::int64_t begin, std::int64_t end, int exponent) {
  std::array<T, piece> products;
  const auto scaled = [exponent](T each) { return exponent == 0 ? each : std::scalbn(each, -exponent); };
  while (begin < end) {
    const std::int64_t count = std::min(piece - begin % piece, end - begin);
    for (std::int64_t i = 0; i < count; ++i)
      products[static_cast<std::size_t>(i)] = scaled(x[i]) * scaled(y[i]);
    tree.append(products.data(), begin, count);
    begin += count, x += count, y += count;
  }
}

void append_block(const CallSite& site, IndexTree& tree, const Source& source, Type type, std::int64_t begin) {
  for_each_part(site, source, type, [&](const void* x, const void* y, std::int64_t done, std::int64_t count) {
    const std::int64_t first = begin + done, end = first + count;
    if (y == nullptr) return tree.append(x, first, count);
    if (type == Type::fp32)
      append_products(tree, static_cast<const float*>(x), static_cast<const float*>(y), first, end, source.exponent);
    else
      append_products(tree, static_cast<const double*>(x), static_cast<const double*>(y), first, end, source.exponent);
  });
}

/// The values of all ranks' ranges, rank by rank.
std::vector<std::byte> told_to_all(const IndexTree& own, std::size_t element, const std::vector<Cut>& cuts,
                                   const Communicator& comm) {
  std::vector<Count> bytes;
  for (const Cut& cut : cuts)
    bytes.emplace_back(ranges_of(cut.begin, cut.end).size() * element);
  std::vector<std::byte> all(static_cast<std::size_t>(std::accumulate(bytes.begin(), bytes.end(), Count{0}).value()));
  allgatherv(own.values().data(), all.data(), CountsAndOffsets{bytes}, Type::uint8, comm);
  return all;
}

Source checked_source(const CallSite& site, const ArrayBlock& block, Type type, const Op& op) {
  require_type(site, "type", type);
  require_operation(site, op, type, Collective::allreduce);
  if (op.kind() == Op::Kind::avg || op.kind() == Op::Kind::scaled_sum)
    refuse(site, "op", to_string(op.kind()), "an operation that does the same at every step");
  require_count(site, block.count, type);
  const auto device_of = [&](std::string_view name, const void* data) {
    return require_buffer(site, name, data, {Count{0}, block.count}, type).device;
  };
  return {block, device_of("x", block.x), block.y == nullptr ? -1 : device_of("y", block.y)};
}

/// Complex numbers have two sums.
void write_exact_sum(const CallSite& site, const Source& source, Type type, void* result, const Communicator& comm) {
  const std::size_t parts = is_complex(type) ? 2 : 1;
  const Type part = type == Type::complex_fp32 ? Type::fp32 : type == Type::complex_fp64 ? Type::fp64 : type;
  const auto part_bytes = static_cast<std::size_t>(size_of(part).value());
  std::vector<ExactAccumulator> sums(parts);
  for_each_part(site, source, type, [&](const void* x, const void* /*y*/, std::int64_t /*done*/, std::int64_t count) {
    for (std::size_t p = 0; p < parts; ++p)
      sums[p].add(static_cast<const std::byte*>(x) + p * part_bytes, part, static_cast<std::size_t>(count), parts);
  });
  constexpr std::size_t its_words = ExactAccumulator::word_count;
  std::vector<std::int64_t> words;
  for (ExactAccumulator& sum : sums)
    words.insert(words.end(), sum.words().begin(), sum.words().end());
  allreduce(std::span{words}, Op::sum, comm);
  for (std::size_t p = 0; p < parts; ++p)
    ExactAccumulator::round(std::span{words}.subspan(p * its_words).first<its_words>(), part,
                            static_cast<std::byte*>(result) + p * part_bytes);
}

/// Which NaN an addition of two gives depends on the processor's order of operands.
template <class T>
void make_nan_the_same(void* result) {
  T value{};
  std::memcpy(&value, result, sizeof value);
  if (std::isnan(value)) value = std::numeric_limits<T>::quiet_NaN();
  std::memcpy(result, &value, sizeof value);
}

bool reduce_source(const CallSite& site, const Source& source, Type type, const Op& op, void* result,
                   const Communicator& comm) {
  const std::vector<Cut> cuts = cuts_of(site, source.block, type, op, comm);
  const std::vector<std::size_t> order = in_order(site, cuts);
  if (op.kind() == Op::Kind::exact_sum) {
    if (!order.empty()) write_exact_sum(site, source, type, result, comm);
    return !order.empty();
  }
  if (order.empty() && op.kind() != Op::Kind::sum) refuse(site, "x", "no element on any rank", "one element or more");
  if (order.empty()) return false;
  const auto element = static_cast<std::size_t>(size_of(type).value());
  const IndexTree::Combine combine = combine_of(site, type, op, comm);
  IndexTree own{element, combine, pairs_of(type, op)}, whole{element, combine};
  append_block(site, own, source, type, cuts[static_cast<std::size_t>(comm.rank().value())].begin);
  const std::vector<std::byte> values = told_to_all(own, element, cuts, comm);
  std::vector<std::size_t> first(cuts.size() + 1);
  for (std::size_t rank = 0; rank < cuts.size(); ++rank)
    first[rank + 1] = first[rank] + ranges_of(cuts[rank].begin, cuts[rank].end).size();
  for (const std::size_t rank : order) {
    const std::byte* value = values.data() + first[rank] * element;
    for (const IndexRange& range : ranges_of(cuts[rank].begin, cuts[rank].end)) {
      whole.append(range, value);
      value += element;
    }
  }
  whole.write_result(result);
  if (type == Type::fp32) make_nan_the_same<float>(result);
  if (type == Type::fp64) make_nan_the_same<double>(result);
  return true;
}

}  // namespace

bool reduce_array(std::string_view function, const ArrayBlock& block, Type type, const Op& op, void* result,
                  const Communicator& comm) {
  const CallSite site{function, comm.rank()};
  return reduce_source(site, checked_source(site, block, type, op), type, op, result, comm);
}

namespace {

/// The largest magnitude of all elements; NaN if there is one.
template <class T>
T most_of(const CallSite& site, const Source& source, Type type, const Communicator& comm) {
  T most = 0;
  for_each_part(site, source, type,
                [&](const void* data, const void* /*y*/, std::int64_t /*done*/, std::int64_t count) {
                  for (const T each : std::span{static_cast<const T*>(data), static_cast<std::size_t>(count)})
                    most = std::isnan(each) || std::isnan(most) ? std::numeric_limits<T>::quiet_NaN()
                                                                : std::max(most, std::abs(each));
                });
  allreduce(most, Op::max, comm);
  return most;
}

template <class T>
double norm2_of(const ArrayBlock& block, Type type, const Communicator& comm) {
  const CallSite site{"norm2", comm.rank()};
  ArrayBlock squared = block;
  squared.y = block.x;
  Source source = checked_source(site, squared, type, Op::sum);
  T squares{};
  if (!reduce_source(site, source, type, Op::sum, &squares, comm)) return 0;
  constexpr T least = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();
  if (squares >= least && squares <= std::numeric_limits<T>::max()) return std::sqrt(squares);
  const T most = most_of<T>(site, source, type, comm);
  if (std::isnan(most)) return std::numeric_limits<T>::quiet_NaN();
  if (most == 0 || !std::isfinite(most)) return most;
  source.exponent = std::ilogb(most);
  reduce_source(site, source, type, Op::sum, &squares, comm);
  return std::scalbn(std::sqrt(squares), source.exponent);
}

}  // namespace

double norm2(const ArrayBlock& block, Type type, const Communicator& comm) {
  return type == Type::fp32 ? norm2_of<float>(block, type, comm) : norm2_of<double>(block, type, comm);
}

}  // namespace tutti::detail
