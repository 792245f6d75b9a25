#include "apps/bench/pairs.hpp"

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "apps/bench/statistics.hpp"
#include "apps/bench/teams.hpp"
#include "lib/core/transport/mpi/check.hpp"
#include "tutti/batch.hpp"

namespace tutti::bench {

namespace {

constexpr int long_window = 8, short_window = 64;  // messages in a batch
constexpr double round_of_pair = 2e-3;             // seconds
constexpr std::int64_t most_repetitions = 10'000;

bool is_lower_better(LinkFigure figure) { return figure == LinkFigure::latency; }

/// One end of a pair, with what it measures. All messages are bytes.
class End {
 public:
  End(const Settings& settings, const Communicator& comm, Pairs& pairs)
      : settings_(settings),
        comm_(comm),
        pairs_(pairs),
        data_(static_cast<std::size_t>(std::max(pairs.long_bytes * long_window, pairs.short_bytes * short_window))),
        received_(data_.size()) {}

  /// The rank with the lower number measures the latency, and then each sends to the other.
  void measure_with(Rank peer) {
    const bool is_first = comm_.rank() < peer;
    peer_ = peer;
    measure(
        LinkFigure::latency, is_first, [&] { ping(); }, [&] { pong(); });
    for (const bool sends : {is_first, !is_first}) {
      measure(
          LinkFigure::bandwidth, sends, [&] { send_all(pairs_.long_bytes, long_window); },
          [&] { receive_all(pairs_.long_bytes, long_window); });
      measure(
          LinkFigure::rate, sends, [&] { send_all(pairs_.short_bytes, short_window); },
          [&] { receive_all(pairs_.short_bytes, short_window); });
    }
  }

 private:
  /// The one side does `active` again and again, and takes the time; the other one does `passive` as often.
  template <class Active, class Passive>
  void measure(LinkFigure figure, bool is_active, Active active, Passive passive);
  void note(LinkFigure figure, std::vector<double> seconds);

  void ping() {
    send(data_.data(), Count{pairs_.short_bytes}, Type::uint8, peer_, comm_);
    recv(received_.data(), Count{pairs_.short_bytes}, Type::uint8, peer_, comm_);
  }
  void pong() {
    recv(received_.data(), Count{pairs_.short_bytes}, Type::uint8, peer_, comm_);
    send(data_.data(), Count{pairs_.short_bytes}, Type::uint8, peer_, comm_);
  }
  /// A batch, and one byte that says that it has come.
  void send_all(std::int64_t bytes, int messages) {
    Batch batch{comm_};
    for (int i = 0; i < messages; ++i)
      batch.send(data_.data() + i * bytes, Count{bytes}, Type::uint8, peer_);
    batch.run();
    recv(&answer_, Count{1}, Type::uint8, peer_, comm_);
  }
  void receive_all(std::int64_t bytes, int messages) {
    Batch batch{comm_};
    for (int i = 0; i < messages; ++i)
      batch.recv(received_.data() + i * bytes, Count{bytes}, Type::uint8, peer_);
    batch.run();
    send(&answer_, Count{1}, Type::uint8, peer_, comm_);
  }

  const Settings& settings_;
  const Communicator& comm_;
  Pairs& pairs_;
  std::vector<std::uint8_t> data_, received_;
  std::uint8_t answer_ = 0;
  Rank peer_;
};

template <class Active, class Passive>
void End::measure(LinkFigure figure, bool is_active, Active active, Passive passive) {
  using Clock = std::chrono::steady_clock;
  const auto repeat = [&](std::int64_t repetitions) {
    const auto begin = Clock::now();
    for (std::int64_t i = 0; i < repetitions; ++i) {
      is_active ? active() : passive();
    }
    return std::chrono::duration<double>(Clock::now() - begin).count() / static_cast<double>(repetitions);
  };
  constexpr int first_repetitions = 4;
  static_cast<void>(repeat(first_repetitions));  // builds plans
  std::int64_t repetitions = std::clamp(std::llround(round_of_pair / repeat(first_repetitions)), 1LL,
                                        static_cast<long long>(most_repetitions));
  if (is_active)
    send(&repetitions, Count{1}, Type::int64, peer_, comm_);
  else
    recv(&repetitions, Count{1}, Type::int64, peer_, comm_);
  std::vector<double> seconds;
  for (int round = -settings_.warmup; round < settings_.rounds; ++round) {
    const double time = repeat(repetitions);
    if (round >= 0) seconds.push_back(time);
  }
  if (is_active) note(figure, std::move(seconds));
}

void End::note(LinkFigure figure, std::vector<double> seconds) {
  std::sort(seconds.begin(), seconds.end());
  const auto value = [&](double time) {
    if (figure == LinkFigure::latency) return time * 1e6 / 2;
    if (figure == LinkFigure::bandwidth) return static_cast<double>(pairs_.long_bytes) * long_window / time * 1e-9;
    return short_window / time * 1e-6;
  };
  LinkMatrix& matrix = pairs_.figures[static_cast<std::size_t>(figure)];
  const double median = value(quantile(seconds, 0.5)), best = value(quantile(seconds, 0.25));
  const int me = comm_.rank().value(), peer = peer_.value();
  matrix.median[pairs_.at(me, peer)] = median;
  matrix.best[pairs_.at(me, peer)] = best;
  if (figure != LinkFigure::latency) return;
  matrix.median[pairs_.at(peer, me)] = median;
  matrix.best[pairs_.at(peer, me)] = best;
}

/// Each link is known to one rank: rank 0 gets all.
void gather(std::vector<double>& values) {
  std::vector<double> all(values.size());
  mpi::check(
      MPI_Reduce(values.data(), all.data(), static_cast<int>(values.size()), MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD),
      "MPI_Reduce");
  values = std::move(all);
}

}  // namespace

std::string_view to_string(LinkFigure figure) {
  constexpr std::string_view names[] = {"latency", "bandwidth", "rate"};
  return names[static_cast<std::size_t>(figure)];
}

std::string_view unit_of(LinkFigure figure) {
  constexpr std::string_view units[] = {"us", "GB/s", "million/s"};
  return units[static_cast<std::size_t>(figure)];
}

bool Pairs::is_between_nodes(int from, int to) const {
  return nodes[static_cast<std::size_t>(from)] != nodes[static_cast<std::size_t>(to)];
}

double Pairs::usual(LinkFigure figure, bool between_nodes) const {
  std::vector<double> values;
  for (int from = 0; from < ranks(); ++from) {
    for (int to = 0; to < ranks(); ++to) {
      if (from != to && is_between_nodes(from, to) == between_nodes) values.push_back(of(figure).median[at(from, to)]);
    }
  }
  return values.empty() ? 0 : spread_of(std::move(values)).median;
}

std::vector<SlowLink> slow_links(const Pairs& pairs) {
  std::vector<SlowLink> slow;
  const auto links = [&](bool between_nodes) {
    std::size_t number = 0;
    for (int from = 0; from < pairs.ranks(); ++from)
      for (int to = 0; to < pairs.ranks(); ++to)
        if (from != to && pairs.is_between_nodes(from, to) == between_nodes) ++number;
    return number;
  };
  const std::array numbers{links(false), links(true)};
  for (const LinkFigure figure : link_figures) {
    const std::array usual{pairs.usual(figure, false), pairs.usual(figure, true)};
    for (int from = 0; from < pairs.ranks(); ++from) {
      for (int to = 0; to < pairs.ranks(); ++to) {
        const bool between = pairs.is_between_nodes(from, to);
        const double best = pairs.of(figure).best[pairs.at(from, to)], its_usual = usual[between ? 1 : 0];
        const bool is_slow = is_lower_better(figure) ? best > its_usual * most_behind : best < its_usual / most_behind;
        if (from == to || !is_slow || numbers[between ? 1 : 0] < least_links_of_kind) continue;
        slow.push_back({figure, from, to, pairs.of(figure).median[pairs.at(from, to)], its_usual, between});
      }
    }
  }
  return slow;
}

Pairs measure_pairs(const Settings& settings, const Communicator& comm) {
  constexpr std::int64_t usual_long = 1 << 20;
  Pairs pairs{.nodes = {}, .short_bytes = settings.min.value(), .rounds = settings.rounds};
  pairs.long_bytes = std::max(pairs.short_bytes, settings.has_max ? settings.max.value() : usual_long);
  for (int rank = 0; rank < comm.size(); ++rank) {
    pairs.nodes.push_back(comm.node_of(Rank{rank}));
  }
  const auto links = static_cast<std::size_t>(comm.size()) * static_cast<std::size_t>(comm.size());
  for (LinkMatrix& matrix : pairs.figures) {
    matrix = {std::vector<double>(links), std::vector<double>(links)};
  }
  End end{settings, comm, pairs};
  const Rank me = comm.rank();
  for (Rank first{0}; first.value() < comm.size(); first = Rank{first.value() + 1}) {
    for (Rank second{first.value() + 1}; second.value() < comm.size(); second = Rank{second.value() + 1}) {
      if (me == first || me == second) end.measure_with(me == first ? second : first);
      sleeping_barrier(MPI_COMM_WORLD);
    }
  }
  for (LinkMatrix& matrix : pairs.figures) {
    gather(matrix.median);
    gather(matrix.best);
  }
  return pairs;
}

}  // namespace tutti::bench
