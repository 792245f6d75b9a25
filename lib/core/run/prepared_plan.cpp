#include "lib/core/run/prepared_plan.hpp"

#include <stdexcept>
#include <utility>

#include "lib/core/plan/shm_compile.hpp"
#include "lib/core/run/learned_sizes.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {

PreparedPlan::PreparedPlan(const PlanKey& key, const Routing& routing, const shm::SharedMemory& memory,
                           const device::Transfers& devices)
    : key_(key), signature_(signature_of(key)), routing_(routing), memory_(memory), devices_(devices) {
  keep_lists();
  const Problem& problem = key_.problem;
  const Algorithm& algorithm = *key_.choice.algorithm;
  if (algorithm.exchange != nullptr && problem.uneven()) {
    exchanged_ = std::make_unique<Exchange>(algorithm.exchange(problem));
    known_ = known_sizes(problem);
    compiled_ = shm::compile(exchanged_->schedule, problem, Type::int64, Op::sum, routing, memory);
    compiled_.choice = key_.choice;
  } else {
    compiled_ = compile(problem);
  }
  compiled_.fingerprint = signature_.fingerprint;
}

PreparedPlan::PreparedPlan(const PlanKey& key, shm::SharedPlan messages)
    : key_(key), signature_(signature_of(key)), compiled_(std::move(messages)) {
  keep_lists();
}

shm::SharedPlan PreparedPlan::compile(const Problem& problem) const {
  if (key_.places.has_device())
    return device::compile(key_.choice, problem, key_.type, key_.op, routing_, memory_, key_.places, devices_);
  return shm::compile(key_.choice, problem, key_.type, key_.op, routing_, memory_);
}

void PreparedPlan::keep_lists() {
  Problem& problem = key_.problem;
  problem.in = {keep(problem.in.counts), keep(problem.in.offsets)};
  problem.out = {keep(problem.out.counts), keep(problem.out.offsets)};
}

std::span<const Count> PreparedPlan::keep(std::span<const Count> list) {
  if (list.empty()) return {};
  return lists_.emplace_back(list.begin(), list.end());
}

shm::SharedPlan PreparedPlan::compile_learned(std::span<const Count> learned) const {
  Problem problem = key_.problem;
  problem.learned = learned;
  require_expected_sizes(problem, key_.type);
  try {
    shm::SharedPlan plan = compile(problem);
    plan.fingerprint = signature_.fingerprint;
    return plan;
  } catch (const std::logic_error&) {  // a schedule that moves blocks of one size to places of another
    throw Error("the sizes of blocks that other ranks gave are not those that this rank was given for them");
  }
}

stream::Source PreparedPlan::source() const {
  return {key_.choice, key_.problem, key_.type, key_.op, routing_, device::memory_for_devices(memory_)};
}

const stream::Pieces* PreparedPlan::pieces(const stream::Room& room) {
  if (!pieces_) pieces_ = stream::pieces_of(source(), room);
  return *pieces_ ? &**pieces_ : nullptr;
}

}  // namespace tutti::detail
