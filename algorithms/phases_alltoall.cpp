// Blocks that travel by the digits of their distance.
#include "phases_alltoall.hpp"

#include "phases.hpp"

namespace tutti {
namespace {

std::size_t index(int place) { return static_cast<std::size_t>(place); }

/// Hop by hop, the place where a block is received: on its last hop the output, before that two of its own in turn.
Regions stops_in_place(ScheduleBuilder& plan, const Problem& problem, const DigitRoutes& routes) {
  const std::vector<Count> sizes = hop_sizes(problem, routes);
  std::vector<Count> largest[2] = {std::vector<Count>(index(problem.size)), std::vector<Count>(index(problem.size))};
  for (std::size_t hop = 0; const auto& round : routes.rounds()) {
    for (const auto& [distance, number, last] : round.hops) {
      Count& most = largest[number % 2][index(distance)];
      if (!last) most = std::max(most, sizes[hop]);
      ++hop;
    }
  }
  const Regions turns[2] = {scratch_by_distance(plan, largest[0]), scratch_by_distance(plan, largest[1])};
  const Blocks out = output_blocks(problem);
  Regions stops;
  for (const auto& round : routes.rounds()) {
    for (const auto& [distance, number, last] : round.hops) {
      if (last)
        stops.push_back(out[routes.origin(distance)]);
      else
        stops.push_back(turns[number % 2][index(distance)].first(sizes[stops.size()]));
    }
  }
  return stops;
}

}  // namespace

std::vector<Count> hop_sizes(const Problem& problem, const DigitRoutes& routes) {
  if (problem.uneven()) return {problem.learned.begin(), problem.learned.end()};
  return std::vector<Count>(index(routes.hops()), problem.count);
}

void append_digit_rounds(ScheduleBuilder& plan, const DigitRoutes& routes, Regions& at, const Regions& stops) {
  auto stop = stops.begin();
  for (const auto& [to, from, hops] : routes.rounds()) {
    Regions sent, received;
    for (const auto& hop : hops) {
      Blocks::append(sent, at[index(hop.distance)]);
      Blocks::append(received, *stop);
      at[index(hop.distance)] = *stop++;
    }
    plan.send(sent, to);
    plan.recv(received, from);
  }
}

Schedule alltoall_by_digits(const Problem& problem, const DigitRoutes& routes) {
  ScheduleBuilder plan{problem};
  const Blocks in = input_blocks(problem), out = output_blocks(problem);
  Regions at(index(problem.size));
  for (int distance = 1; distance < problem.size; ++distance) {
    Region& start = at[index(distance)] = in[routes.destination(distance)];
    if (!problem.aliasing.offset()) continue;
    const Region kept = plan.scratch(start.count);  // arriving blocks would overwrite it
    plan.copy(start, kept);
    start = kept;
  }
  plan.copy(in[problem.rank.value()], out[problem.rank.value()]);
  append_digit_rounds(plan, routes, at, stops_in_place(plan, problem, routes));
  return plan.build();
}

Exchange exchange_hop_sizes(const Problem& problem) {
  return exchange_hop_sizes(problem, {problem.rank, problem.size, problem.parameter});
}

Exchange exchange_hop_sizes(const Problem& problem, const DigitRoutes& routes) {
  const Count own{problem.size}, learned{routes.hops()}, one{1};
  ScheduleBuilder plan{{problem.rank, problem.size}, own, learned};
  Regions at(index(problem.size)), stops;
  for (int distance = 1; distance < problem.size; ++distance)
    at[index(distance)] = {Buffer::input, Count{routes.destination(distance)}, one};
  for (Count hop; hop < learned; hop += one)
    stops.push_back({Buffer::output, hop, one});
  append_digit_rounds(plan, routes, at, stops);
  return {plan.build(), own, learned};
}

void append_block_exchange(ScheduleBuilder& plan, Rank me, const DigitRoutes& routes, const Regions& from,
                           const Regions& into, const BlockSize& size) {
  const int ranks = static_cast<int>(from.size());
  std::vector<int> travelled(from.size());  // by distance, up to now
  std::vector<Count> sizes, largest[2] = {std::vector<Count>(from.size()), std::vector<Count>(from.size())};
  for (const auto& round : routes.rounds()) {
    for (const auto& [distance, number, last] : round.hops) {
      travelled[index(distance)] += (round.to.value() - me.value() + ranks) % ranks;
      const int origin = Ring{me, ranks}.behind(travelled[index(distance)]);
      sizes.push_back(size(origin, Ring{Rank{origin}, ranks}.behind(-distance)));
      Count& most = largest[number % 2][index(distance)];
      if (!last) most = std::max(most, sizes.back());
    }
  }
  const Regions turns[2] = {scratch_by_distance(plan, largest[0]), scratch_by_distance(plan, largest[1])};
  Regions at(from.size()), stops;
  for (int distance = 1; distance < ranks; ++distance)
    at[index(distance)] = from[index(routes.destination(distance))];
  for (const auto& round : routes.rounds())
    for (const auto& [distance, number, last] : round.hops)
      stops.push_back(last ? into[index(routes.origin(distance))]
                           : turns[number % 2][index(distance)].first(sizes[stops.size()]));
  append_digit_rounds(plan, routes, at, stops);
}

Regions append_operand_exchange(ScheduleBuilder& plan, Rank me, const DigitRoutes& routes, const Blocks& from,
                                int senders) {
  Regions starts, operands;
  for (int rank = 0; rank < from.parts(); ++rank) {
    starts.push_back(from[rank]);
    if (rank < senders) operands.push_back(rank == me.value() ? from[rank] : plan.scratch(from[me.value()].count));
  }
  Regions into = operands;
  into.resize(starts.size(), Region{Buffer::scratch, Count{0}, Count{0}});
  if (me.value() >= senders)
    for (Region& start : starts)
      start.count = Count{0};
  append_block_exchange(plan, me, routes, starts, into,
                        [&](int sender, int to) { return sender < senders ? from[to].count : Count{0}; });
  return operands;
}

void append_exchanged_reduce_scatter(ScheduleBuilder& plan, Rank me, const DigitRoutes& routes, const Blocks& from,
                                     const Region& result) {
  append_reduction(plan, append_operand_exchange(plan, me, routes, from, from.parts()), from[me.value()], result);
}

Cost exchanged_reduce_scatter_cost(int size, int radix, Count block) {
  const DigitFigures figures{size, radix};
  return {.messages = figures.messages(),
          .rounds = figures.rounds(),
          .sent = figures.hops() * block,
          .reduced = (size - 1) * block,
          .scratch = (size - 1 + figures.twice_or_more() + figures.thrice_or_more()) * block};
}

Regions scratch_by_distance(ScheduleBuilder& plan, const std::vector<Count>& sizes) {
  Regions places;
  for (const Count size : sizes)
    places.push_back(plan.scratch(size));
  return places;
}

}  // namespace tutti
