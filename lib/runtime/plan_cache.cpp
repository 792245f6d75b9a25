#include "lib/runtime/plan_cache.hpp"

#include <algorithm>
#include <bit>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "lib/runtime/learned_sizes.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
bool operator==(const PlanKey& a, const PlanKey& b) {
  const Problem &p = a.problem, &q = b.problem;
  return a.choice == b.choice && p.collective == q.collective && p.count == q.count && p.aliasing == q.aliasing &&
         p.root == q.root && p.parameter == q.parameter && a.type == b.type && a.op == b.op && p.in == q.in &&
         p.out == q.out && a.places == b.places;
}

std::size_t HashPlanKey::operator()(const PlanKey& key) const noexcept {
  const Problem& problem = key.problem;
  std::size_t hash = std::hash<const void*>{}(key.choice.algorithm);
  const auto mix = [&hash](auto value) { hash = (hash ^ static_cast<std::size_t>(value)) * 0x9e3779b97f4a7c15U; };
  mix(problem.count.value());
  mix(static_cast<std::size_t>(key.type) << 8U | static_cast<std::size_t>(key.op.kind()));
  mix(problem.aliasing.offset() ? problem.aliasing.offset()->value() + 1 : 0);
  mix(std::bit_cast<std::uint64_t>(key.op.scale()));
  mix(key.places.input << 8 | key.places.output);
  mix(static_cast<std::int64_t>(problem.root.value()) << 32 | problem.parameter);
  for (const auto list : {problem.in.counts, problem.in.offsets, problem.out.counts, problem.out.offsets})
    for (const Count count : list)
      mix(count.value());
  return hash ^ (hash >> 32U);
}

CachedPlan::CachedPlan(const PlanKey& key, const Routing& routing, const shm::SharedMemory& memory,
                       const device::Transfers& devices)
    : key_(key), routing_(routing), memory_(memory), devices_(devices) {
  keep_lists();
  const Problem& problem = key_.problem;
  const Algorithm& algorithm = *key_.choice.algorithm;
  if (algorithm.exchange != nullptr && problem.uneven()) {
    exchanged_ = std::make_unique<Exchange>(algorithm.exchange(problem));
    known_ = known_sizes(problem);
    compiled = shm::compile(exchanged_->schedule, problem, Type::int64, Op::sum, routing, memory);
    compiled.choice = key_.choice;
  } else {
    compiled = compile(problem);
  }
  compiled.fingerprint = fingerprint_of(key_);
}

CachedPlan::CachedPlan(const PlanKey& key, shm::SharedPlan messages) : compiled(std::move(messages)), key_(key) {
  keep_lists();
}

shm::SharedPlan CachedPlan::compile(const Problem& problem) const {
  if (key_.places.has_device())
    return device::compile(key_.choice, problem, key_.type, key_.op, routing_, memory_, key_.places, devices_);
  return shm::compile(key_.choice, problem, key_.type, key_.op, routing_, memory_);
}

void CachedPlan::keep_lists() {
  Problem& problem = key_.problem;
  problem.in = {keep(problem.in.counts), keep(problem.in.offsets)};
  problem.out = {keep(problem.out.counts), keep(problem.out.offsets)};
}

std::span<const Count> CachedPlan::keep(std::span<const Count> list) {
  if (list.empty()) return {};
  return lists_.emplace_back(list.begin(), list.end());
}

shm::SharedPlan CachedPlan::compile_learned(std::span<const Count> learned) const {
  Problem problem = key_.problem;
  problem.learned = learned;
  require_expected_sizes(problem, key_.type);
  try {
    shm::SharedPlan plan = compile(problem);
    plan.fingerprint = compiled.fingerprint;
    return plan;
  } catch (const std::logic_error&) {  // a schedule that moves blocks of one size to places of another
    throw Error("the sizes of blocks that other ranks gave are not those that this rank was given for them");
  }
}

stream::Source CachedPlan::source() const {
  return {key_.choice, key_.problem, key_.type, key_.op, routing_, device::memory_for_devices(memory_)};
}

const stream::Pieces* CachedPlan::pieces(const stream::Room& room) {
  if (!pieces_) pieces_ = stream::pieces_of(source(), room);
  return *pieces_ ? &**pieces_ : nullptr;
}

Operation& CachedPlan::make_operation(CommunicatorState& communicator) {
  return *operations_.emplace_back(std::make_unique<Operation>(communicator, *this));
}

CachedPlan& PlanCache::insert(std::unique_ptr<CachedPlan> plan) {
  make_room();
  entries_.push_front(std::move(plan));
  by_key_.emplace(entries_.front()->key(), entries_.begin());
  return *entries_.front();
}

void PlanCache::make_room() {
  for (auto entry = entries_.end(); entries_.size() >= capacity_ && entry != entries_.begin();) {
    --entry;
    if ((*entry)->in_use > 0) continue;
    by_key_.erase((*entry)->key());
    entry = entries_.erase(entry);
  }
}

}  // namespace tutti::detail
