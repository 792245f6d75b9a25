#include "apps/tutti/site.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "apps/options.hpp"
#include "apps/tutti/input.hpp"
#include "apps/tutti/rule_text.hpp"
#include "apps/tutti/scene.hpp"
#include "tutti/error.hpp"

namespace tutti::tool {

std::unique_ptr<const FiledAlgorithm> proved_file(const Algorithm& named) {
  const ScheduleFile file = read_schedules(std::string{named.name.substr(file_prefix.size())});
  if (file.collective != named.collective)
    throw apps::InputError(fmt::format("{}: its schedules are of {}, not of {}", file.path, to_string(file.collective),
                                       to_string(named.collective)));
  const FiledScene proof{file, Count{file.chunks}, false, Unproved::shown};
  if (!proof.scene().verdict.proved())
    throw apps::InputError(fmt::format("{}: not proved: {}", file.path, proof.scene().verdict.fault));
  auto made = std::make_unique<FiledAlgorithm>(file, std::string{named.name});
  made->state_cost(proof.scene().cost);
  made->find_chunks();
  return made;
}

void add_file(const Algorithm* algorithm, FiledAlgorithms& files, std::vector<std::string>& notes) {
  if (algorithm == nullptr || !is_named_file(*algorithm) || files.contains(algorithm)) return;
  try {
    files[algorithm] = proved_file(*algorithm);
  } catch (const apps::InputError& error) {
    notes.push_back(fmt::format("a communicator would be refused: {}", error.what()));
  }
}

namespace {

Site rules_of(const std::string& path, const Question& question) {
  SiteFacts machine = machine_here();
  machine.nodes = question.nodes;
  machine.ppn = question.ranks_per_node();
  Site site;
  if (path == "none") return site;
  if (!path.empty()) {
    RuleFile file = load_rules(path);
    if (const std::string why = why_unfit(file, machine); !why.empty())
      site.notes.push_back(fmt::format("{} is not for this machine: {}", file.path, why));
    site.rules.emplace(std::move(file));
    return site;
  }
  try {
    std::optional<FoundRules> found = find_rules(usual_rule_places(), machine);
    if (!found) return site;
    site.notes = found->notes;
    site.rules.emplace(read_rule_file(found->text, found->path));
  } catch (const ArgumentError& error) {
    throw apps::InputError(error.what());
  }
  return site;
}

}  // namespace

Site site_of(const std::string& path, const Question& question) {
  Site site = rules_of(path, question);
  if (site.table() == nullptr) return site;
  for (const Rule& rule : site.table()->of(question.collective))
    add_file(rule.choice.algorithm, site.files, site.notes);
  return site;
}

namespace {

/// Of the larger buffer.
int blocks_of(Collective collective, int ranks) {
  switch (collective) {
    case Collective::reduce_scatter:
    case Collective::allgather:
    case Collective::gather:
    case Collective::scatter:
    case Collective::alltoall:
      return ranks;
    default:
      return 1;
  }
}

}  // namespace

std::int64_t bytes_of(Collective collective, int ranks, Count count, std::int64_t element) {
  return count.value() * element * blocks_of(collective, ranks);
}

Count count_of(Collective collective, int ranks, std::int64_t bytes, std::int64_t element) {
  return Count{bytes / element / blocks_of(collective, ranks)};
}

Choice in_elements(Choice choice, std::int64_t element) {
  if (choice.algorithm->parameter.unit == Parameter::Unit::bytes && choice.parameter > 0)
    choice.parameter = std::max(1, static_cast<int>(choice.parameter / element));
  if (choice.segment > 0) choice.segment = std::max<std::int64_t>(1, choice.segment / element);
  return choice;
}

Question blocking_call(Collective collective, int ranks, std::span<const int> nodes, std::int64_t bytes) {
  Question question{.collective = collective, .ranks = ranks};
  std::vector<int> on_node(nodes.empty() ? 1 : static_cast<std::size_t>(std::ranges::max(nodes)) + 1);
  for (const int node : nodes)
    ++on_node[static_cast<std::size_t>(node)];
  question.nodes = static_cast<int>(on_node.size());
  question.most_on_a_node = std::ranges::max(on_node);
  question.spread = nodes;
  question.shares_memory = question.nodes == 1;
  question.bytes = Bytes{bytes};
  question.manner = records::Manner::blocking;
  return question;
}

}  // namespace tutti::tool
