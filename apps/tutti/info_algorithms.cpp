// tutti info --algorithms: what selection chooses for each size, on ranks that need not be there.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "apps/options.hpp"
#include "apps/tutti/info_settings.hpp"
#include "apps/tutti/site.hpp"
#include "apps/tutti/table.hpp"
#include "lib/core/communicator/agreed_rules.hpp"
#include "lib/core/communicator/settings.hpp"
#include "lib/core/communicator/variables.hpp"
#include "lib/core/selection/selection.hpp"
#include "tutti/error.hpp"

namespace tutti::tool {
namespace {

/// What the environment says; where that is not allowed, the default and a note.
template <class Read>
auto read_or_note(Read read, std::vector<std::string>& notes) {
  try {
    return read();
  } catch (const Error& error) {
    notes.push_back(fmt::format("{}; shown without it", error.what()));
    return decltype(read()){};
  }
}

AssumedMemory memory_of(BufferUse buffers) {
  if (buffers == BufferUse::device) return AssumedMemory::device;
  return buffers == BufferUse::tutti ? AssumedMemory::tutti : AssumedMemory::host;
}

/// The rules that the ranks would have, if this process were their rank 0.
std::optional<SiteRules> rules_here(const CommunicatorForm& form) {
  SiteFacts machine = site_facts();
  std::map<int, int> on_node;
  for (const int node : form.nodes)
    machine.ppn = std::max(machine.ppn, ++on_node[node]);
  machine.nodes = static_cast<int>(on_node.size());
  const std::optional<FoundRules> found = find_rules(usual_rule_places(), machine);
  if (!found) return std::nullopt;
  return SiteRules{read_rule_file(found->text, found->path)};
}

std::string range_text(std::int64_t from, std::int64_t to, bool is_barrier) {
  if (is_barrier) return "-";
  return to < 0 ? fmt::format("{} and more", from) : fmt::format("{} to {}", from, to);
}

}  // namespace

namespace {

/// The files that settings or rules name for the collective; those that cannot be used are noted.
FiledAlgorithms files_of(Collective collective, const UserChoices& users, const RuleTable* rules,
                         std::vector<std::string>& notes) {
  FiledAlgorithms files;
  add_file(users.choices[static_cast<std::size_t>(collective)].algorithm, files, notes);
  for (std::size_t i = 0; rules != nullptr && i < rules->of(collective).size(); ++i)
    add_file(rules->of(collective)[i].choice.algorithm, files, notes);
  return files;
}

}  // namespace

AlgorithmsReport::AlgorithmsReport(const CommunicatorForm& form)
    : ranks_(static_cast<int>(form.nodes.size())),
      nodes_(static_cast<int>(std::set<int>(form.nodes.begin(), form.nodes.end()).size())) {
  const UserChoices users = read_or_note(algorithms_in_environment, notes_);
  const TransportChoice transport = read_or_note(transport_in_environment, notes_);
  const auto buffers = read_or_note([] { return static_cast<BufferUse>(name_setting("TUTTI_BUFFERS")); }, notes_);
  shares_memory_ = nodes_ == 1 && transport.shared_memory != SharedMemoryUse::never;
  shares_processors_ = shares_memory_ && ranks_ >= 2 * form.processors;  // NOLINT(*-prefer-member-initializer): in turn
  on_devices_ = shares_memory_ && buffers == BufferUse::device;
  const std::optional<SiteRules> rules = read_or_note([&] { return rules_here(form); }, notes_);
  if (rules) notes_.push_back(fmt::format("rules: {}", rules->file.path));
  for (int i = 0; i < collective_count; ++i) {
    const auto collective = static_cast<Collective>(i);
    Question question{.collective = collective,
                      .ranks = ranks_,
                      .nodes = nodes_,
                      .shares_memory = shares_memory_,
                      .shares_processors = shares_processors_,
                      .maps_devices = on_devices_,
                      .memory = memory_of(buffers),
                      .spread = form.nodes};
    const FiledAlgorithms files = files_of(collective, users, rules ? &rules->table : nullptr, notes_);
    question.files = &files;
    const std::vector<SelectionFrom> found = select_by_size(question, users, rules ? &rules->table : nullptr);
    for (std::size_t at = 0; at < found.size(); ++at) {
      const std::int64_t to = at + 1 < found.size() ? found[at + 1].bytes.value() - 1 : -1;
      const Selection& selection = found[at].selection;
      rows_.push_back(
          {std::string{to_string(collective)}, found[at].bytes.value(), to, to_text(selection.choice),
           fmt::format("{}{}", selection.is_users && selection.rule == nullptr ? "as set by " : "", selection.why)});
    }
  }
}

std::string AlgorithmsReport::text() const {
  std::string head =
      fmt::format("{} rank{} on {} node{}", ranks_, ranks_ == 1 ? "" : "s", nodes_, nodes_ == 1 ? "" : "s");
  if (shares_memory_) head += ", all share memory";
  if (shares_processors_) head += ", two or more for each processor";
  if (on_devices_) head += "; buffers on devices that all ranks can map";
  std::vector<Cells> cells{{"collective", "bytes of the larger buffer", "algorithm", "why"}};
  std::string last;
  for (const Row& row : rows_) {
    cells.push_back({row.collective == last ? "" : row.collective,
                     range_text(row.from, row.to, row.collective == to_string(Collective::barrier)), row.algorithm,
                     row.why});
    last = row.collective;
  }
  std::string notes;
  for (const std::string& note : notes_)
    notes += fmt::format("note: {}\n", note);
  return fmt::format("algorithms of {}; blocks of one size, commutative operations\n{}{}", head, notes,
                     aligned(cells, ""));
}

apps::Json AlgorithmsReport::json() const {
  apps::Json rows = apps::Json::array();
  for (const Row& row : rows_)
    rows.push_back({{"collective", row.collective},
                    {"from", row.from},
                    {"to", row.to < 0 ? apps::Json{} : apps::Json{row.to}},
                    {"algorithm", row.algorithm},
                    {"why", row.why}});
  return {{"ranks", ranks_},
          {"nodes", nodes_},
          {"shares_memory", shares_memory_},
          {"shares_processors", shares_processors_},
          {"on_devices", on_devices_},
          {"notes", notes_},
          {"algorithms", std::move(rows)}};
}

}  // namespace tutti::tool
