#include "lib/watch/bits/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace tutti::bits {

bool Comparison::add(const CallRecord& call, const CommunicatorRecord& communicator, const Data& data) {
  const bool begins = call.kind == RecordKind::begin;
  if (begins) ++counts_.calls;
  const std::optional<StoredCall> recorded = recorded_.find(key_of(call, communicator));
  if (!recorded && recorded_.has(key_of(call, communicator))) {
    counts_.forgotten += begins ? 1 : 0;
    return false;
  }
  if (!recorded && !recorded_.is_whole()) {
    counts_.beyond += begins ? 1 : 0;
    return false;
  }
  std::optional<Found> found;
  if (!recorded && begins)
    found = Found{.what = Difference::missing, .call = call};
  else if (recorded)
    found = difference(call, data, *recorded);
  const bool differed_before = !begins && differ_at_begin_.erase(call.call) > 0;
  if (!found) return false;
  found->communicator = communicator;
  if (begins) differ_at_begin_.insert(call.call);
  if (!differed_before) ++counts_.differing;
  return note(*found);
}

/// Nothing: they do not differ, or nobody can tell.
std::optional<Found> Comparison::difference(const CallRecord& call, const Data& data, const StoredCall& recorded) {
  const CallRecord& before = recorded.record;
  Found found{.call = call, .algorithms = algorithms_in_words(before, call, sides_)};
  found.detail = mismatch(before, call, sides_);
  if (!found.detail.empty()) {
    found.what = Difference::mismatch;
    return found;
  }
  if (call.hashed != before.hashed && (call.hashed == Hashed::failed || before.hashed == Hashed::failed)) {
    found.what = Difference::results;
    found.detail = fmt::format("the call failed {}", call.hashed == Hashed::failed ? sides_.second : sides_.first);
    return found;
  }
  if (call.hashed != Hashed::yes || before.hashed != Hashed::yes) {
    counts_.unhashed += call.kind == RecordKind::begin ? 1 : 0;
    return std::nullopt;
  }
  if (call.hash == before.hash) return std::nullopt;
  found.what = call.kind == RecordKind::begin ? Difference::inputs : Difference::results;
  if (data && before.stored > 0) compare_elements(found, data, recorded);
  return found;
}

void Comparison::compare_elements(Found& found, const Data& data, const StoredCall& recorded) const {
  constexpr std::size_t most = std::size_t{256} << 10U;  // whole elements of every type
  ElementComparison elements{static_cast<Type>(found.call.type)};
  std::vector<std::byte> before(most);
  std::int64_t at = 0;
  data([&](const std::byte* now, std::size_t bytes) {
    while (bytes > 0) {
      const std::size_t some = std::min(bytes, most);
      recorded_.reader().read_data(recorded, at, before.data(), some);
      elements.add(before.data(), now, some);
      at += static_cast<std::int64_t>(some);
      now += some;
      bytes -= some;
    }
  });
  if (elements.differing() == 0) return;  // the data of the record are damaged
  found.detail = elements.in_words(sides_);
  found.element = elements.element();
  found.differing = elements.differing();
  found.first_value = elements.first();
  found.second_value = elements.second();
}

/// Calls may end in another order than they began: what is found later may come first.
bool Comparison::note(const Found& found) {
  const auto keep_first = [&](auto& known) {
    if (found.call.call < known.call.call)
      known = found;
    else if (found.call.call == known.call.call && known.what != Difference::results)
      known.results_too = known.results_too || found.what == Difference::results;
  };
  Key key = key_of(found.call, found.communicator);
  key.number = 0;
  key.is_over = false;
  const auto [place, is_new] = first_on_each_.try_emplace(key, found);
  if (!is_new) keep_first(place->second);
  if (first_) {
    keep_first(*first_);
    return false;
  }
  first_ = found;
  return true;
}

std::string Comparison::in_words(const Found& found) const {
  std::string which =
      fmt::format("{} ({})", place_in_words(found.call, found.communicator), bits::in_words(found.call));
  const std::string details = found.detail.empty() ? "" : "; " + found.detail;
  const std::string by = found.algorithms.empty() ? "" : ", " + found.algorithms;
  switch (found.what) {
    case Difference::inputs:
      return fmt::format("{}: the input of this rank differs, so the program made the difference, not the call{}",
                         which, details);
    case Difference::results:
      return fmt::format("{}: the input of this rank is the same, its result differs{}{}", which, by, details);
    case Difference::mismatch:
      return fmt::format("{}: this is another call: {}", which, found.detail);
    case Difference::missing:
      return fmt::format("{}: there is no such call {}", which, sides_.first);
  }
  return which;
}

}  // namespace tutti::bits
