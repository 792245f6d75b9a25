#pragma once
// Compiled plans of a communicator, the least recently used dropped first.

#include <cstddef>
#include <list>
#include <memory>
#include <unordered_map>
#include <utility>

#include "lib/core/run/operation.hpp"
#include "lib/core/run/prepared_plan.hpp"

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

}  // namespace tutti::detail
