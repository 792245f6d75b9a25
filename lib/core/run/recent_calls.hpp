#pragma once
// Recent calls that were checked, with their results: calls that a program repeats are not checked again.

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "lib/core/memory/memory_kind.hpp"
#include "lib/watch/records/signature.hpp"
#include "tutti/call.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

class OperationPool;

/// The allocations at the beginning of the buffers of an earlier call: 0 for the host's memory. Their addresses may
/// lead to other memory meanwhile.
struct KnownAllocations {
  std::uint64_t in = 0, out = 0;

  /// `checked`: the allocations that the call was checked with; 0: the host's, or no element is used.
  static KnownAllocations of(const void* in_data, std::uint64_t in_checked, const void* out_data,
                             std::uint64_t out_checked) noexcept {
    if (!may_have_devices()) return {};
    const auto known = [](const void* data, std::uint64_t checked) {
      constexpr std::uint64_t none =
          std::numeric_limits<std::uint64_t>::max();  // no later call is known to have the same
      try {
        const std::uint64_t its = allocation_of(data).id;
        return checked == 0 || checked == its ? its : none;  // else the elements that are used begin in another one
      } catch (const Error&) {
        return none;
      }
    };
    return {known(in_data, in_checked), known(out_data, out_checked)};
  }
  [[nodiscard]] bool are_those_of(const void* in_data, const void* out_data) const {
    if (!may_have_devices()) return true;
    const auto is_that_of = [](const void* data, std::uint64_t id) {
      return is_on_stack_or_heap(data) ? id == 0 : allocation_of(data).id == id;
    };
    return is_that_of(in_data, in) && (in_data == out_data ? in == out : is_that_of(out_data, out));
  }
};

/// A collective that was called.
struct RecentCall {
  Call call{};
  std::string algorithm{};
  std::optional<Bits> bits{};
  std::optional<Type> accumulate{};
  Rounding rounding{};
  records::Manner manner{};
  OperationPool* plan = nullptr;  ///< The operations of its plan. Null: none, or the plan may be gone.
  const void* in = nullptr;       ///< The buffer that is read; not `call.in` where that is MPI_IN_PLACE.
  void* out = nullptr;
  std::string_view why{};
  KnownAllocations allocations{};
};

/// At most one message each way that is part of no collective, as the caller gave them.
struct RecentMessages {
  struct Message {
    const void* data = nullptr;
    Count count{};
    Type type{};
    Rank peer{};
    friend bool operator==(const Message&, const Message&) = default;
  };
  std::optional<Message> sent{}, received{};
  OperationPool* plan = nullptr;  ///< The operations of its plan, as in RecentCall.
  const void* in = nullptr;       ///< The input that the plan is bound to.
  void* out = nullptr;
  KnownAllocations allocations{};
};

/// The last few calls, at least the last four different ones, in sets by the arguments that tell a program's calls
/// apart. So calls in turn, say of two collectives, or on several buffers, are found, at the price of a few
/// comparisons.
template <class Recent>
class RecentCalls {
 public:
  RecentCalls() = default;
  RecentCalls(const RecentCalls&) = delete;  // it refers to itself
  RecentCalls& operator=(const RecentCalls&) = delete;
  ~RecentCalls() = default;

  struct Found {
    Recent& recent;  ///< If it is not the call: the place for it.
    bool is_it;
  };
  template <class Is>
  [[nodiscard]] Found find(std::initializer_list<std::uint64_t> distinguished, const Is& is) {
    if (latest_->plan != nullptr && is(*latest_)) {
      ++found_;
      return {*latest_, true};
    }
    std::uint64_t hash = 0;
    for (const std::uint64_t number : distinguished)
      hash = (hash ^ number) * 0x9e3779b97f4a7c15U;
    Set& set = sets_[hash >> (64U - bits)];
    for (Recent& recent : set.calls) {
      if (recent.plan == nullptr || !is(recent)) continue;
      ++found_;
      latest_ = &recent;
      return {recent, true};
    }
    return {set.calls[set.oldest++ % set.calls.size()], false};
  }
  /// How often a call was one of them.
  [[nodiscard]] std::uint64_t found() const { return found_; }
  /// Plans may be gone.
  void forget() {
    for (Set& set : sets_)
      for (Recent& recent : set.calls)
        recent.plan = nullptr;
  }

 private:
  static constexpr unsigned bits = 4;
  struct Set {
    std::array<Recent, 4> calls{};
    unsigned oldest = 0;
  };
  std::array<Set, std::size_t{1} << bits> sets_{};
  Recent* latest_ = sets_.front().calls.data();  ///< Found last; other calls may have taken its place.
  std::uint64_t found_ = 0;
};

[[nodiscard]] inline std::uint64_t address(const void* data) { return reinterpret_cast<std::uintptr_t>(data); }

}  // namespace tutti::detail
