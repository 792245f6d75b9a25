#pragma once
// The plans of a communicator, and the calls that found them last.

#include <cstddef>
#include <memory>

#include "lib/core/communicator/paths.hpp"
#include "lib/core/run/plan_cache.hpp"
#include "lib/core/run/recent_calls.hpp"
#include "lib/device/call/device_notice.hpp"

namespace tutti::detail {

class Plans {
 public:
  /// The paths have to outlive it.
  Plans(const Settings& settings, const Paths& paths)
      : paths_(&paths), cache_(static_cast<std::size_t>(settings.plan_cache)), notice_(settings) {}

  /// The plan for this key; compiled if need be, after `validate()`.
  template <class Validate>
  CachedPlan& plan(const PlanKey& key, const Validate& validate) {
    return cache_.find_or(key, [&] {
      validate();
      forget_recent();
      auto plan = std::make_unique<CachedPlan>(key, paths_->routing(), paths_->shared_memory(), paths_->devices());
      notice_.tell(*plan);
      return plan;
    });
  }
  /// The plan of messages that are part of no collective; `compiled()` gives it if it is not there.
  template <class Compile>
  CachedPlan& plan_of_messages(const PlanKey& key, const Compile& compiled) {
    return cache_.find_or(key, [&] {
      forget_recent();
      auto plan = std::make_unique<CachedPlan>(key, compiled());
      notice_.tell(*plan);
      return plan;
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
  DeviceNotice notice_;
  RecentCalls<RecentCall> recent_calls_{};
  RecentCalls<RecentMessages> recent_messages_{};
};

}  // namespace tutti::detail
