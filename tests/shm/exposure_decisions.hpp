#pragma once
// What an operation's ranks decide of its long messages, with steps of a plan that say what happens.

#include <chrono>
#include <utility>
#include <vector>

#include "lib/transport/shm/rendezvous/exposures.hpp"
#include "tests/shm/shm_two_ends.hpp"

namespace tutti::shm {

class Decisions : public TwoEnds {
 protected:
  Decisions() : TwoEnds(SingleCopyUse::measured) {
    for (int me = 0; me < ranks; ++me)
      for (int peer = 0; peer < ranks; ++peer)
        if (peer != me) static_cast<void>(links_[static_cast<std::size_t>(me)]->open(peer));
    for (int me = 0; me < ranks; ++me)
      for (int peer = 0; peer < ranks; ++peer)
        if (peer != me) links_[static_cast<std::size_t>(me)]->reserve_areas(peer);
  }
  static CompiledStep step(Verb verb, int peer) {
    return {.verb = verb, .path = Path::ring, .peer = peer, .bytes = 100'000};
  }
  static CompiledStep joined() {
    CompiledStep receive = step(Verb::recv_reduce, 1);
    receive.joint = 0;
    return receive;
  }
  static CompiledPlan plan(int me, std::vector<CompiledStep> steps, Collective collective = Collective::alltoall) {
    CompiledPlan plan;
    plan.problem.collective = collective;
    plan.problem.rank = Rank{me};
    plan.problem.size = ranks;
    plan.steps = std::move(steps);
    return plan;
  }
  Exposures exposures(int me, const CompiledPlan& plan) {
    return {*links_[static_cast<std::size_t>(me)], locals_, plan, SingleCopyUse::measured};
  }
  /// An operation whose messages, all sent in the same way, take so long each.
  static void run(Exposures& exposures, const CompiledPlan& plan, Exposures::Way way, std::chrono::nanoseconds took) {
    exposures.begin(Geometry::blocking_lane);
    for (const CompiledStep& each : plan.steps) {
      if (each.verb == Verb::send)
        exposures.sends(each, way);
      else
        exposures.arrives(each, way, took);
      exposures.works(each, took);
    }
    for (const CompiledStep& each : plan.steps)
      exposures.is_over(each);
  }
  std::vector<int> locals_{0, 1, 2};
};

}  // namespace tutti::shm
