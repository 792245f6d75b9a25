#pragma once
// The comparison of one rank's calls in two runs.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "lib/watch/bits/lookup.hpp"
#include "lib/watch/bits/text.hpp"

namespace tutti::bits {

/// Gives the data of a call, as they were hashed, in pieces of whole elements.
using TakeData = std::function<void(const std::byte* data, std::size_t bytes)>;
using Data = std::function<void(const TakeData& take)>;

enum class Difference : std::uint8_t {
  inputs,    ///< The program gave the call other data.
  results,   ///< The call was given the same data on this rank, and has another result.
  mismatch,  ///< It is another call.
  missing,   ///< The record has no such call.
};

/// The first call of a rank, on a communicator or at all, that differs.
struct Found {
  Difference what = Difference::inputs;
  bool results_too = false;  ///< What differs are inputs, and then results.
  CallRecord call{};         ///< Of the second run.
  CommunicatorRecord communicator{};
  std::string detail{};  ///< The mismatch, or the element and its values; empty: nobody stored the data.
  std::string algorithms{};
  // Of the element, if the data were stored.
  std::int64_t element = -1, differing = 0;
  std::string first_value{}, second_value{};
};

/// Counts of calls.
struct Counts {
  std::uint64_t calls = 0, differing = 0, unhashed = 0;
  std::uint64_t forgotten = 0;  ///< They are in the record, too far from where they were looked for.
  std::uint64_t beyond = 0;     ///< They may have been made after the record had ended early.
};

class Comparison {
 public:
  /// With the record in this file. Throws FileError.
  Comparison(const std::string& path, const Sides& sides) : recorded_(path), sides_(sides) {}

  /// A call of the second run has begun, or is over. The call of the first run is looked for. `data`: those that were
  /// hashed; empty: nobody has them. Whether it is the first that is found to differ. Throws FileError if the record
  /// is damaged.
  bool add(const CallRecord& call, const CommunicatorRecord& communicator, const Data& data);

  [[nodiscard]] const Counts& counts() const { return counts_; }
  /// The first call that differs, in the order of the rank's calls; nullptr: none does.
  [[nodiscard]] const Found* first() const { return first_ ? &*first_ : nullptr; }
  /// The first one on each communicator, that of its messages apart. Keys without a number.
  [[nodiscard]] const std::map<Key, Found>& first_on_each() const { return first_on_each_; }
  [[nodiscard]] const Reader& record() const { return recorded_.reader(); }
  /// Whether the record ends as its program did.
  [[nodiscard]] bool is_whole() const { return recorded_.is_whole(); }
  /// Calls of the record that nobody made. Reads the rest of it.
  [[nodiscard]] std::uint64_t left() {
    const std::uint64_t left = recorded_.left();
    return left - std::min(left, counts_.forgotten);  // these were made
  }
  /// "call 137 of communicator 0/4 (allreduce of 1000 fp64, sum): its input differs ..."
  [[nodiscard]] std::string in_words(const Found& found) const;

 private:
  [[nodiscard]] std::optional<Found> difference(const CallRecord& call, const Data& data, const StoredCall& recorded);
  void compare_elements(Found& found, const Data& data, const StoredCall& recorded) const;
  bool note(const Found& found);

  Lookup recorded_;
  Sides sides_;
  Counts counts_{};
  std::optional<Found> first_{};
  std::map<Key, Found> first_on_each_{};
  std::set<std::uint64_t> differ_at_begin_{};  ///< Calls that are not over, or have failed.
};

}  // namespace tutti::bits
