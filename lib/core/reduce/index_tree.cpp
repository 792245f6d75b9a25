#include "lib/core/reduce/index_tree.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace tutti {
namespace {

/// So many elements are reduced at once, in memory that stays in the first cache.
constexpr int most_at_once = 10;  // the level

std::int64_t size_of(int level) { return std::int64_t{1} << level; }

/// The level of the largest range that begins at `begin` and ends before `end`.
int level_at(std::int64_t begin, std::int64_t end) {
  const int longest = std::bit_width(static_cast<std::uint64_t>(end - begin)) - 1;
  return begin == 0 ? longest : std::min(longest, std::countr_zero(static_cast<std::uint64_t>(begin)));
}

}  // namespace

std::vector<IndexRange> ranges_of(std::int64_t begin, std::int64_t end) {
  std::vector<IndexRange> ranges;
  while (begin < end) {
    const int level = level_at(begin, end);
    ranges.push_back({level, begin >> level});
    begin += size_of(level);
  }
  return ranges;
}

namespace {

template <std::size_t bytes>
void part_pairs_of(const std::byte* from, std::byte* lower, std::byte* upper, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) {
    std::memcpy(lower + i * bytes, from + 2 * i * bytes, bytes);
    std::memcpy(upper + i * bytes, from + (2 * i + 1) * bytes, bytes);
  }
}

/// The first elements of all pairs, and the second ones. An element has 1 to 16 bytes, a power of two.
void part_pairs(const std::byte* from, std::byte* lower, std::byte* upper, std::size_t count, std::size_t element) {
  switch (element) {
    case 1:
      return part_pairs_of<1>(from, lower, upper, count);
    case 2:
      return part_pairs_of<2>(from, lower, upper, count);
    case 4:
      return part_pairs_of<4>(from, lower, upper, count);
    case 8:
      return part_pairs_of<8>(from, lower, upper, count);
    default:
      return part_pairs_of<16>(from, lower, upper, count);
  }
}

}  // namespace

IndexTree::IndexTree(std::size_t element, Combine combine, CombinePairs pairs)
    : element_(element), combine_(std::move(combine)), pairs_(std::move(pairs)) {
  if (!pairs_)
    pairs_ = [this](const void* data, void* into, std::size_t count) {
      halves_.resize(2 * count * element_);
      std::byte* const lower = halves_.data();
      std::byte* const upper = lower + count * element_;
      const auto* const from = static_cast<const std::byte*>(data);
      part_pairs(from, lower, upper, count, element_);
      combine_(lower, upper, into, count);
    };
}

void IndexTree::halve(std::byte* data, int level) {
  for (std::int64_t count = size_of(level) / 2; count > 0; count /= 2)
    pairs_(data, data, static_cast<std::size_t>(count));
}

void IndexTree::append(const void* data, std::int64_t begin, std::int64_t count) {
  const auto* from = static_cast<const std::byte*>(data);
  const std::int64_t end = begin + count;
  room_.resize(element_ * static_cast<std::size_t>(size_of(most_at_once)));
  while (begin < end) {
    const int level = std::min(level_at(begin, end), most_at_once);
    const std::size_t bytes = element_ * static_cast<std::size_t>(size_of(level));
    if (level == 0) {
      append({0, begin}, from);
    } else {
      pairs_(from, room_.data(), static_cast<std::size_t>(size_of(level - 1)));
      halve(room_.data(), level - 1);
      append({level, begin >> level}, room_.data());
    }
    from += bytes;
    begin += size_of(level);
  }
}

void IndexTree::append(const IndexRange& range, const void* value) {
  ranges_.push_back(range);
  values_.resize(values_.size() + element_);
  std::memcpy(values_.data() + values_.size() - element_, value, element_);
  // The second half of a range has come: the two are one.
  while (ranges_.size() > 1) {
    IndexRange& last = ranges_[ranges_.size() - 1];
    IndexRange& before = ranges_[ranges_.size() - 2];
    if (last.level != before.level || last.index != before.index + 1 || before.index % 2 != 0) return;
    before = {before.level + 1, before.index / 2};
    ranges_.pop_back();
    std::byte* const lhs = values_.data() + values_.size() - 2 * element_;
    combine_(lhs, lhs + element_, lhs, 1);
    values_.resize(values_.size() - element_);
  }
}

void IndexTree::write_result(void* into) const {
  std::memcpy(into, values_.data() + values_.size() - element_, element_);
  for (std::size_t place = ranges_.size() - 1; place-- > 0;)
    combine_(values_.data() + place * element_, into, into, 1);
}

}  // namespace tutti
