// Blocks that travel by the digits of their distance.
#include "phases_alltoall.hpp"

namespace tutti {
namespace {

std::size_t index(int place) { return static_cast<std::size_t>(place); }

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

Exchange exchange_hop_sizes(const Problem& problem) {
  const DigitRoutes routes{problem.rank, problem.size, problem.parameter};
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
