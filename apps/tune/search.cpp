#include "apps/tune/search.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <set>

#include "apps/bench/settings.hpp"
#include "apps/root.hpp"
#include "lib/core/selection/selection.hpp"

namespace tutti::tune {
namespace {

constexpr int coarse_factor = 16;
constexpr double close_enough = 1.25;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

volatile std::sig_atomic_t signalled = 0;

int parts_of(const Context& context, int ranks) {
  return context.collective->divided == bench::Divided::not_at_all ? 1 : ranks;
}

bench::Experiment experiment_of(const Context& context, std::vector<Count> counts) {
  return {.collective = context.collective,
          .memory = context.memory,
          .mode = context.mode,
          .type = Type::fp32,
          .op = Op::sum,
          .root = Rank{0},
          .algorithms = {""},
          .transport = "auto",
          .placements = context.collective->placements(),
          .counts = std::move(counts)};
}

class Search {
 public:
  Search(const Context& context, const Team& team, const Settings& settings, const Prices& prices, Budget& budget,
         Journal& journal)
      : context_(context),
        team_(team),
        prices_(prices),
        budget_(budget),
        journal_(journal),
        what_(experiment_of(context, coarse_counts(context, settings, team.comm().size()))),
        question_(question_of(context, team.comm())) {
    if (const auto known = journal.earlier().find(context.name()); known != journal.earlier().end())
      earlier_ = known->second;
  }

  Found run() {
    for (const Count count : what_.counts)
      if (!measure(count)) return {points_, false};
    while (const std::optional<Count> between = next_between())
      if (!measure(*between)) return {points_, false};
    return {points_, true};
  }

 private:
  /// False: the run was interrupted.
  bool measure(Count count) {
    const std::int64_t bytes = (count.value() * size_of(Type::fp32)).value();
    const auto known = std::find_if(earlier_.begin(), earlier_.end(), [&](const Point& p) { return p.bytes == bytes; });
    if (known != earlier_.end()) {
      add(*known);
      return true;
    }
    const double seconds = budget_.next(team_);
    if (seconds < 0) return false;
    Point point = race({team_, what_}, count, candidates(count, bytes), seconds, knows_no_bytes(question_));
    std::string failure;
    try {
      journal_.add(context_.name(), point);
    } catch (const apps::InputError& error) {
      failure = error.what();
    }
    apps::refuse_if_any(team_.mpi(), failure);
    add(std::move(point));
    return true;
  }
  void add(Point point) {
    budget_.spend();
    const auto place = std::lower_bound(points_.begin(), points_.end(), point.bytes,
                                        [](const Point& a, std::int64_t bytes) { return a.bytes < bytes; });
    points_.insert(place, std::move(point));
  }
  /// The built-in choice first. Between two sizes, only what was taken or nearly taken there.
  [[nodiscard]] std::vector<std::string> candidates(Count count, std::int64_t bytes) const {
    Question question = question_;
    question.bytes = Bytes{knows_no_bytes(question_) ? -1 : bytes};
    const Choice builtin = select(question, {}, nullptr).choice;
    question.bytes = Bytes{bytes};
    std::vector<std::string> uses{to_text(builtin)};
    const auto add = [&](const std::string& use) {
      if (std::find(uses.begin(), uses.end(), use) == uses.end()) uses.push_back(use);
    };
    if (std::find(what_.counts.begin(), what_.counts.end(), count) != what_.counts.end()) {
      for (const Choice& choice : candidates_for(question, problem(count), size_of(Type::fp32), builtin, prices_))
        add(to_text(choice));
      return uses;
    }
    for (const Point& point : points_)
      if (is_beside(point, bytes)) add(point.use);
    return uses;
  }
  /// Whether no measured size is between.
  [[nodiscard]] bool is_beside(const Point& point, std::int64_t bytes) const {
    return std::none_of(points_.begin(), points_.end(), [&](const Point& other) {
      return (other.bytes > point.bytes && other.bytes < bytes) || (other.bytes < point.bytes && other.bytes > bytes);
    });
  }
  [[nodiscard]] Problem problem(Count count) const {
    const Communicator& comm = team_.comm();
    Problem problem{.size = comm.size(), .count = count, .collective = question_.collective};
    if (parts_of(context_, comm.size()) > 1) problem.count = Count{count.value() / comm.size()};
    problem.nodes = question_.spread;
    return problem;
  }
  /// A size between two whose choices differ and that are far apart.
  [[nodiscard]] std::optional<Count> next_between() const {
    if (knows_no_bytes(question_)) return std::nullopt;
    for (std::size_t i = 1; i < points_.size(); ++i) {
      const Point &low = points_[i - 1], &high = points_[i];
      const bool is_as_built_in = low.use == low.builtin && high.use == high.builtin;
      if (low.use == high.use || is_as_built_in) continue;
      const auto a = static_cast<double>(low.bytes), b = static_cast<double>(high.bytes);
      if (b <= close_enough * a) continue;
      const std::int64_t parts = parts_of(context_, team_.comm().size());
      const auto elements = static_cast<std::int64_t>(std::sqrt(a * b)) / size_of(Type::fp32).value() / parts * parts;
      const std::int64_t bytes = elements * size_of(Type::fp32).value();
      if (bytes > low.bytes && bytes < high.bytes) return Count{elements};
    }
    return std::nullopt;
  }

  const Context& context_;
  const Team& team_;
  const Prices& prices_;
  Budget& budget_;
  Journal& journal_;
  bench::Experiment what_;
  Question question_;
  std::vector<Point> earlier_{}, points_{};
};

}  // namespace

Budget::Budget(double seconds, std::size_t contexts, std::size_t coarse)
    : end_(now() + seconds),
      contexts_(contexts),
      a_context_(sizes_for_a_coarse_one * static_cast<double>(coarse)),
      left_(a_context_) {}

double Budget::next(const Team& team) const {
  const double others = static_cast<double>(contexts_ > 0 ? contexts_ - 1 : 0) * a_context_;
  double seconds = is_interrupted() ? -1 : std::max(least_for_a_size, seconds_left() / (left_ + others));
  apps::broadcast(team.mpi(), seconds);
  return seconds;
}

bool Budget::is_over(const Team& team) const {
  bool is_over = seconds_left() <= 0;
  apps::broadcast(team.mpi(), is_over);
  return is_over;
}

void Budget::end_context() {
  if (contexts_ > 0) --contexts_;
  left_ = a_context_;
}

double Budget::seconds_left() const { return std::max(0.0, end_ - now()); }

void end_at_signals() {
  for (const int signal : {SIGINT, SIGTERM})
    std::signal(signal, [](int /*signal*/) { signalled = 1; });
}

bool is_interrupted() { return signalled != 0; }

std::vector<Count> coarse_counts(const Context& context, const Settings& settings, int ranks) {
  if (!context.collective->has_data()) return {Count{0}};
  const int parts = parts_of(context, ranks);
  const Bytes element = parts * size_of(Type::fp32);
  const Bytes most = std::max(settings.max, element);
  std::vector<Count> counts = bench::sweep(std::min(settings.min, most), most, coarse_factor, element);
  if (counts.back().value() < most.value() / element.value()) counts.push_back(Count{most.value() / element.value()});
  for (Count& count : counts)
    count = parts * count;
  return counts;
}

Found search(const Context& context, const Team& team, const Settings& settings, const Prices& prices, Budget& budget,
             Journal& journal) {
  return Search{context, team, settings, prices, budget, journal}.run();
}

bool confirm(const Context& context, const Team& team, std::vector<Point>& points, double seconds) {
  if (points.empty()) return true;
  const auto count_of = [](const Point& point) { return Count{point.bytes / size_of(Type::fp32).value()}; };
  const bench::Experiment what = experiment_of(context, {count_of(points.back())});
  for (Point& point : points) {
    bool is_ended = is_interrupted();
    apps::broadcast(team.mpi(), is_ended);
    if (is_ended) return false;
    race_again({team, what}, count_of(point), point, seconds);
  }
  return true;
}

}  // namespace tutti::tune
