#pragma once
// Compiled plans of a communicator, the least recently used dropped first.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

#include "lib/engine/compiled_plan.hpp"
#include "lib/runtime/operation.hpp"

namespace tutti::detail {

/// What a plan depends on beside rank and size. No pointers, so that any buffers fit.
struct PlanKey {
  const Algorithm* algorithm = nullptr;
  Count count;
  Aliasing aliasing;
  Type type = Type::int8;
  Op op = Op::sum;
  bool operator==(const PlanKey&) const = default;
};

struct HashPlanKey {
  std::size_t operator()(const PlanKey& key) const noexcept;
};

/// A plan and the operations that run it; several at once if the program starts several.
struct CachedPlan {
  CompiledPlan compiled;
  std::vector<std::unique_ptr<Operation>> operations;
  Operation* unused = nullptr;
  int in_use = 0;

  /// An operation that nobody uses; makes one if there is none.
  Operation& acquire(CommunicatorState& communicator);
  void release(Operation& operation) noexcept;
};

/// Bounded: a new plan drops the least recently used one that is not in use. If all are in use it grows instead.
/// A hit allocates nothing.
class PlanCache {
 public:
  explicit PlanCache(std::size_t capacity) : capacity_(capacity) {}
  /// The plan for the key; `compile()` makes it if it is not there.
  template <class Compile>
  CachedPlan& find_or(const PlanKey& key, Compile compile) {
    if (!entries_.empty() && entries_.front().key == key) return *entries_.front().plan;
    if (const auto found = by_key_.find(key); found != by_key_.end()) {
      entries_.splice(entries_.begin(), entries_, found->second);
      return *entries_.front().plan;
    }
    return insert(key, compile());
  }
  [[nodiscard]] std::size_t size() const { return entries_.size(); }

 private:
  struct Entry {
    PlanKey key;
    std::unique_ptr<CachedPlan> plan;
  };
  CachedPlan& insert(const PlanKey& key, CompiledPlan compiled);
  void make_room();

  std::size_t capacity_;
  std::list<Entry> entries_;  ///< Most recently used first.
  std::unordered_map<PlanKey, std::list<Entry>::iterator, HashPlanKey> by_key_;
};

}  // namespace tutti::detail
