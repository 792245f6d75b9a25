#pragma once
// How a rank on the fast path waits where ranks share processors: whether to look on, or to give the processor away.

#include "lib/core/transport/shm/port_context.hpp"

namespace tutti::shm {

class Turns {
 public:
  explicit Turns(const PortContext& context);

  /// Before the fast path waits for a step.
  void waits_for(const CompiledStep& step) { awaited_ = &step; }
  /// How often to look before this rank gives its processor away.
  [[nodiscard]] int looks_before_turn() const;

 private:
  [[nodiscard]] bool is_here(const CompiledStep& step) const;
  [[nodiscard]] bool waits_for_other_processors() const;

  const PortContext* context_;
  const CompiledStep* awaited_ = nullptr;
  /// The plan has one receive from each other rank of the node, and it is known where they run.
  bool hears_once_from_all_ = false;
  int looks_elsewhere_ = 0;  ///< Route's number if the plan has one receive; more if that is all it has; else 0.
};

}  // namespace tutti::shm
