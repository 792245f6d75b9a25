// tutti cost: the costs of the algorithms of a collective, side by side.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "apps/standard_output.hpp"
#include "apps/tutti/commands.hpp"
#include "apps/tutti/input.hpp"
#include "apps/tutti/scene.hpp"
#include "apps/tutti/site.hpp"
#include "lib/core/schedule/passes.hpp"
#include "lib/core/selection/selection.hpp"
#include "lib/proof/checker/prove.hpp"
#include "lib/proof/cost/simulate.hpp"

namespace tutti::tool {
namespace {

constexpr int most_ranks = 1 << 20, most_ranks_simulated = 65536;
constexpr std::int64_t most_messages_simulated = std::int64_t{1} << 25;
constexpr std::int64_t element_bytes = 4;  // of the default rates, and for the choice of auto

struct Settings {
  std::string collective;
  std::vector<std::string> algorithms;
  std::vector<std::string> files;
  std::vector<int> ranks{8};
  std::vector<Count> counts{Count{1}, Count{1024}, Count{1 << 20}};
  Spread spread;
  int root = 0;
  Rates rates = rates_of({});
  std::vector<std::string> given_between;  ///< The options for links between nodes that were given.
  [[nodiscard]] bool has_several_nodes() const { return !spread.nodes.empty() && spread.nodes.back() > 0; }
};

constexpr double most_microseconds = 1e9;

/// The rates of links between nodes. Notes which were given, as they are of no use on one node.
void add_between(apps::Options& options, Settings& settings) {
  RatesBetween& between = settings.rates.between;
  const auto number = [&](const char* name, double& value, const char* help) {
    options.custom(name, "X", fmt::format("{}", value), help, [&settings, &value, name](std::string_view given) {
      value = apps::parse_number(given, 0, most_microseconds);
      settings.given_between.emplace_back(name);
    });
  };
  number("alpha-between", between.message, "microseconds per message between nodes");
  number("beta-between", between.sent, "microseconds per element sent between nodes, with a link for itself");
  options.custom("links", "N", fmt::format("{}", between.links),
                 "messages that a node sends to others, and receives, each at full speed; more share the links",
                 [&settings, &between](std::string_view given) {
                   between.links = static_cast<int>(apps::parse_integer(given, 1, most_ranks));
                   settings.given_between.emplace_back("links");
                 });
}

apps::Options options_for(Settings& settings) {
  using Takes = apps::Options::Takes;
  apps::Options options{
      "tutti cost",
      "Compares the algorithms of a collective, or those named: messages, elements sent, reduced and scratch of the\n"
      "busiest rank, rounds (the longest chain of messages), and the time of a simulation. In it, each rank sends one\n"
      "message and receives one message at a time, and the ranks of a node share its links to others. * marks the "
      "least\n"
      "time. auto is what Tutti would choose for elements of 4 bytes. The rates, if none are given, are those of "
      "elements of 4 bytes, shared memory (40 GB/s from rank to "
      "rank)\n"
      "and one port of 100 Gbit/s a node."};
  options.argument("COLLECTIVE", Takes::one, [&](std::string_view given) { settings.collective = given; })
      .argument("ALGORITHM", Takes::any_number,
                [&](std::string_view given) { settings.algorithms.emplace_back(given); })
      .custom("file", "FILE,...", "", "the schedules of these files, too",
              [&](std::string_view given) { settings.files = apps::split_list(given); })
      .integers("ranks,p", settings.ranks, 1, most_ranks, "ranks");
  add_counts(options, settings.counts);
  add_levels(options, settings.spread);
  Rates& rates = settings.rates;
  options.number("alpha", rates.message, 0, most_microseconds, "microseconds per message inside a node")
      .number("beta", rates.sent, 0, most_microseconds, "microseconds per element sent inside a node");
  add_between(options, settings);
  options.number("gamma", rates.reduced, 0, most_microseconds, "microseconds per element reduced")
      .number("delta", rates.copied, 0, most_microseconds, "microseconds per element copied")
      .integer("root", settings.root, 0, most_ranks, "of broadcast, reduce, gather, scatter");
  return options;
}

/// The choices to be compared. One without an algorithm is "auto".
std::vector<Choice> choices(const Settings& settings, Collective collective) {
  std::vector<Choice> choices;
  for (const std::string& name : settings.algorithms)
    choices.push_back(name == "auto" ? Choice{} : read_algorithm(collective, name));
  if (choices.empty())
    for (const Algorithm* algorithm : algorithms_of(collective))
      choices.push_back({algorithm, algorithm->parameter.fallback});
  return choices;
}

struct Row {
  std::string name;
  Cost cost;
  bool has_rounds = true;
  std::optional<double> time;
};

bool can_be_simulated(const Cost& cost, int ranks) {
  return ranks <= most_ranks_simulated && std::int64_t{cost.messages} * ranks <= most_messages_simulated;
}

/// The row of a choice whose schedules are made. Stated costs do not cover segments: their costs are counted.
Row simulated(Row row, const Choice& choice, const checker::Case& what, const Rates& rates) {
  const checker::Problems problems{*choice.algorithm, what};
  Simulator simulator{what.nodes};
  if (what.segment > Count{0}) row.cost = {};
  for (int rank = 0; rank < what.size; ++rank) {
    const Problem& problem = problems.of(Rank{rank});
    const Schedule schedule = built(*choice.algorithm, problem, what.segment);
    if (what.segment > Count{0}) {
      const Cost counted = tutti::counted(schedule);
      row.cost.messages = std::max(row.cost.messages, counted.messages);
      row.cost.sent = std::max(row.cost.sent, counted.sent);
      row.cost.reduced = std::max(row.cost.reduced, counted.reduced);
      row.cost.scratch = std::max(row.cost.scratch, counted.scratch);
    }
    simulator.add(schedule);
  }
  row.time = simulator.run(rates).time;
  return row;
}

/// What Tutti would choose, in elements.
Choice chosen(const Settings& settings, Collective collective, int ranks, Count count) {
  const Question question =
      blocking_call(collective, ranks, settings.spread.nodes, bytes_of(collective, ranks, count, element_bytes));
  return in_elements(select(question, {}, site_of("", question).table()).choice, element_bytes);
}

Row row(const Choice& choice, const Settings& settings, int ranks, Count count) {
  checker::Case what{.size = ranks, .count = count};
  what.root = Rank{settings.root};
  what.parameter = choice.parameter;
  what.segment = Count{choice.segment};
  what.nodes = settings.spread.nodes;
  what.sockets = settings.spread.sockets;
  Problem problem{what.root, ranks, count};
  problem.collective = choice.algorithm->collective;
  problem.root = what.root;
  problem.parameter = choice.parameter;
  problem.nodes = settings.spread.nodes;
  problem.sockets = settings.spread.sockets;
  // Of algorithms that state no cost it is counted, rounds too.
  const Cost cost = choice.algorithm->cost != nullptr
                        ? choice.algorithm->cost(problem)
                        : checker::counted(checker::schedules_of(*choice.algorithm, what));
  const Row stated{to_text(choice), cost, choice.segment == 0, std::nullopt};
  const std::int64_t pieces = choice.segment > 0 ? 1 + stated.cost.sent.value() / choice.segment : 1;
  const bool is_small = pieces <= most_messages_simulated / ranks && can_be_simulated(stated.cost, ranks);
  if (!is_small && choice.segment > 0)
    throw apps::InputError(
        fmt::format("{}: segments of {} elements are too many to simulate", to_text(choice), choice.segment));
  return is_small ? simulated(stated, choice, what, settings.rates) : stated;
}

/// The row of a file's schedules, whose cost is counted.
Row row(const ScheduleFile& file, const Settings& settings, Count count) {
  const FiledScene filed{file, count, false, Unproved::refused};
  const Scene& scene = filed.scene();
  Simulator simulator{settings.spread.nodes};
  for (const checker::RankSchedule& own : scene.schedules)
    simulator.add(own.schedule);
  return {file.path, scene.cost, true, simulator.run(settings.rates).time};
}

void print(const std::vector<Row>& rows) {
  std::optional<double> best;
  for (const Row& row : rows)
    if (row.time && (!best || *row.time < *best)) best = row.time;
  apps::print("  {:<24} {:>8} {:>8} {:>12} {:>12} {:>12} {:>14}\n", "algorithm", "messages", "rounds", "sent",
              "reduced", "scratch", "time (us)");
  for (const auto& [name, cost, has_rounds, time] : rows) {
    const std::string shown = time ? fmt::format("{:.3f} {}", *time, *time == *best ? '*' : ' ') : "-  ";
    apps::print("  {:<24} {:>8} {:>8} {:>12} {:>12} {:>12} {:>16}\n", name, cost.messages,
                has_rounds ? fmt::format("{}", cost.rounds) : "-", cost.sent.value(), cost.reduced.value(),
                cost.scratch.value(), shown);
  }
}

void print_rates(const Settings& settings, Collective collective) {
  const auto& [alpha, beta, gamma, delta, between] = settings.rates;
  apps::print("{}; microseconds: {} per message, {} per element sent, {} per element reduced, {} per element copied\n",
              to_string(collective), alpha, beta, gamma, delta);
  if (settings.has_several_nodes())
    apps::print("between nodes: {} per message, {} per element sent, {} link{} a node\n", between.message, between.sent,
                between.links, between.links == 1 ? "" : "s");
}

void require_consistent(const Settings& settings, Collective collective) {
  for (const int ranks : settings.ranks) {
    require_levels_of(ranks, settings.spread);
    if (settings.root >= ranks)
      throw apps::InputError(
          fmt::format("--root {} is no rank of {}: allowed: 0 to {}", settings.root, ranks, ranks - 1));
  }
  if (!settings.given_between.empty() && !settings.has_several_nodes())
    throw apps::InputError(fmt::format("--{}: all ranks are on one node; allowed with --nodes of several nodes",
                                       settings.given_between.front()));
  if (settings.root != 0 && !has_root(collective))
    throw apps::InputError(fmt::format("--root: {} has no root", to_string(collective)));
}

/// The files that are to be compared, each for one of the numbers of ranks.
std::vector<ScheduleFile> files_of(const Settings& settings, Collective collective) {
  std::vector<ScheduleFile> files;
  for (const std::string& path : settings.files) {
    const ScheduleFile& file = files.emplace_back(read_schedules(path));
    if (file.collective != collective)
      throw apps::InputError(
          fmt::format("--file {}: it is for {}, not {}", path, to_string(file.collective), to_string(collective)));
    if (std::ranges::find(settings.ranks, file.ranks) == settings.ranks.end())
      throw apps::InputError(fmt::format("--file {}: it is for {} ranks: --ranks {}", path, file.ranks, file.ranks));
  }
  return files;
}

}  // namespace

int cost(const Arguments& arguments) {
  Settings settings;
  apps::Options options = options_for(settings);
  if (is_told(options, arguments)) return apps::exit_success;
  const Collective collective = read_collective(settings.collective);
  const std::vector<Choice> all = choices(settings, collective);
  require_consistent(settings, collective);
  const std::vector<ScheduleFile> files = files_of(settings, collective);
  if (collective == Collective::barrier) settings.counts = {Count{0}};
  print_rates(settings, collective);
  bool all_simulated = true;
  for (const int ranks : settings.ranks) {
    for (const Count count : settings.counts) {
      std::vector<Row> rows;
      rows.reserve(all.size());
      for (const Choice& choice : all) {
        const bool is_auto = choice.algorithm == nullptr;
        rows.push_back(row(is_auto ? chosen(settings, collective, ranks, count) : choice, settings, ranks, count));
        if (is_auto) rows.back().name.insert(0, "auto: ");
      }
      for (const ScheduleFile& file : files)
        if (file.ranks == ranks) rows.push_back(row(file, settings, count));
      all_simulated = all_simulated && std::ranges::all_of(rows, [](const Row& row) { return row.time.has_value(); });
      apps::print("\n{} ranks, {} elements\n", ranks, count.value());
      print(rows);
    }
  }
  if (!all_simulated)
    apps::print("\n-: not simulated: more than {} ranks or {} messages\n", most_ranks_simulated,
                most_messages_simulated);
  return apps::exit_success;
}

}  // namespace tutti::tool
