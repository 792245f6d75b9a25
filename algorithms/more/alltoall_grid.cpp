/// Alltoall on a grid: ranks form a torus of `dimensions`, whose sides are factors of p, and blocks travel along one
/// dimension after the other, all that go the same way in one message; the first is that of consecutive ranks.
/// Shapes   in[p n] -> out[p n], elements, or blocks of listed sizes; scratch (blocks of two hops or more, and again
///          those of three or more) n
/// Cost     sides p1, p2, ..., pd: d rounds of p1-1, p2-1, ..., pd-1 messages, p (1-1/p1 + ... + 1-1/pd) blocks of n
///          sent per rank; n copied. If radices near the d-th root of p, by which Bruck's blocks would travel round a
///          circle, make fewer messages than the factors of p, then those
/// Needs    any p >= 1, any n >= 0; sizes that are not equal travel first
/// Source   Traeff, arXiv 2605.29970, 2026
#include "algorithms/grid_pattern.hpp"
#include "algorithms/phases_alltoall.hpp"

namespace tutti {
namespace {

DigitRoutes routes_of(const Problem& problem) {
  return {problem.rank, problem.size, grid_digits(problem.size, problem.parameter)};
}

Schedule build(const Problem& problem) { return alltoall_by_digits(problem, routes_of(problem)); }

Exchange exchange(const Problem& problem) { return exchange_hop_sizes(problem, routes_of(problem)); }

Cost cost(const Problem& problem) {
  const Count n = problem.count;
  if (problem.size == 1) return {.copied = n};
  if (n == Count{0}) return {};
  const DigitRoutes routes = routes_of(problem);
  return {.messages = static_cast<int>(routes.rounds().size()),
          .rounds = routes.longest_chain(),
          .sent = routes.hops() * n,
          .copied = n,
          .scratch = (routes.with_hops(2) + routes.with_hops(3)) * n};
}

}  // namespace

extern const Algorithm alltoall_grid;
constinit const Algorithm alltoall_grid{
    .collective = Collective::alltoall,
    .name = "grid",
    .order = Order::of_ranks,
    .parameter = {.name = "dimensions", .fallback = 2, .least = 1, .most = 32},
    .build = build,
    .cost = cost,
    .exchange = exchange,
    .summary = "along the dimensions of a grid of ranks: few rounds and messages, for small and medium blocks",
    .source = "Traeff, arXiv 2605.29970, 2026",
};

}  // namespace tutti
