#include "apps/tune/race.hpp"

#include <algorithm>
#include <climits>
#include <cmath>
#include <map>
#include <memory>
#include <utility>

#include "apps/bench/measure.hpp"
#include "apps/bench/statistics.hpp"
#include "apps/root.hpp"

namespace tutti::tune {
namespace {

/// Rounds of the three stages, and the share of the time that each may take.
struct Stage {
  int least, most;
  double share;
};
constexpr Stage first{3, 3, 0.25}, second{4, 10, 0.3}, third{8, 40, 0.45};
constexpr double given_up_from = 1.25;

Timed timed(std::string use, std::vector<double> us) {
  std::sort(us.begin(), us.end());
  return {.use = std::move(use),
          .us = bench::quantile(us, 0.5),
          .lower = bench::quantile(us, 0.25),
          .upper = bench::quantile(us, 0.75),
          .fastest = us.front(),
          .runs = static_cast<int>(us.size())};
}

/// The call with a communicator and buffers of its own. Where memory comes to lie makes one instance of an algorithm
/// faster than another for as long as it lives, whatever the algorithm.
class Instance {
 public:
  /// What `what` and `comm` refer to must live as long as this.
  Instance(const bench::Experiment& what, const Communicator& comm, MPI_Comm mpi)
      : what_(what), mpi_(mpi), buffers_(what, comm, mpi) {
    for (const bench::Placement placement : what.placements)
      calls_.push_back({buffers_.call(what.counts[0], placement), {}});
  }

  [[nodiscard]] const bench::Call& call() const { return calls_.front().call; }
  /// The calls once, of all placements, on this rank.
  void run(const std::string& use) {
    for (Placed& placed : calls_)
      repeater(placed, use).run(1);
  }
  /// The microseconds of the rounds of each way, in turns; the same on all ranks. A round is the mean of all
  /// placements.
  std::vector<std::vector<double>> measured(const std::vector<std::string>& uses, int rounds, int warmup,
                                            double seconds) {
    std::vector<std::vector<double>> all(uses.size(), std::vector<double>(static_cast<std::size_t>(rounds)));
    for (Placed& placed : calls_) {
      std::vector<bench::Repeater*> ways;
      ways.reserve(uses.size());
      for (const std::string& use : uses)
        ways.push_back(&repeater(placed, use));
      const std::vector<bench::Timing> timings = bench::measure(ways, protocol(placed.call, rounds, warmup, seconds));
      for (std::size_t i = 0; i < uses.size(); ++i) {
        std::vector<double> us = timings[i].microseconds();
        apps::broadcast(mpi_, us);  // those of rank 0 are those of the slowest rank
        for (std::size_t round = 0; round < us.size(); ++round)
          all[i][round] += us[round] / static_cast<double>(calls_.size());
      }
    }
    return all;
  }

 private:
  struct Placed {
    bench::Call call;
    std::map<std::string, std::unique_ptr<bench::Repeater>> repeaters;
  };
  [[nodiscard]] bench::Repeater& repeater(Placed& placed, const std::string& use) const {
    auto& its = placed.repeaters[use];
    if (its != nullptr) return *its;
    placed.call.algorithm = placed.repeaters.find(use)->first;  // a text that lives as long as the repeater
    const bench::BenchCollective& collective = *what_.collective;
    its = use == mpi_way ? collective.peer(placed.call, what_.mode).repeater : collective.ours(placed.call, what_.mode);
    return *its;
  }
  [[nodiscard]] bench::Protocol protocol(const bench::Call& call, int rounds, int warmup, double seconds) const {
    bench::Settings settings;
    settings.is_touched = true;
    settings.rounds = rounds;
    settings.warmup = warmup;
    bench::Protocol protocol = bench::protocol_of(*what_.collective, settings, buffers_, call);
    protocol.comm = mpi_;
    protocol.seconds = seconds;
    protocol.attempts = 1;
    return protocol;
  }

  const bench::Experiment& what_;
  MPI_Comm mpi_;
  bench::Buffers buffers_;
  std::vector<Placed> calls_{};
};

class Race {
 public:
  Race(const Track& track, Count count, double seconds)
      : track_(track),
        what_(with(track.what, {count})),
        roomy_(with(track.what, {count, std::max(count, track.what.counts.back())})),
        seconds_(seconds),
        instance_(what_, track.team.comm(), mpi()) {}

  Point run(const std::vector<std::string>& candidates, bool keeps_all) {
    builtin_ = candidates.front();
    const bench::Call& call = instance_.call();
    Point point{.bytes = (call.count.value() * size_of(call.type)).value(), .builtin = candidates.front()};
    std::vector<std::string> left = candidates;  // the likeliest first
    left.resize(std::min(left.size(), affordable()));
    measure(left, first);
    if (!keeps_all) {
      left = best_of(left, std::max<std::size_t>(3, (left.size() + 1) / 2));
      measure(left, second);
      left = best_of(left, 2);
    }
    if (std::find(left.begin(), left.end(), point.builtin) == left.end()) left.push_back(point.builtin);
    if (has_mpi()) left.emplace_back(mpi_way);
    measure_anew(left);
    for (auto& [use, way] : times_)
      point.ways.push_back(way);
    point.use = winner(point);
    return point;
  }

  std::vector<Timed> again(const Point& point) {
    const std::vector<std::string> uses{point.builtin, point.use};
    for (const std::string& use : uses)
      times_[use] = *point.find(use);  // for the number of rounds
    measure_anew(uses);
    return {times_.at(point.builtin), times_.at(point.use)};
  }

 private:
  static bench::Experiment with(bench::Experiment what, std::vector<Count> counts) {
    what.counts = std::move(counts);
    return what;
  }
  [[nodiscard]] MPI_Comm mpi() const { return track_.team.mpi(); }
  /// So many candidates as can be measured three times in the first stage's time, if each takes as long as the built-in
  /// choice; four at least.
  [[nodiscard]] std::size_t affordable() {
    instance_.run(builtin_);
    double seconds = MPI_Wtime();
    instance_.run(builtin_);
    seconds = MPI_Wtime() - seconds;
    apps::broadcast(mpi(), seconds);
    constexpr std::size_t least = 4;
    const double calls = first.share * seconds_ / std::max(seconds, 1e-9) / (first.most + 1);
    return calls > 1e6 ? std::size_t{1'000'000} : std::max(least, static_cast<std::size_t>(calls));
  }
  [[nodiscard]] bool has_mpi() const {
    const bench::Call& call = instance_.call();
    const Count largest = what_.collective->divided == bench::Divided::evenly ? call.block() : call.count;
    return largest <= Count{INT_MAX} && bench::mpi_takes(*what_.memory);
  }
  /// As many rounds as the stage's time allows, by the times of the stage before.
  [[nodiscard]] int rounds_of(const std::vector<std::string>& uses, const Stage& stage) const {
    double one = 0;  // a round of each way
    for (const std::string& use : uses) {
      const auto known = times_.find(use);
      one += std::max(round_seconds(), known == times_.end() ? 0 : known->second.us * 1e-6);
    }
    one *= static_cast<double>(what_.placements.size());
    return std::clamp(static_cast<int>(stage.share * seconds_ / one), stage.least, stage.most);
  }
  [[nodiscard]] double round_seconds() const {
    constexpr double shortest = 3e-4, longest = bench::round_seconds, rounds_in_all = 350;
    return std::clamp(seconds_ / rounds_in_all, shortest, longest);
  }
  /// Times the ways; what was known of them is replaced.
  void measure(const std::vector<std::string>& uses, const Stage& stage) {
    const int warmup = &stage == &first ? 0 : 1;
    std::vector<std::vector<double>> all = instance_.measured(uses, rounds_of(uses, stage), warmup, round_seconds());
    for (std::size_t i = 0; i < uses.size(); ++i)
      times_[uses[i]] = timed(uses[i], std::move(all[i]));
  }
  /// The third stage: in several instances, each with its share of the rounds.
  void measure_anew(const std::vector<std::string>& uses) {
    constexpr int instances = 4;
    const int rounds = std::max(2, rounds_of(uses, third) / instances);
    std::vector<std::vector<double>> all(uses.size());
    const auto add = [&](Instance& instance) {
      const std::vector<std::vector<double>> its = instance.measured(uses, rounds, 1, round_seconds());
      for (std::size_t i = 0; i < uses.size(); ++i)
        all[i].insert(all[i].end(), its[i].begin(), its[i].end());
    };
    add(instance_);
    for (int i = 1; i < instances; ++i) {
      const Communicator comm = track_.team.another();
      Instance instance{i % 2 == 0 ? what_ : roomy_, comm, mpi()};
      add(instance);
    }
    for (std::size_t i = 0; i < uses.size(); ++i)
      times_[uses[i]] = timed(uses[i], std::move(all[i]));
  }
  /// The fastest, at most so many, but for those that have no chance.
  [[nodiscard]] std::vector<std::string> best_of(std::vector<std::string> uses, std::size_t most) const {
    const auto us = [&](const std::string& use) { return times_.at(use).us; };
    std::stable_sort(uses.begin(), uses.end(),
                     [&](const std::string& a, const std::string& b) { return us(a) < us(b); });
    const double bound = given_up_from * us(uses.front());
    uses.resize(std::min(uses.size(), most));
    std::erase_if(uses, [&](const std::string& use) { return times_.at(use).fastest > bound; });
    return uses;
  }

  const Track& track_;
  const bench::Experiment what_, roomy_;  ///< On buffers of this size, and at the beginning of large ones.
  double seconds_;
  Instance instance_;
  std::string builtin_{};
  std::map<std::string, Timed> times_{};
};

const Timed* find_in(const std::vector<Timed>& ways, std::string_view wanted) {
  const auto found = std::find_if(ways.begin(), ways.end(), [&](const Timed& way) { return way.use == wanted; });
  return found == ways.end() ? nullptr : &*found;
}

}  // namespace

const Timed* Point::find(std::string_view wanted) const { return find_in(ways, wanted); }

std::string winner(const Point& point) {
  const Timed& builtin = *point.find(point.builtin);
  const Timed* best = &builtin;
  for (const Timed& way : point.ways)
    if (way.use != mpi_way && way.runs >= builtin.runs && way.us < best->us) best = &way;
  const bool is_clear = best->us * least_gain <= builtin.us && best->upper < builtin.lower;
  return is_clear ? best->use : point.builtin;
}

Point race(const Track& track, Count count, const std::vector<std::string>& candidates, double seconds,
           bool keeps_all) {
  return Race{track, count, seconds}.run(candidates, keeps_all);
}

void race_again(const Track& track, Count count, Point& point, double seconds) {
  const auto share = static_cast<double>(track.what.placements.size());
  for (const bench::Placement placement : track.what.placements) {
    if (point.use == point.builtin) return;
    bench::Experiment what = track.what;
    what.placements = {placement};
    add_later(point, Race{{track.team, what}, count, seconds / share}.again(point));
  }
}

void add_later(Point& point, const std::vector<Timed>& later) {
  const bool is_faster = find_in(later, point.use)->us < find_in(later, point.builtin)->us;
  for (Timed& way : point.ways) {
    const Timed* const its = find_in(later, way.use);
    if (its == nullptr) continue;
    const double before = way.runs, after = its->runs;
    way.us = std::exp((before * std::log(way.us) + after * std::log(its->us)) / (before + after));
    way.lower = std::min(way.lower, its->lower);
    way.upper = std::max(way.upper, its->upper);
    way.fastest = std::min(way.fastest, its->fastest);
    way.runs += its->runs;
  }
  if (!is_faster || point.find(point.use)->us * least_gain > point.find(point.builtin)->us) point.use = point.builtin;
}

}  // namespace tutti::tune
