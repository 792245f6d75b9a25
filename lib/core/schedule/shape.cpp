// The buffers of the collectives.
#include <algorithm>
#include <string>

#include "lib/core/schedule/regions.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/error.hpp"
#include "tutti/patterns.hpp"

namespace tutti {
namespace {

/// The elements from 0 to the end of the last block.
Count extent(const BlockList& list) {
  Count end, sum;
  for (std::size_t i = 0; i < list.counts.size(); ++i) {
    sum += list.counts[i];
    if (!list.offsets.empty() && list.counts[i] > Count{0}) end = std::max(end, list.offsets[i] + list.counts[i]);
  }
  return list.offsets.empty() ? sum : end;
}

}  // namespace

Shape shape_of(const Problem& problem) {
  const Count n = problem.count, none{0}, whole = problem.size * n;
  const bool at_root = problem.rank == problem.root, listed = problem.uneven();
  const auto own = static_cast<std::size_t>(problem.rank.value());
  switch (problem.collective) {
    case Collective::barrier:
      return {none, none};
    case Collective::broadcast:
      return {at_root ? n : none, n};
    case Collective::reduce:
      return {n, at_root ? n : none};
    case Collective::allreduce:
    case Collective::scan:
    case Collective::exscan:
      return {n, n};
    case Collective::reduce_scatter:
      return listed ? Shape{extent(problem.in), problem.in.counts[own]} : Shape{whole, n};
    case Collective::allgather:
      return listed ? Shape{problem.out.counts[own], extent(problem.out)} : Shape{n, whole};
    case Collective::gather:
      return listed ? Shape{extent(problem.in), extent(problem.out)} : Shape{n, at_root ? whole : none};
    case Collective::scatter:
      return listed ? Shape{extent(problem.in), extent(problem.out)} : Shape{at_root ? whole : none, n};
    case Collective::alltoall:
      return listed ? Shape{extent(problem.in), extent(problem.out)} : Shape{whole, whole};
  }
  throw ArgumentError("tutti::shape_of: " + std::to_string(static_cast<int>(problem.collective)) +
                      " is no Collective; allowed: a value of enum Collective");
}

Aliasing called_in_place(const Problem& problem) {
  const auto [input, output] = shape_of(problem);
  if (input == Count{0} || output == Count{0}) return Aliasing::separate();
  if (problem.collective == Collective::allgather || problem.collective == Collective::gather)
    return Aliasing::inside_output(output_blocks(problem)[problem.rank.value()].offset);
  if (problem.collective == Collective::scatter)
    return Aliasing::around_output(input_blocks(problem)[problem.rank.value()].offset);
  return Aliasing::in_place();
}

std::vector<Count> known_sizes(const Problem& problem) {
  std::vector<Count> sizes{problem.in.counts.begin(), problem.in.counts.end()};
  sizes.insert(sizes.end(), problem.out.counts.begin(), problem.out.counts.end());
  return sizes;
}

}  // namespace tutti
