#include "lib/core/call/segment_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "lib/core/plan/compile.hpp"
#include "lib/core/schedule/passes.hpp"
#include "tutti/algorithm.hpp"

namespace tutti {
namespace {

std::int64_t pieces(std::int64_t whole, std::int64_t piece) { return whole / piece + (whole % piece == 0 ? 0 : 1); }

/// The problem with blocks of one size, the average of the lists' blocks.
Problem evened(Problem problem) {
  if (!problem.uneven()) return problem;
  const auto mean = [](std::span<const Count> counts) {
    const Count sum = std::accumulate(counts.begin(), counts.end(), Count{0});
    return counts.empty() ? 0 : pieces(sum.value(), std::ssize(counts));
  };
  problem.count = Count{std::max(mean(problem.in.counts), mean(problem.out.counts))};
  problem.in = problem.out = {};
  problem.learned = {};
  return problem;
}

}  // namespace

std::int64_t segments_of(const Choice& choice, const Problem& problem, Type type) {
  if (choice.segment == 0 || is_known_in_part(problem)) return 0;
  const std::int64_t segment = segment_of(choice, type).value();
  Problem even = evened(problem);
  const bool has_blocks = even.collective >= Collective::reduce_scatter && even.collective <= Collective::alltoall;
  const std::int64_t whole = (has_blocks ? even.size * even.count : even.count).value();
  if (whole <= segment) return 0;
  if (const std::int64_t least = pieces(whole, segment); least > most_segments) return least;
  if (choice.algorithm->segments == Segments::of_elements) {  // each has messages of its own
    const std::int64_t chunks = pieces(even.count.value(), segment);
    even.count = Count{segment};
    return chunks * std::max(1, cost_of(*choice.algorithm, even).messages);
  }
  const Cost cost = cost_of(*choice.algorithm, even);
  return pieces(std::max({whole, cost.sent.value(), cost.reduced.value()}), segment);
}

void require_few_segments(const CallSite& site, const Choice& choice, const Problem& problem, Type type,
                          std::string_view why) {
  const std::int64_t segments = segments_of(choice, problem, type);
  if (segments <= most_segments) return;
  const std::int64_t bytes = segment_of(choice, type).value() * size_of(type).value();
  refuse(site, "algorithm",
         fmt::format("'{}' ({}), by which a rank has {} segments of {} bytes in this call", to_text(choice), why,
                     segments, bytes),
         fmt::format("up to {} segments, so here {} bytes or more for each", most_segments,
                     pieces(segments, most_segments) * bytes));
}

}  // namespace tutti
