#pragma once
// Compiled plans of a communicator, the least recently used dropped first.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "lib/runtime/operation.hpp"
#include "lib/transport/device/stage.hpp"
#include "lib/transport/shm/plan/shared_plan.hpp"
#include "lib/transport/stream/parts.hpp"

namespace tutti::detail {

/// The key of a cached plan: everything that its compilation depends on. It holds no pointers to data, so that any
/// buffers fit. The lists of the problem are views: of the caller's lists while the key is looked up, of the plan's own
/// copies once it is kept. The nodes and sockets of the problem follow from the choice: views of the communicator's
/// lists, or empty.
struct PlanKey {
  Choice choice{};
  Problem problem{};
  Type type = Type::int8;
  Op op = Op::sum;
  device::Places places{};
  friend bool operator==(const PlanKey& a, const PlanKey& b);
};

struct HashPlanKey {
  std::size_t operator()(const PlanKey& key) const noexcept;
};

/// A plan and the operations that run it; several at once if the program starts several.
class CachedPlan {
 public:
  /// Copies the lists of `key`. Compiles the schedule; if sizes have to be exchanged first, that of the exchange.
  CachedPlan(const PlanKey& key, const Routing& routing, const shm::SharedMemory& memory,
             const device::Transfers& devices);
  /// Messages between pairs of ranks that are part of no collective. The lists of `key` describe them.
  CachedPlan(const PlanKey& key, shm::SharedPlan messages);

  /// An operation that nobody uses; makes one if there is none.
  Operation& acquire(CommunicatorState& communicator) {
    Operation& operation = unused_ == nullptr ? make_operation(communicator) : *unused_;
    unused_ = std::exchange(operation.next_unused, nullptr);
    ++in_use;
    return operation;
  }
  void release(Operation& operation) noexcept {
    operation.unbind();
    operation.next_unused = unused_;
    unused_ = &operation;
    --in_use;
  }

  [[nodiscard]] const PlanKey& key() const { return key_; }
  /// Whether the compiled plan only exchanges sizes; the schedule proper is then compiled from the sizes that were
  /// learned.
  [[nodiscard]] bool exchanges() const { return exchanged_ != nullptr; }
  [[nodiscard]] const Exchange& exchange() const { return *exchanged_; }
  /// The sizes that this rank knows; the first Exchange::input of them are told.
  [[nodiscard]] std::span<const Count> known() const { return known_; }
  [[nodiscard]] shm::SharedPlan compile_learned(std::span<const Count> learned) const;

  /// The programs of the call in a stream; nullptr: the host has to move it. The room is always the same.
  [[nodiscard]] const stream::Pieces* pieces(const stream::Room& room);

  /// The same of a plan on buffers that peers reach; the aliasings are of all ranks.
  [[nodiscard]] std::optional<stream::Pieces> direct_pieces(std::span<const Aliasing> aliasings,
                                                            const stream::Room& room) const {
    return stream::direct_pieces_of(source(), aliasings, room);
  }

  shm::SharedPlan compiled;
  int in_use = 0;

 private:
  Operation& make_operation(CommunicatorState& communicator);
  void keep_lists();
  [[nodiscard]] shm::SharedPlan compile(const Problem& problem) const;
  [[nodiscard]] stream::Source source() const;
  std::span<const Count> keep(std::span<const Count> list);
  PlanKey key_;
  Routing routing_{};
  shm::SharedMemory memory_{};
  device::Transfers devices_{};
  std::vector<std::vector<Count>> lists_;
  std::optional<std::optional<stream::Pieces>> pieces_{};  ///< Once they were asked for.
  std::unique_ptr<Exchange> exchanged_;
  std::vector<Count> known_;
  std::vector<std::unique_ptr<Operation>> operations_;
  Operation* unused_ = nullptr;
};

/// An operation of a plan, bound to these buffers. Throws as BorrowedMemory::lend().
[[nodiscard]] inline Operation& bound(CachedPlan& plan, CommunicatorState& communicator, const void* input,
                                      void* output) {
  Operation& operation = plan.acquire(communicator);
  try {
    operation.bind(input, output);
  } catch (...) {
    plan.release(operation);
    throw;
  }
  return operation;
}

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
  using Entries = std::list<std::unique_ptr<CachedPlan>>;
  CachedPlan& insert(std::unique_ptr<CachedPlan> plan);
  void make_room();

  std::size_t capacity_;
  Entries entries_;  ///< Most recently used first.
  std::unordered_map<PlanKey, Entries::iterator, HashPlanKey> by_key_;
};

}  // namespace tutti::detail
