#include "apps/tune/race.hpp"

#include <algorithm>
#include <climits>
#include <map>
#include <memory>

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

class Race {
 public:
  Race(const Track& track, Count count, double seconds) : track_(track), call_(track.call(count)), seconds_(seconds) {}

  Point run(const std::vector<std::string>& candidates, bool keeps_all) {
    builtin_ = candidates.front();
    Point point{.bytes = (call_.count.value() * size_of(call_.type)).value(), .builtin = candidates.front()};
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
    measure(left, third);
    for (auto& [use, way] : times_)
      point.ways.push_back(way);
    point.use = winner(point);
    return point;
  }

 private:
  /// So many candidates as can be measured three times in the first stage's time, if each takes as long as the built-in
  /// choice; four at least.
  [[nodiscard]] std::size_t affordable() {
    bench::Repeater& builtin = repeater(builtin_);
    builtin.run(1);
    double seconds = MPI_Wtime();
    builtin.run(1);
    seconds = MPI_Wtime() - seconds;
    apps::broadcast(track_.team.mpi(), seconds);
    constexpr std::size_t least = 4;
    const double calls = first.share * seconds_ / std::max(seconds, 1e-9) / (first.most + 1);
    return calls > 1e6 ? std::size_t{1'000'000} : std::max(least, static_cast<std::size_t>(calls));
  }
  [[nodiscard]] bool has_mpi() const {
    const Count largest = track_.context.collective->divided == bench::Divided::evenly ? call_.block() : call_.count;
    return largest <= Count{INT_MAX} && bench::mpi_takes(*track_.context.memory);
  }
  bench::Repeater& repeater(const std::string& use) {
    auto& its = repeaters_[use];
    if (its != nullptr) return *its;
    call_.algorithm = repeaters_.find(use)->first;  // a text that lives as long as the repeater
    if (use == mpi_way)
      its = track_.context.collective->peer(call_, track_.context.mode).repeater;
    else
      its = track_.context.collective->ours(call_, track_.context.mode);
    return *its;
  }
  /// As many rounds as the stage's time allows, by the times of the stage before.
  [[nodiscard]] int rounds_of(const std::vector<std::string>& uses, const Stage& stage) const {
    double one = 0;  // a round of each way
    for (const std::string& use : uses) {
      const auto known = times_.find(use);
      one += std::max(round_seconds(), known == times_.end() ? 0 : known->second.us * 1e-6);
    }
    return std::clamp(static_cast<int>(stage.share * seconds_ / one), stage.least, stage.most);
  }
  [[nodiscard]] double round_seconds() const {
    constexpr double shortest = 3e-4, longest = bench::round_seconds, rounds_in_all = 350;
    return std::clamp(seconds_ / rounds_in_all, shortest, longest);
  }
  /// Times the ways in turns; what was known of them is replaced.
  void measure(const std::vector<std::string>& uses, const Stage& stage) {
    bench::Settings settings;
    settings.is_touched = true;
    settings.rounds = rounds_of(uses, stage);
    settings.warmup = &stage == &first ? 0 : 1;
    bench::Protocol protocol = bench::protocol_of(*track_.context.collective, settings, track_.buffers, call_);
    protocol.comm = track_.team.mpi();
    protocol.seconds = round_seconds();
    protocol.attempts = 1;
    std::vector<bench::Repeater*> ways;
    ways.reserve(uses.size());
    for (const std::string& use : uses)
      ways.push_back(&repeater(use));
    const std::vector<bench::Timing> timings = bench::measure(ways, protocol);
    for (std::size_t i = 0; i < uses.size(); ++i) {
      std::vector<double> us = timings[i].microseconds();
      apps::broadcast(track_.team.mpi(), us);  // those of rank 0 are those of the slowest rank
      times_[uses[i]] = timed(uses[i], std::move(us));
    }
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
  bench::Call call_;
  double seconds_;
  std::string builtin_{};
  std::map<std::string, std::unique_ptr<bench::Repeater>> repeaters_{};
  std::map<std::string, Timed> times_{};
};

}  // namespace

const Timed* Point::find(std::string_view wanted) const {
  const auto found = std::find_if(ways.begin(), ways.end(), [&](const Timed& way) { return way.use == wanted; });
  return found == ways.end() ? nullptr : &*found;
}

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

}  // namespace tutti::tune
