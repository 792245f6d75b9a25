// The functions of libtutti_proof.
#include "lib/core/files/prover.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <numeric>
#include <utility>

#include "lib/core/schedule/passes.hpp"
#include "lib/core/schedule/regions.hpp"
#include "lib/proof/checker/form.hpp"
#include "lib/proof/checker/prove.hpp"
#include "tutti/version.hpp"

namespace tutti {
namespace {

checker::Case case_of(const Problem& problem, InPlace in_place, const ProvedPasses& passes) {
  checker::Case what{.size = problem.size,
                     .count = problem.count,
                     .placement = static_cast<checker::Placement>(in_place),
                     .root = problem.root,
                     .parameter = problem.parameter};
  const auto& counts = problem.in.empty() ? problem.out.counts : problem.in.counts;
  what.counts.assign(counts.begin(), counts.end());
  what.nodes.assign(problem.nodes.begin(), problem.nodes.end());
  what.sockets.assign(problem.sockets.begin(), problem.sockets.end());
  what.segment = passes.segment;
  what.is_fused = passes.is_fused;
  return what;
}

/// The largest number of elements that all regions, blocks and buffers are multiples of.
std::int64_t grain_of(const checker::RankSchedules& schedules, const checker::Case& what) {
  std::int64_t grain = what.count.value();
  const auto add = [&grain](Count count) { grain = std::gcd(grain, count.value()); };
  std::ranges::for_each(what.counts, add);
  for (const checker::RankSchedule& own : schedules) {
    add(own.input), add(own.output), add(own.schedule.scratch);
    for (const auto& [action, after] : own.schedule.steps)
      for_each_region(action, [&](const Region& region) { add(region.offset), add(region.count); });
  }
  return std::max<std::int64_t>(grain, 1);
}

/// Each step on one element for each `grain` of them.
checker::RankSchedules coarsened(checker::RankSchedules schedules, std::int64_t grain) {
  const auto divide = [grain](Count& count) { count = Count{count.value() / grain}; };
  for (checker::RankSchedule& own : schedules) {
    divide(own.input), divide(own.output), divide(own.schedule.scratch);
    if (const auto offset = own.aliasing.offset())
      own.aliasing = Aliasing::inside_output(Count{offset->value() / grain});
    for (auto& [action, after] : own.schedule.steps)
      for_each_region(action, [&](Region& region) { divide(region.offset), divide(region.count); });
  }
  return schedules;
}

Proof proof_of(const Algorithm& algorithm, checker::Case what) {
  constexpr std::int64_t most_elements = 1 << 25, most_steps = 1 << 24;  // of all ranks
  const checker::Problems problems{algorithm, what};
  const std::size_t steps = built(algorithm, problems.of(Rank{what.size / 2}), what.segment).steps.size();
  if (static_cast<std::int64_t>(steps) * what.size > most_steps) return {.is_too_large = true};
  checker::RankSchedules schedules = checker::schedules_of(algorithm, problems, what);
  checker::require_form(schedules);
  const std::int64_t grain = grain_of(schedules, what);
  schedules = coarsened(std::move(schedules), grain);
  std::int64_t elements = 0;
  for (const checker::RankSchedule& own : schedules)
    for (const Count count : {own.input, own.output, own.schedule.scratch})
      elements += std::min(count.value(), most_elements + 1);
  if (elements > most_elements) return {.is_too_large = true};
  const std::string shown = to_text(what);
  what.count = Count{what.count.value() / grain};
  for (Count& count : what.counts)
    count = Count{count.value() / grain};
  const checker::Expectation expectation = checker::expectation_of(algorithm, checker::Problems{algorithm, what});
  checker::Verdict verdict = checker::prove(schedules, expectation);
  if (!verdict.proved() && grain > 1) verdict.fault += fmt::format(" (an element stands for {})", grain);
  Cost cost = busiest(verdict.costs);
  for (Count* const each : {&cost.sent, &cost.reduced, &cost.copied, &cost.scratch})
    *each = grain * *each;
  return {.problem = shown, .fault = std::move(verdict.fault), .cost = cost};
}

Proof prove(const Algorithm& algorithm, const Problem& problem, InPlace in_place, const ProvedPasses& passes) {
  const checker::Case what = case_of(problem, in_place, passes);
  try {
    return proof_of(algorithm, what);
  } catch (const checker::Fault& fault) {
    return {.problem = to_text(what), .fault = fault.text};
  } catch (const std::exception& error) {
    return {.problem = to_text(what), .fault = error.what()};
  } catch (...) {
    return {.problem = to_text(what), .fault = "its function 'build' threw something that is no std::exception"};
  }
}

constexpr Prover functions{TUTTI_VERSION, prove};

}  // namespace
}  // namespace tutti

extern "C" __attribute__((visibility("default"))) const tutti::Prover* tutti_prover();
const tutti::Prover* tutti_prover() { return &tutti::functions; }
