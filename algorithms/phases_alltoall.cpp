// Blocks that travel by the digits of their distance.
#include "phases_alltoall.hpp"

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

Regions scratch_by_distance(ScheduleBuilder& plan, const std::vector<Count>& sizes) {
  Regions places;
  for (const Count size : sizes)
    places.push_back(plan.scratch(size));
  return places;
}

}  // namespace tutti
