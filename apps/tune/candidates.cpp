#include "apps/tune/candidates.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include "apps/root.hpp"
#include "lib/core/schedule/passes.hpp"
#include "lib/core/transport/mpi/check.hpp"
#include "tutti/tutti.hpp"

namespace tutti::tune {
namespace {

constexpr double micro = 1e6;

/// The fastest of some trials, of the slowest rank, in microseconds.
template <class Work>
double fastest(MPI_Comm comm, int calls, const Work& work) {
  constexpr int trials = 5;
  double best = 0;
  for (int trial = 0; trial < trials; ++trial) {
    mpi::check(MPI_Barrier(comm), "MPI_Barrier");
    const double begin = MPI_Wtime();
    for (int call = 0; call < calls; ++call)
      work();
    double seconds = (MPI_Wtime() - begin) / calls;
    mpi::check(MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, comm), "MPI_Allreduce");
    if (trial == 0 || seconds < best) best = seconds;
  }
  return best * micro;
}

/// The values of a parameter that differ much: few for each algorithm, as each is measured with every segment.
std::vector<int> parameters_of(const Algorithm& algorithm, const Question& question) {
  const Parameter& parameter = algorithm.parameter;
  if (parameter.name.empty()) return {parameter.fallback};
  std::set<int> values{parameter.fallback};
  const auto add = [&](int value) {
    if (value >= parameter.least && value <= parameter.most) values.insert(value);
  };
  if (parameter.name == "radix") {
    for (const int radix : {2, 4, 8, 16})
      if (radix < question.ranks) add(radix);
    if (question.ranks <= 64) add(question.ranks);
  } else if (parameter.unit == Parameter::Unit::bytes) {
    if (question.is_uneven) add(8 * 1024);
  } else if (parameter.name != "window") {
    add(2 * parameter.fallback);
  }
  return {values.begin(), values.end()};
}

std::vector<std::int64_t> segments_of(std::int64_t bytes) {
  std::vector<std::int64_t> segments{0};
  for (const std::int64_t segment : {32 * 1024L, 256 * 1024L})
    if (segment < bytes && bytes / segment <= most_segments) segments.push_back(segment);
  return segments;
}

bool is_of_this_form(const Algorithm& algorithm, const Question& question, const Problem& problem) {
  if (algorithm.levels == Levels::nodes) return question.nodes > 1;
  return algorithm.levels != Levels::sockets || !problem.sockets.empty();
}

}  // namespace

Prices measured_prices(const Team& team) {
  const Communicator& comm = team.comm();
  const int size = comm.size(), me = comm.rank().value();
  const Rank next{(me + 1) % size}, previous{(me + size - 1) % size};
  constexpr std::size_t many = std::size_t{1} << 18;
  std::vector<float> in(many, 1.0F), out(many, 1.0F);
  const auto exchanged = [&](std::size_t count, int calls) {
    return fastest(team.mpi(), calls, [&] {
      sendrecv(std::span{std::as_const(in)}.first(count), next, std::span{out}.first(count), previous, comm);
    });
  };
  Prices prices;
  prices.message = exchanged(2, 200);
  constexpr double bytes = many * sizeof(float);
  prices.sent_byte = std::max(exchanged(many, 4) - prices.message, 0.0) / bytes;
  prices.reduced_byte =
      fastest(team.mpi(), 4,
              [&] {
                mpi::check(MPI_Reduce_local(in.data(), out.data(), static_cast<int>(many), MPI_FLOAT, MPI_MAX),
                           "MPI_Reduce_local");
              }) /
      bytes;
  return prices;
}

double price_of(const Choice& choice, const Problem& problem, Bytes element, const Prices& prices) {
  const Cost cost = cost_of(*choice.algorithm, problem);
  const auto size = static_cast<double>(element.value());
  const auto sent = static_cast<double>(cost.sent.value()) * size;
  const double segments = choice.segment > 0 ? std::ceil(sent / static_cast<double>(choice.segment)) : 0;
  const double in_turn = cost.rounds + std::max(0.0, segments - cost.messages);
  constexpr double posting = 0.2;  // of a message's time, for one that is under way with others
  return prices.message * (in_turn + posting * std::max(0, cost.messages - cost.rounds)) + prices.sent_byte * sent +
         prices.reduced_byte * static_cast<double>(cost.reduced.value()) * size +
         prices.sent_byte * static_cast<double>(cost.copied.value()) * size;
}

std::vector<Choice> candidates_for(const Question& question, const Problem& problem, Bytes element,
                                   const Choice& builtin, const Prices& prices) {
  constexpr double dear = 3;
  constexpr std::size_t least = 4;
  std::vector<Candidate> all;
  for (const Algorithm* algorithm : algorithms()) {
    if (algorithm->collective != question.collective || !is_of_this_form(*algorithm, question, problem)) continue;
    for (const int parameter : parameters_of(*algorithm, question))
      for (const std::int64_t segment : segments_of(question.bytes.value())) {
        const Choice choice{algorithm, parameter, segment};
        if (choice == builtin || !serving(choice, question)) continue;
        Problem its = problem;
        its.parameter = algorithm->parameter.unit == Parameter::Unit::bytes
                            ? std::max<int>(parameter > 0 ? 1 : 0, parameter / static_cast<int>(element.value()))
                            : parameter;
        all.push_back({choice, price_of(choice, its, element, prices)});
      }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Candidate& a, const Candidate& b) { return a.price_us < b.price_us; });
  std::vector<Choice> kept{builtin};
  for (const Candidate& each : all)
    if (kept.size() <= least || each.price_us <= dear * all.front().price_us) kept.push_back(each.choice);
  return kept;
}

}  // namespace tutti::tune
