// The sizes of blocks that other ranks tell before their data: an input is a problem, then how each size is altered. A
// plan that is made of them may use no memory but its own.
#include <algorithm>

#include "lib/core/plan/shared_plan.hpp"
#include "lib/core/plan/shm_compile.hpp"
#include "lib/core/run/learned_sizes.hpp"
#include "lib/proof/checker/problems.hpp"
#include "tests/fuzz/target.hpp"
#include "tutti/error.hpp"

namespace tutti::fuzz {
namespace {

constexpr int ranks = 4;
const std::vector<int> nodes{0, 0, 1, 1};

struct Problems {
  Choice choice;
  checker::Problems by_rank;
};

/// Problems of all algorithms that exchange sizes.
std::vector<Problems> all_problems() {
  std::vector<Problems> all;
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->exchange == nullptr) continue;
    checker::Case what{.size = ranks, .parameter = algorithm->parameter.fallback};
    const int blocks = algorithm->collective == Collective::alltoall ? ranks * ranks : ranks;
    for (int i = 0; i < blocks; ++i)
      what.counts.emplace_back(i * 7 % 5);
    if (algorithm->levels != Levels::ranks) what.nodes = nodes;
    all.push_back({{algorithm, algorithm->parameter.fallback}, checker::Problems{*algorithm, what}});
  }
  return all;
}

Count altered(Count size, Source& source) {
  switch (source.below(8)) {
    case 0:
      return Count{source.next<std::int64_t>()};
    case 1:
      return Count{source.next<std::int8_t>()};
    default:
      return size;
  }
}

class Memory {
 public:
  Memory(const Problem& problem, const CompiledPlan& plan)
      : bytes_{shape_of(problem).input.value() * plan.element, shape_of(problem).output.value() * plan.element,
               plan.scratch_bytes} {}
  void require_part(Buffer buffer, std::int64_t at, std::int64_t bytes) const {
    const std::int64_t all = bytes_.at(static_cast<std::size_t>(buffer));
    require(at >= 0 && bytes >= 0 && bytes <= all && at <= all - bytes, "a step uses memory beyond its buffer");
  }

 private:
  std::array<std::int64_t, 3> bytes_;
};

void require_sound(const Problem& problem, const CompiledPlan& plan) {
  const Memory memory{problem, plan};
  for (const CompiledStep& step : plan.steps) {
    if (step.verb != Verb::recv) memory.require_part(step.lhs, step.lhs_at, step.bytes);
    if (step.verb != Verb::send) memory.require_part(step.into, step.into_at, step.bytes);
  }
}

void run(Input input) {
  static const std::vector<Problems> all = all_problems();
  static const std::vector<std::uint8_t> reaches(ranks, 1);
  Source source{input};
  const Problems& chosen = all[source.below(all.size())];
  Problem problem = chosen.by_rank.of(Rank{static_cast<int>(source.below(ranks))});
  std::vector<Count> learned;
  for (const Count size : problem.learned)
    learned.push_back(altered(size, source));
  problem.learned = learned;
  shm::SharedPlan plan;
  const auto compile = [&] {
    detail::require_expected_sizes(problem, Type::int32);
    plan = shm::compile(chosen.choice, problem, Type::int32, Op::sum, {.window = Routing::most_window},
                        {.reaches = reaches, .cell_bytes = 8, .piece_bytes = 64, .eager_messages = 3});
  };
  if (is_taken<std::exception>(compile)) require_sound(problem, plan);
}

const Registration registration{{"sizes", run}};

}  // namespace
}  // namespace tutti::fuzz
