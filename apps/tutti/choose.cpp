// tutti choose: what would run, and why.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "apps/json.hpp"
#include "apps/standard_output.hpp"
#include "apps/tutti/commands.hpp"
#include "apps/tutti/input.hpp"
#include "apps/tutti/rule_text.hpp"
#include "apps/tutti/site.hpp"
#include "apps/tutti/table.hpp"
#include "lib/core/selection/selection.hpp"
#include "lib/core/selection/site_rules.hpp"

namespace tutti::tool {
namespace {

constexpr int most_ranks = 1 << 20;

struct Settings {
  std::string collective, rules, format = "text";
  int ranks = 8, processors = 0;
  std::vector<int> nodes;
  std::vector<std::int64_t> sizes{8, 1024, 65536, 1 << 20, 16 << 20};
  std::string memory = "host", mode = "blocking", shared_memory = "auto";
  std::string bits = "same";
  bool is_uneven = false, is_not_commutative = false, is_exact = false, shows_passed_over = false;
};

apps::Options options_for(Settings& settings) {
  using Takes = apps::Options::Takes;
  apps::Options options{
      "tutti choose",
      "Tells which algorithm a call would run, and by which rule: for ranks, nodes and memory that need not be there.\n"
      "The settings of the environment do not count, but for TUTTI_RULES."};
  options.argument("COLLECTIVE", Takes::one, [&](std::string_view given) { settings.collective = given; })
      .integer("ranks,p", settings.ranks, 1, most_ranks, "ranks");
  add_nodes(options, settings.nodes);
  options.custom("bytes,n", "N,N,...", "8,1K,64K,1M,16M", "bytes of the larger buffer, over all ranks: 8, 64K, 1M",
                 [&](std::string_view given) {
                   settings.sizes.clear();
                   for (const std::string& item : apps::split_list(given))
                     settings.sizes.push_back(apps::parse_bytes(item).value());
                 });
  options.choice("memory", settings.memory, {"host", "tutti", "device"}, "where the buffers are")
      .choice("mode", settings.mode, {"blocking", "nonblocking", "persistent", "stream"}, "how the call is made")
      .flag("uneven", settings.is_uneven, "blocks are listed, as those of allgatherv")
      .flag("not-commutative", settings.is_not_commutative, "the operation is not commutative")
      .choice("bits", settings.bits, {"same", "fixed"},
              "of a reduction: fixed is the order that the number of ranks gives")
      .flag("exact", settings.is_exact, "the operation is exact_sum")
      .text("rules", settings.rules, "FILE",
            "the rules of the site; none: the built-in ones alone. Without it: those that a job here would find")
      .choice("shared-memory", settings.shared_memory, {"auto", "yes", "no"},
              "whether all messages go through shared memory; auto: if there is one node")
      .integer("processors", settings.processors, 0, most_ranks,
               "processors of a node that all ranks share; 0: enough for the ranks")
      .flag("passed-over", settings.shows_passed_over, "the rules before the one that fits, and why they do not")
      .choice("format", settings.format, {"text", "json"}, "of the output");
  return options;
}

Question question_of(const Settings& settings) {
  Question question{.collective = read_collective(settings.collective), .ranks = settings.ranks};
  std::map<int, int> on_node;
  for (const int node : settings.nodes)
    question.most_on_a_node = std::max(question.most_on_a_node, ++on_node[node]);
  question.nodes = std::max(1, static_cast<int>(on_node.size()));
  question.spread = settings.nodes;
  question.is_uneven = settings.is_uneven;
  if (settings.is_uneven && !may_be_uneven(question.collective))
    throw apps::InputError(fmt::format("--uneven: {} has no blocks that may be listed", settings.collective));
  question.is_commutative = !settings.is_not_commutative;
  const bool is_fixed = settings.bits == "fixed";
  if ((is_fixed || settings.is_exact) && !reduces(question.collective))
    throw apps::InputError(fmt::format("--{}: {} combines nothing", is_fixed ? "bits" : "exact", settings.collective));
  if (is_fixed && !settings.is_exact) question.bits = Bits::fixed;
  question.gathers = settings.is_exact;
  const auto place = [](const auto& names, const std::string& name) {
    return std::ranges::find(names, name) - std::begin(names);
  };
  question.memory = static_cast<AssumedMemory>(place(assumed_memory_names, settings.memory));
  question.manner = static_cast<records::Manner>(place(manner_names, settings.mode));
  question.shares_memory = settings.shared_memory == "yes" || (settings.shared_memory == "auto" && question.nodes == 1);
  if (question.shares_memory && question.nodes > 1)
    throw apps::InputError("--shared-memory yes: there are several nodes; allowed: no");
  question.shares_processors =
      question.shares_memory && settings.processors > 0 && settings.ranks >= 2 * settings.processors;
  question.maps_devices = question.shares_memory && question.memory == AssumedMemory::device;
  return question;
}

struct PassedOver {
  std::string rule, algorithm, why;
};
/// A size, what is chosen for it, and the rules that come before that.
struct Row {
  std::int64_t bytes = 0;
  Selection selection{};
  std::string rule{};
  std::vector<PassedOver> passed_over{};
};

class Chooser {
 public:
  Chooser(const Site& site, const Question& question) : site_(site), question_(question) {
    question_.files = &site.files;
  }

  [[nodiscard]] Row row(std::int64_t bytes) {
    question_.bytes = Bytes{bytes};
    Row row{.bytes = bytes, .selection = select(question_, {}, site_.table())};
    const bool is_of_site = row.selection.is_users;
    row.rule = place(*row.selection.rule, is_of_site);
    if (site_.table() != nullptr) pass_over(*site_.table(), true, row);
    if (!is_of_site) pass_over(builtin_rules(), false, row);
    return row;
  }

 private:
  [[nodiscard]] std::string place(const Rule& rule, bool is_of_site) const {
    return fmt::format("{}:{}", is_of_site ? site_.rules->file.path : "builtin", rule.line);
  }
  /// Notes the rules of the table that come before the chosen one.
  void pass_over(const RuleTable& table, bool is_of_site, Row& row) const {
    for (const Rule& rule : table.of(question_.collective)) {
      if (&rule == row.selection.rule) return;
      row.passed_over.push_back({place(rule, is_of_site), to_text(rule.choice), why_passed_over(rule, question_)});
    }
  }

  const Site& site_;
  Question question_;
};

std::string heading(const Question& question, const Site& site) {
  std::string text = fmt::format("{}, {} rank{} on {} node{}", to_string(question.collective), question.ranks,
                                 question.ranks == 1 ? "" : "s", question.nodes, question.nodes == 1 ? "" : "s");
  if (question.shares_memory) text += ", all share memory";
  if (question.shares_processors) text += ", two or more for each processor";
  text += fmt::format("; {} memory, {}", assumed_memory_names[static_cast<std::size_t>(question.memory)],
                      manner_names[static_cast<std::size_t>(*question.manner)]);
  if (question.is_uneven) text += ", blocks of differing sizes";
  if (!question.is_commutative) text += ", not commutative";
  if (question.bits == Bits::fixed) text += ", in fixed order";
  if (question.gathers) text += ", exact_sum";
  text += '\n';
  if (site.rules) text += fmt::format("rules: {}\n", site.rules->file.path);
  for (const std::string& note : site.notes)
    text += fmt::format("note: {}\n", note);
  return text;
}

/// Ranks of calls like gatherv do not know the size.
std::string size_text(std::int64_t bytes) { return bytes < 0 ? "any" : fmt::to_string(bytes); }

std::string text_of(const std::vector<Row>& rows, bool shows_passed_over) {
  std::vector<Cells> cells{{"bytes", "algorithm", "rule", "why"}};
  for (const Row& row : rows)
    cells.push_back({size_text(row.bytes), to_text(row.selection.choice), row.rule, std::string{row.selection.why}});
  std::string text = aligned(cells, "");
  if (!shows_passed_over) return text;
  for (const Row& row : rows) {
    text +=
        fmt::format("\npassed over for {} bytes{}\n", size_text(row.bytes), row.passed_over.empty() ? ": none" : "");
    std::vector<Cells> passed;
    for (const auto& [rule, algorithm, why] : row.passed_over)
      passed.push_back({rule, algorithm, why});
    text += aligned(passed, "  ");
  }
  return text;
}

apps::Json json_of(const Row& row) {
  apps::Json passed = apps::Json::array();
  for (const auto& [rule, algorithm, why] : row.passed_over)
    passed.push_back({{"rule", rule}, {"algorithm", algorithm}, {"why", why}});
  const Measured& its = row.selection.rule->measured;
  const auto time = [](double us) { return us > 0 ? std::optional{us} : std::nullopt; };
  return {{"bytes", row.bytes < 0 ? apps::Json{} : apps::Json{row.bytes}},
          {"algorithm", to_text(row.selection.choice)},
          {"rule", row.rule},
          {"is_builtin", !row.selection.is_users},
          {"why", row.selection.why},
          {"measured", apps::Json{{"us", time(its.us)},
                                  {"default_us", time(its.default_us)},
                                  {"next_us", time(its.next_us)},
                                  {"next", its.next.empty() ? apps::Json{} : apps::Json{its.next}},
                                  {"mpi_us", time(its.mpi_us)}}},
          {"passed_over", std::move(passed)}};
}

apps::Json json_of(const std::vector<Row>& rows, const Question& question, const Site& site) {
  apps::Json choices = apps::Json::array();
  for (const Row& row : rows)
    choices.push_back(json_of(row));
  return {{"collective", to_string(question.collective)},
          {"ranks", question.ranks},
          {"nodes", question.nodes},
          {"shares_memory", question.shares_memory},
          {"shares_processors", question.shares_processors},
          {"rules", site.rules ? apps::Json{site.rules->file.path} : apps::Json{}},
          {"notes", site.notes},
          {"choices", std::move(choices)}};
}

}  // namespace

int choose(const Arguments& arguments) {
  Settings settings;
  apps::Options options = options_for(settings);
  if (is_told(options, arguments)) return apps::exit_success;
  const Question question = question_of(settings);
  require_levels_of(settings.ranks, {settings.nodes, {}});
  const Site site = site_of(settings.rules, question);
  if (question.collective == Collective::barrier) settings.sizes = {0};
  if (!is_size_known(question.collective, question.is_uneven)) settings.sizes = {-1};
  Chooser chooser{site, question};
  std::vector<Row> rows;
  for (const std::int64_t bytes : settings.sizes)
    rows.push_back(chooser.row(bytes));
  if (settings.format == "json")
    apps::print("{}\n", json_of(rows, question, site).text(2));
  else
    apps::print("{}{}", heading(question, site), text_of(rows, settings.shows_passed_over));
  return apps::exit_success;
}

}  // namespace tutti::tool
