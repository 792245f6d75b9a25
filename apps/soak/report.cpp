#include "apps/soak/report.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "apps/root.hpp"
#include "apps/standard_output.hpp"
#include "tutti/version.hpp"

namespace tutti::soak {
namespace {

constexpr std::array<Resource, resource_count> all_resources = {
    Resource::heap,        Resource::private_memory, Resource::shared_memory, Resource::mapped,
    Resource::descriptors, Resource::threads,        Resource::node_shm};
std::size_t place(Resource resource) { return static_cast<std::size_t>(resource); }

std::string bytes_text(std::int64_t bytes) { return amount_text(Resource::heap, bytes); }

/// "1 rank", "2 ranks".
std::string some(int number, std::string_view of) { return fmt::format("{} {}{}", number, of, number == 1 ? "" : "s"); }

std::int64_t results_of(const RankFigures& figures) {
  std::int64_t bytes = 0;
  for (const CallTally& of_name : figures.tally.of_names)
    bytes += of_name.bytes;
  return bytes;
}

std::int64_t messages_of(const RankFigures& figures) {
  std::int64_t messages = 0;
  for (const SentMessages& sent : figures.sent)
    messages += sent.messages;
  return messages;
}

/// The column of each Resource.
constexpr std::array<std::pair<std::string_view, int>, resource_count> resource_columns = {{{"heap", 10},
                                                                                            {"private", 10},
                                                                                            {"shared", 10},
                                                                                            {"mapped", 11},
                                                                                            {"descriptors", 11},
                                                                                            {"threads", 7},
                                                                                            {"/dev/shm", 10}}};

std::string resource_titles() {
  std::string text;
  for (const auto& [title, width] : resource_columns)
    text += fmt::format(" {:>{}}", title, width);
  return text;
}

std::string resource_cells(const Resources& now) {
  std::string text;
  for (const Resource resource : all_resources)
    text +=
        fmt::format(" {:>{}}", amount_text(resource, now[place(resource)]), resource_columns[place(resource)].second);
  return text;
}

std::string table_of_calls(const RankFigures& sum) {
  std::string text = fmt::format("\n{:<15} {:>10} {:>11}\n", "# collective", "calls", "results");
  const std::vector<std::string> names = call_names();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const CallTally& of_name = sum.tally.of_names[i];
    if (of_name.calls > 0)
      text += fmt::format("{:<15} {:>10} {:>11}\n", names[i], of_name.calls, bytes_text(of_name.bytes));
  }
  text += fmt::format("\n{:<15} {:>10} {:>11}\n", "# sent through", "messages", "bytes");
  for (std::size_t i = 0; i < sum.sent.size(); ++i)
    if (sum.sent[i].messages > 0)
      text += fmt::format("{:<15} {:>10} {:>11}\n", sent_names[i], sum.sent[i].messages, bytes_text(sum.sent[i].bytes));
  return text;
}

std::string table_of_resources(const RankFigures& sum) {
  std::string text = fmt::format("\n{:<16} {:>10} {:>10} {:>10} {:>12} {:>12} {:>10}\n", "# resource", "start", "now",
                                 "largest", "2nd quarter", "last quarter", "growth");
  for (const Resource resource : all_resources) {
    const std::size_t i = place(resource);
    const auto cell = [&](std::int64_t amount) { return amount_text(resource, amount); };
    const History::Quarters& quarters = sum.quarters[i];
    const bool is_known = sum.has_quarters();
    text += fmt::format("{:<16} {:>10} {:>10} {:>10} {:>12} {:>12} {:>10}\n", resource_names[i], cell(sum.first[i]),
                        cell(sum.last[i]), cell(sum.largest[i]), is_known ? cell(quarters.second) : "-",
                        is_known ? cell(quarters.last) : "-",
                        is_known ? amount_text(resource, quarters.growth(), Sign::always) : "-");
  }
  return text;
}

std::string growths(const std::vector<RankFigures>& ranks) {
  constexpr int most_lines = 20;
  std::string text;
  int lines = 0;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    for (const Resource resource : all_resources) {
      if (!ranks[rank].grows(resource) || ++lines > most_lines) continue;
      const History::Quarters& quarters = ranks[rank].quarters[place(resource)];
      text += fmt::format(
          "GROWS on rank {}: {}, from {} in the second quarter of the samples to {} in the last; {} more "
          "would be allowed\n",
          rank, resource_names[place(resource)], amount_text(resource, quarters.second),
          amount_text(resource, quarters.last), slack_text(resource));
    }
  }
  if (lines > most_lines) text += fmt::format("... and {} more\n", lines - most_lines);
  return text;
}

/// The growth from the second quarter to the last; in short runs, from the first sample to the last.
std::int64_t growth_of(const RankFigures& sum, Resource resource) {
  const std::size_t i = place(resource);
  return sum.has_quarters() ? sum.quarters[i].growth() : sum.last[i] - sum.first[i];
}

std::int64_t growth_of_memory(const RankFigures& sum) {
  return growth_of(sum, Resource::private_memory) + growth_of(sum, Resource::shared_memory);
}

apps::Json json_of(const std::vector<RankFigures>& ranks, Resource resource) {
  const std::size_t i = place(resource);
  const RankFigures sum = sum_of(ranks);
  apps::Json growing = apps::Json::array();
  std::vector<std::int64_t> of_ranks;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    of_ranks.push_back(ranks[rank].last[i]);
    if (ranks[rank].grows(resource)) growing.push_back(rank);
  }
  return {{"name", resource_names[i]},
          {"unit", is_bytes(resource) ? "B" : ""},
          {"start", sum.first[i]},
          {"now", sum.last[i]},
          {"largest", sum.largest[i]},
          {"second_quarter", sum.has_quarters() ? apps::Json(sum.quarters[i].second) : nullptr},
          {"last_quarter", sum.has_quarters() ? apps::Json(sum.quarters[i].last) : nullptr},
          {"of_ranks", of_ranks},
          {"growing_ranks", growing}};
}

}  // namespace

std::int64_t calls_of(const RankFigures& figures) {
  std::int64_t calls = 0;
  for (const CallTally& of_name : figures.tally.of_names)
    calls += of_name.calls;
  return calls;
}

std::string preface(const RunFacts& facts) {
  const bench::Machine& machine = facts.machine;
  return fmt::format("# tutti-soak {}, {}: seed {}, {} on {}, {} each, up to {}, memory {}, transport {}\n",
                     TUTTI_VERSION, machine.mpi, facts.seed, some(machine.ranks, "rank"), some(machine.nodes, "node"),
                     some(facts.threads, "thread"), bytes_text(facts.most_bytes), facts.memories, facts.transport) +
         fmt::format("#{:>8} {:>10} {:>8} {:>6} {:>10} {:>10}{}\n", "seconds", "calls", "calls/s", "wrong", "messages",
                     "results", resource_titles());
}

std::string line_of(const Moment& moment, bool by_node) {
  const RankFigures sum = sum_of(moment.ranks);
  const double rate = static_cast<double>(calls_of(sum) - moment.calls_before) / std::max(moment.of_interval, 1e-9);
  std::string text =
      fmt::format("{:>9.1f} {:>10} {:>8.0f} {:>6} {:>10} {:>10}{}\n", moment.seconds, calls_of(sum), rate,
                  sum.tally.wrong, messages_of(sum), bytes_text(results_of(sum)), resource_cells(sum.last));
  if (!by_node) return text;
  std::int64_t nodes = 0;
  for (const RankFigures& rank : moment.ranks)
    nodes = std::max(nodes, rank.node + 1);
  for (std::int64_t node = 0; node < nodes; ++node) {
    std::vector<RankFigures> members;
    std::ranges::copy_if(moment.ranks, std::back_inserter(members),
                         [&](const RankFigures& rank) { return rank.node == node; });
    text += fmt::format("{:>58}{}\n", fmt::format("node {}", node), resource_cells(sum_of(members).last));
  }
  return text;
}

std::string conclusion(const Moment& end) {
  const RankFigures sum = sum_of(end.ranks);
  std::string text = table_of_calls(sum) + table_of_resources(sum) + '\n' + growths(end.ranks);
  if (!sum.has_quarters())
    text += fmt::format("growth is not judged: that takes a run by --seconds with {} samples of memory or more\n",
                        History::least_samples);
  return text + fmt::format("{} calls, {} wrong, memory {}, descriptors {}\n", calls_of(sum), sum.tally.wrong,
                            amount_text(Resource::heap, growth_of_memory(sum), Sign::always),
                            amount_text(Resource::descriptors, growth_of(sum, Resource::descriptors), Sign::always));
}

bool is_well(const std::vector<RankFigures>& ranks) {
  return std::ranges::none_of(ranks, [](const RankFigures& rank) {
    return rank.tally.wrong > 0 || std::ranges::any_of(all_resources, [&](Resource each) { return rank.grows(each); });
  });
}

apps::Json to_json(const Moment& moment) {
  const RankFigures sum = sum_of(moment.ranks);
  apps::Json json = {{"seconds", moment.seconds},
                     {"calls", calls_of(sum)},
                     {"wrong", sum.tally.wrong},
                     {"messages", messages_of(sum)},
                     {"result_bytes", results_of(sum)}};
  for (const Resource resource : all_resources)
    json.set(resource_names[place(resource)], sum.last[place(resource)]);
  return json;
}

apps::Json to_json(const RunFacts& facts, const Moment& end, const apps::Json& reports) {
  using apps::Json;
  const RankFigures sum = sum_of(end.ranks);
  const std::vector<std::string> names = call_names();
  Json collectives = Json::array(), messages = Json::object(), resources = Json::array();
  for (std::size_t i = 0; i < names.size(); ++i) {
    const CallTally& of_name = sum.tally.of_names[i];
    collectives.push_back({{"name", names[i]}, {"calls", of_name.calls}, {"result_bytes", of_name.bytes}});
  }
  for (std::size_t i = 0; i < sum.sent.size(); ++i)
    messages.set(sent_names[i], {{"messages", sum.sent[i].messages}, {"bytes", sum.sent[i].bytes}});
  for (const Resource resource : all_resources)
    resources.push_back(json_of(end.ranks, resource));
  return {{"environment", bench::to_json(facts.machine)},
          {"seed", facts.seed},
          {"threads", facts.threads},
          {"most_bytes", facts.most_bytes},
          {"memory", facts.memories},
          {"transport", facts.transport},
          {"seconds", end.seconds},
          {"calls", calls_of(sum)},
          {"wrong", sum.tally.wrong},
          {"well", is_well(end.ranks)},
          {"samples", sum.samples},
          {"collectives", std::move(collectives)},
          {"messages", std::move(messages)},
          {"resources", std::move(resources)},
          {"reports", reports}};
}

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

Reporter::Reporter(RunFacts facts, const Settings& settings, const Communicator& world)
    : facts_(std::move(facts)), settings_(settings), world_(world) {
  apps::on_root(MPI_COMM_WORLD, [&] {
    if (!settings.json.empty()) json_.emplace("json", settings.json);
  });
  figures_.node = world.node_of(world.rank());
  if (is_first()) apps::print(preface(facts_));
}

void Reporter::sample() {
  if (history_.is_due(seconds())) history_.add(seconds(), read_resources(world_.node().me == 0));
}

Moment Reporter::moment() {
  figures_.add(history_);
  if (settings_.calls) figures_.samples = 0;  // Growth is told of runs by time alone.
  return {.seconds = seconds(),
          .of_interval = seconds() - reported_at_,
          .calls_before = calls_before_,
          .ranks = gathered(figures_)};
}

void Reporter::report() {
  const Moment at = moment();
  reported_at_ = at.seconds;
  if (!is_first()) return;
  calls_before_ = calls_of(sum_of(at.ranks));
  apps::print(line_of(at, settings_.by_node));
  apps::flush_output();
  if (json_) reports_.push_back(to_json(at));
}

bool Reporter::conclude() {
  const Moment end = moment();
  if (!is_first()) return true;
  apps::print(line_of(end, settings_.by_node));
  apps::print(conclusion(end));
  if (json_) json_->commit(bench::to_text(to_json(facts_, end, reports_)));
  return is_well(end.ranks);
}

}  // namespace tutti::soak
