#pragma once
// The plans of a communicator, and the calls that found them last.

#include <cstddef>
#include <memory>

#include "lib/runtime/paths.hpp"
#include "lib/runtime/plan_cache.hpp"
#include "lib/runtime/recent_calls.hpp"

namespace tutti::detail {

class Plans {
 public:
  /// `capacity`: of the cache. The paths have to outlive it.
  Plans(std::size_t capacity, const Paths& paths) : paths_(&paths), cache_(capacity) {}

  /// The plan for this key; compiled if need be, after `validate()`.
  template <class Validate>
  CachedPlan& plan(const PlanKey& key, const Validate& validate) {
    return cache_.find_or(key, [&] {
      validate();
      forget_recent();
      return std::make_unique<CachedPlan>(key, paths_->routing(), paths_->shared_memory(), paths_->staging());
    });
  }
  /// The plan of messages that are part of no collective; `compiled()` gives it if it is not there.
  template <class Compile>
  CachedPlan& plan_of_messages(const PlanKey& key, const Compile& compiled) {
    return cache_.find_or(key, [&] {
      forget_recent();
      return std::make_unique<CachedPlan>(key, compiled());
    });
  }
  [[nodiscard]] RecentCalls<RecentCall>& recent_calls() { return recent_calls_; }
  [[nodiscard]] RecentCalls<RecentMessages>& recent_messages() { return recent_messages_; }
  [[nodiscard]] std::size_t size() const { return cache_.size(); }

 private:
  /// A new plan may take the place of theirs.
  void forget_recent() {
    recent_calls_.forget();
    recent_messages_.forget();
  }

  const Paths* paths_;
  PlanCache cache_;
  RecentCalls<RecentCall> recent_calls_{};
  RecentCalls<RecentMessages> recent_messages_{};
};

}  // namespace tutti::detail
