#include "lib/core/run/learned_sizes.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <span>

#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

/// Sizes of memory that there may be. Others are no sizes: sums of them might exceed the range of numbers.
void require_possible_sizes(std::span<const Count> sizes) {
  constexpr Count most{std::int64_t{1} << 48};  // more bytes than processes address
  Count sum;
  for (const Count size : sizes) {
    if (size < Count{0} || size > most || sum > most)
      throw Error(fmt::format("another rank gives a block of {} elements", size.value()));
    sum += size;
  }
}

}  // namespace

void require_expected_sizes(const Problem& problem, Type type) {
  require_possible_sizes(problem.learned);
  const auto bytes = [type](Count count) { return (count.value() * size_of(type)).value(); };
  if (problem.collective == Collective::scatter && problem.rank != problem.root && !problem.learned.empty() &&
      problem.learned[0] != problem.out.counts[0])
    throw Error(fmt::format("the root gives {} bytes, of which this rank expects {}", bytes(problem.learned[0]),
                            bytes(problem.out.counts[0])));
  if (problem.collective != Collective::gather || problem.rank != problem.root) return;
  for (std::size_t rank = 0; rank < problem.learned.size(); ++rank)
    if (problem.learned[rank] != problem.out.counts[rank])
      throw Error(fmt::format("rank {} gives {} bytes, of which the root expects {}", rank,
                              bytes(problem.learned[rank]), bytes(problem.out.counts[rank])));
}

}  // namespace tutti::detail
