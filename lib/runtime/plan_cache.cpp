#include "lib/runtime/plan_cache.hpp"

#include <bit>
#include <iterator>
#include <utility>

namespace tutti::detail {

std::size_t HashPlanKey::operator()(const PlanKey& key) const noexcept {
  std::size_t hash = std::hash<const void*>{}(key.algorithm);
  const auto mix = [&hash](std::size_t value) { hash = (hash ^ value) * 0x9e3779b97f4a7c15U; };
  mix(static_cast<std::size_t>(key.count.value()));
  mix(static_cast<std::size_t>(key.type) << 8U | static_cast<std::size_t>(key.op.kind()));
  mix(key.aliasing.offset() ? static_cast<std::size_t>(key.aliasing.offset()->value()) + 1 : 0);
  mix(std::bit_cast<std::uint64_t>(key.op.scale()));
  return hash ^ (hash >> 32U);
}

Operation& CachedPlan::acquire(CommunicatorState& communicator) {
  if (unused == nullptr) {
    operations.push_back(std::make_unique<Operation>(communicator, *this));
    unused = operations.back().get();
  }
  Operation& operation = *unused;
  unused = std::exchange(operation.next_unused, nullptr);
  ++in_use;
  return operation;
}

void CachedPlan::release(Operation& operation) noexcept {
  operation.next_unused = unused;
  unused = &operation;
  --in_use;
}

CachedPlan& PlanCache::insert(const PlanKey& key, CompiledPlan compiled) {
  make_room();
  entries_.push_front({key, std::make_unique<CachedPlan>()});
  entries_.front().plan->compiled = std::move(compiled);
  by_key_.emplace(key, entries_.begin());
  return *entries_.front().plan;
}

void PlanCache::make_room() {
  for (auto entry = entries_.end(); entries_.size() >= capacity_ && entry != entries_.begin();) {
    --entry;
    if (entry->plan->in_use > 0) continue;
    by_key_.erase(entry->key);
    entry = entries_.erase(entry);
  }
}

}  // namespace tutti::detail
