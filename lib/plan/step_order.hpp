#pragma once
// In which order a plan has its steps.

#include <vector>

#include "lib/plan/pair_order.hpp"

namespace tutti {

/// Whether everything that step i waits for has completed whenever step i + 1 may start, for all i.
[[nodiscard]] bool starts_in_order(const Dependencies& after);

/// Puts sends before other steps that they need not wait for, so that a rank that does one step after the other keeps
/// nobody waiting for them. Sends keep their order, and so do the others. Steps must wait for none after them.
void put_sends_first(std::vector<CompiledStep>& steps, Dependencies& after);

/// Puts receives that wait for nothing before copies that they follow: a message can be on its way while this rank
/// copies.
void put_receives_before_copies(std::vector<CompiledStep>& steps, Dependencies& after);

}  // namespace tutti
