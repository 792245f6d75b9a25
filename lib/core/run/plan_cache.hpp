#pragma once
// The plans of a communicator, the least recently used dropped first, and the calls that found them last.

#include <cstddef>
#include <list>
#include <memory>
#include <unordered_map>
#include <utility>

#include "lib/core/communicator/paths.hpp"
#include "lib/core/run/operation.hpp"
#include "lib/core/run/prepared_plan.hpp"
#include "lib/core/run/recent_calls.hpp"
#include "lib/device/call/device_notice.hpp"

namespace tutti::detail {

/// A plan and the operations that run it.
class CachedPlan : public PreparedPlan {
 public:
  using PreparedPlan::PreparedPlan;
  OperationPool operations{*this};
};

/// Bounded: a new plan drops the least recently used one that is not in use. If all are in use it grows instead.
/// A hit allocates nothing.
class PlanCache {
 public:
  explicit PlanCache(std::size_t capacity) : capacity_(capacity) {}
  /// The plan for the key; `make()` gives it, as a unique_ptr, if it is not there.
  template <class Make>
  CachedPlan& find_or(const PlanKey& key, Make make) {
    if (!entries_.empty() && entries_.front()->key() == key) return *entries_.front();
    if (const auto found = by_key_.find(key); found != by_key_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
      return *entries_.front();
    }
    return insert(make());
  }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  CachedPlan& insert(std::unique_ptr<CachedPlan> plan) {
    make_room();
    entries_.push_front(std::move(plan));
    by_key_.emplace(entries_.front()->key(), entries_.begin());
    return *entries_.front();
  }
  void make_room() {
    for (auto entry = entries_.end(); entries_.size() >= capacity_ && entry != entries_.begin();) {
      --entry;
      if ((*entry)->operations.in_use > 0) continue;
      by_key_.erase((*entry)->key());
      entry = entries_.erase(entry);
    }
  }

  using Entries = std::list<std::unique_ptr<CachedPlan>>;
  std::size_t capacity_;
  Entries entries_;  ///< Most recently used first.
  std::unordered_map<PlanKey, Entries::iterator, HashPlanKey> by_key_;
};

/// The plans of one communicator, and the calls that found them last.
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
