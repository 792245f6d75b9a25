#pragma once
// A binary tree over the indices of an array: how distributed arrays are reduced, so that no cut makes a difference.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tutti {

/// The elements index * 2^level up to (index + 1) * 2^level of an array.
struct IndexRange {
  int level = 0;
  std::int64_t index = 0;
  bool operator==(const IndexRange&) const = default;
};

/// The fewest such ranges that make up the elements from `begin` up to `end`, in order: at most two of each level.
[[nodiscard]] std::vector<IndexRange> ranges_of(std::int64_t begin, std::int64_t end);

/// The reduction of an array whose elements come in order, some at a time, in this process or in others. Its expression
/// follows from the number of elements alone: a range of 2^k elements combines its two halves; the ranges that make up
/// the array are combined from the last one on.
class IndexTree {
 public:
  /// into[i] = lhs[i] (+) rhs[i] for i < count; `into` may be `lhs` or `rhs`.
  using Combine = std::function<void(const void* lhs, const void* rhs, void* into, std::size_t count)>;
  /// into[i] = data[2 i] (+) data[2 i + 1] for i < count; `into` may be `data`.
  using CombinePairs = std::function<void(const void* data, void* into, std::size_t count)>;
  /// Elements have `element` bytes. Where `pairs` is empty, `combine` does its work.
  IndexTree(std::size_t element, Combine combine, CombinePairs pairs = {});
  IndexTree(const IndexTree&) = delete;
  IndexTree& operator=(const IndexTree&) = delete;

  /// The elements of the array from `begin` on are the next ones. O(count).
  void append(const void* data, std::int64_t begin, std::int64_t count);
  /// A range that another process has reduced is the next one.
  void append(const IndexRange& range, const void* value);
  /// The ranges that make up what came so far, each with its value, one after the other.
  [[nodiscard]] const std::vector<IndexRange>& ranges() const { return ranges_; }
  [[nodiscard]] std::span<const std::byte> values() const { return values_; }
  /// The reduction of all elements that came: at least one.
  void write_result(void* into) const;

 private:
  /// Reduces 2^level elements to one, in place.
  void halve(std::byte* data, int level);

  std::size_t element_;
  Combine combine_;
  CombinePairs pairs_;
  std::vector<IndexRange> ranges_;
  std::vector<std::byte> values_, room_, halves_;
};

}  // namespace tutti
