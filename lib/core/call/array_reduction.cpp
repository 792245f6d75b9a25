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

#include "lib/core/call/arguments.hpp"
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

struct Cut {
  std::int64_t begin = 0, end = 0;
};

/// The block of each rank. ArgumentError, on all ranks, unless they make up an array.
std::vector<Cut> cuts_of(const CallSite& site, const ArrayBlock& block, const Communicator& comm) {
  const std::array<std::int64_t, 3> own{block.count.value(), block.offset ? 1 : 0,
                                        block.offset ? block.offset->value() : 0};
  std::vector<std::int64_t> all(own.size() * static_cast<std::size_t>(comm.size()));
  allgather(std::span{own}, std::span{all}, comm);
  std::vector<Cut> cuts;
  std::int64_t next = 0;
  for (std::size_t rank = 0; rank < all.size() / own.size(); ++rank) {
    const std::span its = std::span{all}.subspan(rank * own.size(), own.size());
    const std::int64_t count = its[0], has_offset = its[1], offset = its[2];
    if (has_offset != all[1])
      refuse(site, "offset", fmt::format("{} on rank {}", has_offset != 0 ? std::to_string(offset) : "nothing", rank),
             "an offset on every rank, or on none");
    const std::int64_t begin = has_offset != 0 ? offset : next;
    if (begin < 0 || count > std::numeric_limits<std::int64_t>::max() - begin)
      refuse(site, "offset", fmt::format("{} on rank {}", begin, rank), "0 or more, so that the end can be counted");
    cuts.push_back({begin, begin + count});
    next = cuts.back().end;
  }
  return cuts;
}

/// Ranks that have elements, in the order of their blocks.
std::vector<std::size_t> in_order(const CallSite& site, const std::vector<Cut>& cuts) {
  std::vector<std::size_t> order;
  for (std::size_t rank = 0; rank < cuts.size(); ++rank)
    if (cuts[rank].begin < cuts[rank].end) order.push_back(rank);
  std::ranges::sort(order, {}, [&](std::size_t rank) { return cuts[rank].begin; });
  std::int64_t next = 0;
  for (const std::size_t rank : order) {
    if (cuts[rank].begin != next)
      refuse(site, "offset",
             fmt::format("{} on rank {}, where the elements before end at {}", cuts[rank].begin, rank, next),
             "blocks without gaps that do not overlap, from element 0 on");
    next = cuts[rank].end;
  }
  return order;
}

IndexTree::Combine combine_of(Type type, const Op& op) {
  if (op.kind() == Op::Kind::user)
    return [op](const void* lhs, const void* rhs, void* into, std::size_t count) {
      const UserFunctionRun running;
      op.function()(lhs, rhs, into, Count{count}, op.context());
      UserFunctionRun::require_kept_out();
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
void append_products(IndexTree& tree, const ArrayBlock& block, std::int64_t begin) {
  const auto *x = static_cast<const T*>(block.x), *y = static_cast<const T*>(block.y);
  std::array<T, piece> products;
  const std::int64_t end = begin + block.count.value();
  while (begin < end) {
    const std::int64_t count = std::min(piece - begin % piece, end - begin);
    for (std::int64_t i = 0; i < count; ++i)
      products[static_cast<std::size_t>(i)] = x[i] * y[i];
    tree.append(products.data(), begin, count);
    begin += count, x += count, y += count;
  }
}

void append_block(IndexTree& tree, const ArrayBlock& block, Type type, std::int64_t begin) {
  if (block.y == nullptr) return tree.append(block.x, begin, block.count.value());
  type == Type::fp32 ? append_products<float>(tree, block, begin) : append_products<double>(tree, block, begin);
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

void require_block(const CallSite& site, const ArrayBlock& block, Type type, const Op& op) {
  require_type(site, "type", type);
  require_operation(site, op, type, Collective::scan);  // which has no avg either
  if (op.kind() == Op::Kind::scaled_sum)
    refuse(site, "op", "scaled_sum", "an operation that does the same at every step");
  require_count(site, block.count, type);
  const auto require_host = [&](std::string_view name, const void* data) {
    if (require_buffer(site, name, data, {Count{0}, block.count}, type).device >= 0)
      refuse(site, name, "memory of a device", "memory of the host");
  };
  require_host("x", block.x);
  if (block.y != nullptr) require_host("y", block.y);
}

}  // namespace

bool reduce_array(std::string_view function, const ArrayBlock& block, Type type, const Op& op, void* result,
                  const Communicator& comm) {
  const CallSite site{function, comm.rank()};
  require_block(site, block, type, op);
  const std::vector<Cut> cuts = cuts_of(site, block, comm);
  const std::vector<std::size_t> order = in_order(site, cuts);
  if (order.empty() && op.kind() != Op::Kind::sum) refuse(site, "x", "no element on any rank", "one element or more");
  if (order.empty()) return false;
  const auto element = static_cast<std::size_t>(size_of(type).value());
  const IndexTree::Combine combine = combine_of(type, op);
  IndexTree own{element, combine, pairs_of(type, op)}, whole{element, combine};
  append_block(own, block, type, cuts[static_cast<std::size_t>(comm.rank().value())].begin);
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
  return true;
}

namespace {

template <class T>
double norm2_of(const ArrayBlock& block, Type type, const Communicator& comm) {
  T squares{};
  ArrayBlock squared = block;
  squared.y = block.x;
  if (!reduce_array("norm2", squared, type, Op::sum, &squares, comm)) return 0;
  constexpr T least = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();
  if (squares >= least && squares <= std::numeric_limits<T>::max()) return std::sqrt(squares);
  const std::span<const T> x{static_cast<const T*>(block.x), static_cast<std::size_t>(block.count.value())};
  T most = 0;
  for (const T each : x)
    most = std::isnan(each) ? each : std::max(most, std::abs(each));
  allreduce(most, Op::max, comm);
  if (most == 0 || !std::isfinite(most)) return most;
  const int exponent = std::ilogb(most);
  std::vector<T> scaled(x.size());
  std::ranges::transform(x, scaled.begin(), [&](T each) { return std::scalbn(each, -exponent); });
  squared.x = squared.y = scaled.data();
  reduce_array("norm2", squared, type, Op::sum, &squares, comm);
  return std::scalbn(std::sqrt(squares), exponent);
}

}  // namespace

double norm2(const ArrayBlock& block, Type type, const Communicator& comm) {
  return type == Type::fp32 ? norm2_of<float>(block, type, comm) : norm2_of<double>(block, type, comm);
}

}  // namespace tutti::detail
