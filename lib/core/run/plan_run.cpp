#include "lib/core/run/plan_run.hpp"

#include <utility>

namespace tutti::detail {

PlanRun::PlanRun(Workspace& workspace, const PreparedPlan& plan, trace::Subject* traced)
    : workspace_(workspace),
      plan_(plan),
      traced_(traced),
      first_(make_run(workspace.route(), plan.compiled(), traced)),
      current_(first_.get()) {
  if (plan.exchanges()) sizes_.resize(static_cast<std::size_t>(plan.exchange().output.value()));
}

/// Messages that could not be withdrawn may still be written to scratch.
PlanRun::~PlanRun() {
  if (!keeps_scratch_) return;
  static_cast<void>(first_.release());
  if (learned_ != nullptr) static_cast<void>(learned_->run.release());
}

void PlanRun::bind(const void* input, void* output) {
  if (plan_.exchanges()) return first_->bind(plan_.known().data(), sizes_.data());
  memory_.take(workspace_.staging_memory(), plan_.compiled(), *first_);
  first_->bind(input, output);
}

void PlanRun::learn(const void* input, void* output) {
  if (learned_ == nullptr || learned_->sizes != sizes_) {
    give_memory_back();
    auto learned = std::make_unique<Learned>(Learned{sizes_, plan_.compile_learned(sizes_), nullptr});
    learned->run = make_run(workspace_.route(), learned->plan, traced_);
    learned_ = std::move(learned);
  }
  current_ = learned_->run.get();
  memory_.take(workspace_.staging_memory(), learned_->plan, *current_);
  current_->bind(input, output);
}

void PlanRun::abandon(bool has_failed) noexcept {
  current_->abandon();
  keeps_scratch_ |= !current_->port().are_all_over();
  if (has_failed && (plan().uses(Transport::mpi) || plan().uses(Transport::network))) memory_.leave();
}

}  // namespace tutti::detail
