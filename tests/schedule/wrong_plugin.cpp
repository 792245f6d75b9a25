// A library of algorithms with the fault that WRONG names.
#include "tutti/plugin.hpp"
#include "tutti/schedule_builder.hpp"

namespace {

using namespace tutti;

/// Every rank copies its own input: no sum.
Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  plan.copy(plan.input(), plan.output());
  return plan.build();
}

/// A rank puts the halves of its vector the other way round in messages if the call is in place: that is right where
/// all ranks do so, and wrong where some do.
Schedule build_placed(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Blocks in{plan.input(), 2}, out{plan.output(), 2};
  const bool is_turned = problem.aliasing.offset().has_value();
  const Regions mine = is_turned ? Regions{in[1], in[0]} : Regions{in[0], in[1]};
  if (problem.rank == Rank{0}) {
    std::vector<Region> of;
    for (int peer = 1; peer < problem.size; ++peer) {
      of.push_back(plan.scratch(problem.count));
      const Blocks theirs{of.back(), 2};
      plan.recv(is_turned ? Regions{theirs[1], theirs[0]} : Regions{theirs[0], theirs[1]}, Rank{peer});
    }
    plan.copy(plan.input(), plan.output());
    for (const Region& theirs : of)
      plan.reduce(plan.output(), theirs, plan.output());
    for (int peer = 1; peer < problem.size; ++peer)
      plan.send(plan.output(), Rank{peer});
  } else {
    plan.send(mine, Rank{0});
    plan.recv(plan.output(), Rank{0});
  }
  return plan.build();
}

constexpr Algorithm algorithm(std::string_view name, Schedule (*make)(const Problem&)) {
  return {.collective = Collective::allreduce, .name = name, .order = Order::any, .build = make, .cost = nullptr};
}

constexpr Algorithm sumless = algorithm("sumless", build), taken = algorithm("ring", build),
                    placed = algorithm("placed", build_placed), empty = algorithm("empty", nullptr),
                    odd = algorithm("a:b", build);

}  // namespace

#ifdef WRONG_VERSION
extern "C" __attribute__((visibility("default"))) const AlgorithmLibrary* tutti_algorithms();
const AlgorithmLibrary* tutti_algorithms() {
  static constexpr AlgorithmLibrary library{.version = "0.1.9", .algorithms = {}};
  return &library;
}
#elif defined(WRONG_LAYOUT)
extern "C" __attribute__((visibility("default"))) const AlgorithmLibrary* tutti_algorithms();
const AlgorithmLibrary* tutti_algorithms() {
  static constexpr AlgorithmLibrary library{.step_bytes = 8, .algorithms = {}};
  return &library;
}
#elif !defined(WRONG_NOTHING)
TUTTI_ALGORITHM_LIBRARY(&WRONG);
#endif
