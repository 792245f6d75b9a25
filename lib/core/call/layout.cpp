#include "lib/core/call/layout.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include "tutti/algorithm.hpp"
#include "tutti/patterns.hpp"

namespace tutti {
namespace {

/// Not the same as the Shape of a buffer where blocks have offsets.
struct Extent : UsedElements {
  [[nodiscard]] bool empty() const { return first >= last; }
};

Extent extent(Buffer buffer, const BlockList& list, Count whole) {
  if (list.offsets.empty()) return {{Count{0}, whole}};
  Extent extent{{Count{std::numeric_limits<std::int64_t>::max()}, Count{0}}};
  const Blocks blocks{buffer, list};
  for (int i = 0; i < blocks.parts(); ++i) {
    const Region block = blocks[i];
    if (block.count == Count{0}) continue;
    extent.first = std::min(extent.first, block.offset);
    extent.last = std::max(extent.last, block.offset + block.count);
  }
  return extent;
}

/// A list of `entries` counts, none negative, with as many offsets or none, all addressable.
void require_list(const CallSite& site, std::string_view argument, const BlockList& list, int entries, Type type) {
  const auto wanted = static_cast<std::size_t>(entries);
  if (list.counts.size() != wanted)
    refuse(site, argument, fmt::format("a list of {} counts", list.counts.size()),
           fmt::format("one for each of {} ranks", entries));
  if (!list.offsets.empty() && list.offsets.size() != wanted)
    refuse(site, argument, fmt::format("a list of {} offsets", list.offsets.size()),
           fmt::format("none, or one for each of {} ranks", entries));
  const std::int64_t most = std::numeric_limits<std::int64_t>::max() / size_of(type).value();
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < wanted; ++i) {
    const std::int64_t count = list.counts[i].value(), offset = list.offsets.empty() ? 0 : list.offsets[i].value();
    if (count < 0 || count > most - sum || offset < 0 || offset > most - count)
      refuse(site, argument,
             list.offsets.empty() ? fmt::format("{} elements for rank {}", count, i)
                                  : fmt::format("{} elements at offset {} for rank {}", count, offset, i),
             fmt::format("0 to {} elements of {} in all", most, to_string(type)));
    sum += count;
  }
}

void require_root(const CallSite& site, Rank root, int size) {
  if (root.value() < 0 || root.value() >= size)
    refuse(site, "root", std::to_string(root.value()), fmt::format("a rank, 0 to {}", size - 1));
}

/// The lists of a problem, checked.
void list_blocks(const CallSite& site, detail::Call& call, Problem& problem) {
  const bool at_root = problem.rank == problem.root;
  const BlockList own{{&call.count, 1}, {}};
  if (call.collective == Collective::gather || call.collective == Collective::scatter) {
    require_count(site, call.count, call.type);
    BlockList& all = call.collective == Collective::gather ? problem.out : problem.in;
    (call.collective == Collective::gather ? problem.in : problem.out) = own;
    if (!at_root) return;
    all = call.collective == Collective::gather ? call.out_blocks : call.in_blocks;
    require_list(site, "blocks", all, problem.size, call.type);
    const Count listed = all.counts[static_cast<std::size_t>(problem.rank.value())];
    if (listed != call.count)
      refuse(site, "count", std::to_string(call.count.value()),
             fmt::format("what 'blocks' lists for this rank, {}", listed.value()));
    return;
  }
  problem.in = call.in_blocks;
  problem.out = call.out_blocks;
  if (call.collective == Collective::reduce_scatter) require_list(site, "counts", problem.in, problem.size, call.type);
  if (call.collective == Collective::allgather) require_list(site, "blocks", problem.out, problem.size, call.type);
  if (call.collective != Collective::alltoall) return;
  if (is_in_place(call.in)) problem.in = problem.out;
  require_list(site, "in_blocks", problem.in, problem.size, call.type);
  require_list(site, "out_blocks", problem.out, problem.size, call.type);
  const auto me = static_cast<std::size_t>(problem.rank.value());
  if (problem.in.counts[me] != problem.out.counts[me])
    refuse(site, "out_blocks", fmt::format("{} elements from this rank itself", problem.out.counts[me].value()),
           fmt::format("what 'in_blocks' lists for it, {}", problem.in.counts[me].value()));
}

std::byte* moved(const void* base, Count elements, Type type) {
  return static_cast<std::byte*>(const_cast<void*>(base)) + elements.value() * size_of(type).value();
}

/// Where in the output the input starts if the call is in place; nothing if this rank cannot call the collective in
/// place.
std::optional<Count> place_of_input(const Problem& problem) {
  const int own = problem.rank.value();
  const bool at_root = problem.rank == problem.root;
  switch (problem.collective) {
    case Collective::allgather:
      return output_blocks(problem)[own].offset;
    case Collective::gather:
      if (at_root) return output_blocks(problem)[own].offset;
      return std::nullopt;
    case Collective::scatter:
      if (at_root) return Count{0} - input_blocks(problem)[own].offset;
      return std::nullopt;
    case Collective::broadcast:
    case Collective::reduce:
      if (at_root) return Count{0};
      return std::nullopt;
    default:
      return Count{0};
  }
}

/// How a collective is called in place, for messages.
std::string_view in_place_calls(Collective collective) {
  switch (collective) {
    case Collective::broadcast:
      return "memory; in place, give one buffer";
    case Collective::scatter:
      return "memory; in place, give MPI_IN_PLACE as 'out' on the root, or this rank's block of 'in' as 'out'";
    case Collective::gather:
    case Collective::allgather:
      return "memory; in place, give MPI_IN_PLACE as 'in', or this rank's block of 'out' as 'in'";
    default:
      return "memory; in place, give MPI_IN_PLACE as 'in', or the same address as 'in' and 'out'";
  }
}

/// Replaces MPI_IN_PLACE by the address that it stands for.
void resolve_in_place(const CallSite& site, detail::Call& call, const Problem& problem) {
  const bool from_input = call.collective == Collective::scatter;
  if (is_in_place(from_input ? call.in : call.out)) {
    const bool has_one_buffer = call.collective == Collective::broadcast && is_in_place(call.in);
    refuse(site, has_one_buffer ? "data" : from_input ? "in" : "out", "MPI_IN_PLACE", in_place_calls(call.collective));
  }
  if (!is_in_place(from_input ? call.out : call.in)) return;
  const auto place = place_of_input(problem);
  if (!place) refuse(site, from_input ? "out" : "in", "MPI_IN_PLACE", "MPI_IN_PLACE on the root only");
  if (from_input)
    call.out = call.in == nullptr ? nullptr : moved(call.in, Count{0} - *place, call.type);
  else
    call.in = call.out == nullptr ? nullptr : moved(call.out, *place, call.type);
}

using Interval = std::pair<const std::byte*, const std::byte*>;

/// The memory of all blocks of a buffer, or of all of it if it has no offsets.
std::vector<Interval> intervals(Buffer buffer, const BlockList& list, const void* base, const Extent& extent,
                                Type type) {
  if (list.offsets.empty()) return {{moved(base, extent.first, type), moved(base, extent.last, type)}};
  std::vector<Interval> intervals;
  const Blocks blocks{buffer, list};
  for (int i = 0; i < blocks.parts(); ++i)
    if (const Region block = blocks[i]; block.count > Count{0})
      intervals.emplace_back(moved(base, block.offset, type), moved(base, block.offset + block.count, type));
  std::ranges::sort(intervals, std::less<>{}, &Interval::first);
  return intervals;
}

/// Whether any two of them share memory. `written` is sorted, and none of it overlaps the rest of it.
bool share_memory(const std::vector<Interval>& read, const std::vector<Interval>& written) {
  return std::ranges::any_of(read, [&](const Interval& interval) {
    const auto ends_after = std::ranges::upper_bound(written, interval.first, std::less<>{}, &Interval::second);
    return ends_after != written.end() && std::less<>{}(ends_after->first, interval.second);
  });
}

Aliasing aliasing_of(const CallSite& site, const detail::Call& call, const Problem& problem, Extent in, Extent out) {
  if (in.empty() || out.empty()) return Aliasing::separate();
  const std::less<> before;
  const std::byte *in_first = moved(call.in, in.first, call.type), *in_last = moved(call.in, in.last, call.type);
  const std::byte *out_first = moved(call.out, out.first, call.type), *out_last = moved(call.out, out.last, call.type);
  if (!before(in_first, out_last) || !before(out_first, in_last)) return Aliasing::separate();
  const bool has_offsets = !problem.in.offsets.empty() || !problem.out.offsets.empty();
  if (has_offsets && !share_memory(intervals(Buffer::input, problem.in, call.in, in, call.type),
                                   intervals(Buffer::output, problem.out, call.out, out, call.type)))
    return Aliasing::separate();  // blocks of the one lie in the gaps of the other
  const bool lists_agree = problem.collective != Collective::alltoall || problem.in == problem.out;
  if (!lists_agree)
    refuse(site, "out_blocks", "another list than 'in_blocks', in memory that they share",
           "the same list (in place), or blocks apart from each other");
  const std::ptrdiff_t distance = static_cast<const std::byte*>(call.in) - static_cast<const std::byte*>(call.out);
  const auto place = place_of_input(problem);
  const std::int64_t element = size_of(call.type).value();
  if (place && distance == place->value() * element) return Aliasing::inside_output(*place);
  const std::string allowed = place && *place == Count{0} ? "the same as 'in'"
                              : place ? fmt::format("{} bytes from 'in', in place", -place->value() * element)
                                      : "apart from 'in'";
  refuse(site, "out", fmt::format("{} bytes from 'in', overlapping it partly", -distance),
         fmt::format("{}, or memory that does not overlap it", allowed));
}

}  // namespace

Problem problem_of(const CallSite& site, detail::Call& call, int size, CallMemory& memory) {
  Problem problem{site.rank, size, call.count};
  problem.collective = call.collective;
  problem.root = call.root;
  require_type(site, "type", call.type);
  if (has_root(call.collective)) require_root(site, call.root, size);
  if (call.is_uneven) {
    list_blocks(site, call, problem);
    problem.count = Count{0};
  } else {
    require_count(site, call.count, call.type);
    const std::int64_t most = std::numeric_limits<std::int64_t>::max() / size_of(call.type).value() / size;
    if (call.count.value() > most)  // some buffers hold that for each rank
      refuse(site, "count", std::to_string(call.count.value()),
             fmt::format("0 to {} elements of {}", most, to_string(call.type)));
  }
  if (reduces(call.collective)) require_operation(site, call.op, call.type, call.collective);
  resolve_in_place(site, call, problem);
  const auto [input, output] = shape_of(problem);
  const Extent in = extent(Buffer::input, problem.in, input), out = extent(Buffer::output, problem.out, output);
  memory.in = require_buffer(site, "in", call.in, in, call.type);
  memory.out = require_buffer(site, "out", call.out, out, call.type);
  problem.aliasing = aliasing_of(site, call, problem, in, out);
  return problem;
}

void require_disjoint_blocks(const CallSite& site, const Problem& problem) {
  if (problem.out.offsets.empty()) return;
  const Blocks blocks{Buffer::output, problem.out};
  std::vector<int> order(static_cast<std::size_t>(blocks.parts()));
  std::iota(order.begin(), order.end(), 0);
  std::erase_if(order, [&](int block) { return blocks[block].count == Count{0}; });
  std::ranges::sort(order, {}, [&](int block) { return blocks[block].offset; });
  for (std::size_t i = 1; i < order.size(); ++i) {
    const Region first = blocks[order[i - 1]], second = blocks[order[i]];
    if (second.offset < first.offset + first.count)
      refuse(site, problem.collective == Collective::alltoall ? "out_blocks" : "blocks",
             fmt::format("blocks of ranks {} and {} that overlap at offset {}", order[i - 1], order[i],
                         second.offset.value()),
             "blocks apart from each other");
  }
}

}  // namespace tutti
