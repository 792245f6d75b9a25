#pragma once
// Counts and offsets of blocks, as the calls whose names end in v take them.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/communicator.hpp"
#include "tutti/export.hpp"
#include "tutti/ranges.hpp"
#include "tutti/schedule.hpp"

namespace tutti {

/// A list of counts, made from any range of integers: std::vector<int>, std::array<std::size_t, N>, a view. A
/// contiguous range of Count is not copied and has to stay until the call returns, not longer, even if the call is
/// nonblocking. The numbers of other ranges are copied, which allocates. Calls convert their arguments to lists; a
/// program does not need this name.
class CountList {
 public:
  CountList() = default;
  template <class R>
  requires CountRange<const R&>
  explicit(false) CountList(const R& range) {
    using Value = std::ranges::range_value_t<const R&>;
    if constexpr (std::same_as<Value, Count> && std::ranges::contiguous_range<const R&> &&
                  std::ranges::sized_range<const R&>) {
      given_ = {std::ranges::data(range), static_cast<std::size_t>(std::ranges::size(range))};
    } else {
      for (auto&& value : range)
        add(static_cast<Value>(value));
    }
  }

  /// The counts. Throws ArgumentError, which names function, argument, position and value, if a number is too large for
  /// a Count. Other limits on the numbers are checked with all arguments of the call.
  [[nodiscard]] std::span<const Count> checked(std::string_view function, std::string_view argument,
                                               const Communicator& comm) const {
    if (too_large_) refuse(function, argument, comm);
    return copied_.empty() ? given_ : std::span<const Count>{copied_};
  }

 private:
  struct TooLarge {
    std::size_t position;
    std::uint64_t value;
  };
  void add(Count count) { copied_.push_back(count); }
  template <std::integral T>
  void add(T value) {
    if constexpr (std::unsigned_integral<T>)
      if (std::uint64_t{value} > std::uint64_t{INT64_MAX} && !too_large_) too_large_ = TooLarge{copied_.size(), value};
    copied_.emplace_back(value);
  }
  [[noreturn]] TUTTI_API void refuse(std::string_view function, std::string_view argument,
                                     const Communicator& comm) const;

  std::span<const Count> given_;
  std::vector<Count> copied_;
  std::optional<TooLarge> too_large_;
};

/// Blocks of differing sizes: counts, or {counts, offsets}; {counts, {}} means blocks that lie one after the other. A
/// BlockList converts to it, too.
class CountsAndOffsets {
 public:
  CountsAndOffsets() = default;  ///< None, as on ranks that are not the root.
  template <class R>
  requires CountRange<const R&>
  explicit(false) CountsAndOffsets(const R& counts) : counts_(counts) {}
  CountsAndOffsets(CountList counts, CountList offsets) : counts_(std::move(counts)), offsets_(std::move(offsets)) {}
  explicit(false) CountsAndOffsets(const BlockList& blocks) : counts_(blocks.counts), offsets_(blocks.offsets) {}

  /// Checks both lists as CountList::checked().
  [[nodiscard]] BlockList checked(std::string_view function, std::string_view argument,
                                  const Communicator& comm) const {
    return {counts_.checked(function, argument, comm), offsets_.checked(function, argument, comm)};
  }
  /// The list for calls in which only the root's lists count: empty on the other ranks.
  [[nodiscard]] BlockList checked_at(Rank root, std::string_view function, const Communicator& comm) const {
    return comm.rank() == root ? checked(function, "blocks", comm) : BlockList{};
  }

 private:
  CountList counts_, offsets_;
};

}  // namespace tutti
