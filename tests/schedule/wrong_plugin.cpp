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

constexpr Algorithm algorithm(std::string_view name, Schedule (*make)(const Problem&)) {
  return {.collective = Collective::allreduce, .name = name, .order = Order::any, .build = make, .cost = nullptr};
}

constexpr Algorithm sumless = algorithm("sumless", build), taken = algorithm("ring", build),
                    empty = algorithm("empty", nullptr), odd = algorithm("a:b", build);

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
