#include "apps/bench/fit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>
#include <vector>

#include "lib/core/reduce/kernels.hpp"

namespace tutti::bench {
namespace {

using apps::Json;

/// Four digits: more are noise.
double rounded(double value) { return std::stod(fmt::format("{:.4g}", value)); }

/// Microseconds for a byte of `work`, which handles so many: the quickest of some runs.
template <class Work>
double per_byte(std::size_t bytes, const Work& work) {
  using Clock = std::chrono::steady_clock;
  constexpr int runs = 20;
  double least = 0;
  for (int run = 0; run < runs; ++run) {
    const auto begin = Clock::now();
    work();
    const double time = std::chrono::duration<double, std::micro>(Clock::now() - begin).count();
    least = run == 0 ? time : std::min(least, time);
  }
  return rounded(least / static_cast<double>(bytes));
}

/// The work of a rank for each message, where it has many: at most what a single one takes of both ends.
double overhead_of(const Pairs& pairs, bool between_nodes) {
  const double rate = pairs.usual(LinkFigure::rate, between_nodes);
  return rate > 0 ? std::min(1 / rate, pairs.usual(LinkFigure::latency, between_nodes) / 2) : 0;
}

}  // namespace

std::string rates_text(const Machine& machine, const Pairs& pairs) {
  const bool has_inside = pairs.usual(LinkFigure::latency, false) > 0,
             has_between = pairs.usual(LinkFigure::latency, true) > 0;
  const double overhead = overhead_of(pairs, has_between);
  // `links`: a way of so many of them has the latency.
  const auto level = [&](bool between_nodes, int links) {
    const double latency = std::max(0.0, pairs.usual(LinkFigure::latency, between_nodes) - 2 * overhead);
    return Json{{"latency", rounded(latency / links)},
                {"bandwidth", rounded(pairs.usual(LinkFigure::bandwidth, between_nodes))}};
  };
  constexpr std::size_t count = std::size_t{1} << 18;
  std::vector<float> a(count, 1), b(count, 2), c(count);
  const std::size_t bytes = count * sizeof(float);
  const ReduceKernel add = reduce_kernel(Op::Kind::sum, Type::fp32);
  Json json{
      {"tutti_rates", 1},
      {"made",
       Json{{"when", machine.started}, {"hosts", machine.hosts}, {"mpi", machine.mpi}, {"command", machine.command}}},
      {"overhead", rounded(overhead)},
      {"reduced", per_byte(bytes, [&] { add(a.data(), b.data(), c.data(), count); })},
      {"copied", per_byte(bytes, [&] { std::memcpy(c.data(), a.data(), bytes); })}};
  if (has_inside) json.set("socket", level(false, 1));
  if (has_inside) json.set("node", level(false, 1));
  if (has_between) json.set("link", level(true, 2));
  return json.text(2) + '\n';
}

}  // namespace tutti::bench
