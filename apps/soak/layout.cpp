#include "apps/soak/layout.hpp"

#include <numeric>

#include "tutti/algorithm.hpp"

namespace tutti::soak {
namespace {

using bench::Source;
using Counts = std::vector<std::int64_t>;

Side side_by_side(Counts counts) {
  Side side{.counts = std::move(counts)};
  for (const std::int64_t count : side.counts) {
    side.offsets.push_back(side.extent);
    side.extent += count;
  }
  return side;
}

/// In any order, with up to five elements free before each.
Side scattered(Counts counts, Random& random) {
  Side side{.counts = std::move(counts), .lists_offsets = true};
  side.offsets.resize(side.counts.size());
  for (const int block : random.order(static_cast<int>(side.counts.size()))) {
    const auto index = static_cast<std::size_t>(block);
    side.offsets[index] = side.extent + random.between(0, 5);
    side.extent = side.offsets[index] + side.counts[index];
  }
  return side;
}

/// The blocks of all ranks, in the one buffer that has them.
Counts blocks_of_all(const Call& call) {
  return call.is_uneven ? call.counts : Counts(static_cast<std::size_t>(call.size), call.count);
}

/// The counts that a rank sends to each rank, or receives from each.
Counts row_of_alltoall(const Call& call, int rank, bool is_input) {
  if (!call.is_uneven) return blocks_of_all(call);
  Counts row;
  for (int peer = 0; peer < call.size; ++peer)
    row.push_back(call.counts[static_cast<std::size_t>(is_input ? rank * call.size + peer : peer * call.size + rank)]);
  return row;
}

Counts input_counts(const Call& call, int rank) {
  const bool at_root = rank == call.root;
  switch (call.collective) {
    case Collective::barrier:
      return {};
    case Collective::broadcast:
      return at_root ? Counts{call.count} : Counts{};
    case Collective::reduce_scatter:
      return blocks_of_all(call);
    case Collective::allgather:
    case Collective::gather:
      return {blocks_of_all(call)[static_cast<std::size_t>(rank)]};
    case Collective::scatter:
      return at_root ? blocks_of_all(call) : Counts{};
    case Collective::alltoall:
      return row_of_alltoall(call, rank, true);
    default:
      return {call.count};
  }
}

Counts output_counts(const Call& call, int rank) {
  const bool at_root = rank == call.root;
  switch (call.collective) {
    case Collective::barrier:
      return {};
    case Collective::reduce:
      return at_root ? Counts{call.count} : Counts{};
    case Collective::reduce_scatter:
    case Collective::scatter:
      return {blocks_of_all(call)[static_cast<std::size_t>(rank)]};
    case Collective::allgather:
      return blocks_of_all(call);
    case Collective::gather:
      return at_root ? blocks_of_all(call) : Counts{};
    case Collective::alltoall:
      return row_of_alltoall(call, rank, false);
    default:
      return {call.count};
  }
}

/// Where the input starts in the output, if the collective has a call in place for this rank.
std::optional<std::int64_t> place_of_input(const Call& call, const Layout& layout, int rank) {
  const auto own = static_cast<std::size_t>(rank);
  const bool is_off_root = has_root(call.collective) && rank != call.root;
  if (call.collective == Collective::barrier || is_off_root) return std::nullopt;
  if (call.collective == Collective::allgather || call.collective == Collective::gather) return layout.out.offsets[own];
  return call.collective == Collective::scatter ? -layout.in.offsets[own] : 0;
}

Layout layout_of_messages(const Call& call, int rank, Random& random) {
  Counts sent, received;
  for (const Message& message : call.messages) {
    if (message.from == rank) sent.push_back(message.count);
    if (message.to == rank) received.push_back(message.count);
  }
  return {.in = scattered(std::move(sent), random), .out = scattered(std::move(received), random)};
}

std::vector<Source> sources_of_reduction(const Call& call, int rank, const Layout& layout) {
  if (layout.out.counts.empty()) return {};
  Source from{0, call.size, 0};
  if (call.collective == Collective::scan) from.ranks = rank + 1;
  if (call.collective == Collective::exscan) from.ranks = rank;
  if (call.collective == Collective::reduce_scatter)
    from.first = std::accumulate(layout.in.counts.begin(), layout.in.counts.begin() + rank, std::int64_t{0});
  return from.ranks == 0 ? std::vector<Source>{} : std::vector{from};
}

/// The messages that `rank` receives.
std::vector<Source> sources_of_messages(const Call& call, int rank) {
  std::vector<Source> sources;
  std::vector<std::int64_t> sent(static_cast<std::size_t>(call.size));
  for (const Message& message : call.messages) {
    std::int64_t& before = sent[static_cast<std::size_t>(message.from)];
    if (message.to == rank) sources.push_back({message.from, 1, before});
    before += message.count;
  }
  return sources;
}

/// Where in the input of `sender` the block for `rank` begins.
std::int64_t start_of_block(const Call& call, int sender, int rank) {
  const std::vector<std::int64_t> counts = layout_of(call, sender).in.counts;
  return std::accumulate(counts.begin(), counts.begin() + rank, std::int64_t{0});
}

std::vector<Source> sources_of_moves(const Call& call, int rank, int blocks) {
  std::vector<Source> sources;
  for (int block = 0; block < blocks; ++block) {
    if (call.collective == Collective::broadcast)
      sources.push_back({call.root, 1, 0});
    else if (call.collective == Collective::scatter)
      sources.push_back({call.root, 1, start_of_block(call, call.root, rank)});
    else if (call.collective == Collective::alltoall)
      sources.push_back({block, 1, start_of_block(call, block, rank)});
    else
      sources.push_back({block, 1, 0});
  }
  return sources;
}

}  // namespace

std::int64_t Side::total() const { return std::accumulate(counts.begin(), counts.end(), std::int64_t{0}); }

Layout layout_of(const Call& call, int rank) {
  Random random{mixed({call.key, 0x1a, static_cast<std::uint64_t>(rank)})};
  if (call.kind != Kind::collective) return layout_of_messages(call, rank, random);
  const bool lists_input = call.collective == Collective::scatter || call.collective == Collective::alltoall;
  const bool lists_output = call.collective != Collective::scatter;
  const auto side = [&](Counts counts, bool is_listed) {
    return call.has_gaps && is_listed && counts.size() == static_cast<std::size_t>(call.size)
               ? scattered(std::move(counts), random)
               : side_by_side(std::move(counts));
  };
  Layout layout{.in = side(input_counts(call, rank), lists_input)};
  layout.out = side(output_counts(call, rank), lists_output);
  if (!is_in_place(call, rank)) return layout;
  if (call.collective == Collective::alltoall) layout.out = layout.in;
  layout.input_in_output = place_of_input(call, layout, rank);
  return layout;
}

std::vector<Source> sources_of(const Call& call, int rank) {
  if (call.kind != Kind::collective) return sources_of_messages(call, rank);
  const Layout layout = layout_of(call, rank);
  return reduces(call.collective) ? sources_of_reduction(call, rank, layout)
                                  : sources_of_moves(call, rank, static_cast<int>(layout.out.counts.size()));
}

bench::Operands operands_of(const Call& call, int repetition) {
  return {.type = call.type,
          .op = call.op,
          .combines = call.kind == Kind::collective && reduces(call.collective),
          .ranks = call.size,
          .by_mpi = call.by_mpi,
          .key = mixed({call.key, 0xda7a, static_cast<std::uint64_t>(repetition)})};
}

}  // namespace tutti::soak
