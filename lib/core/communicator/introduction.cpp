#include "lib/core/communicator/introduction.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>
#include <set>
#include <utility>
#include <vector>

#include "lib/core/communicator/components.hpp"
#include "lib/core/communicator/membership.hpp"
#include "lib/core/communicator/variables.hpp"
#include "lib/core/selection/selection.hpp"
#include "lib/device/driver/loaded.hpp"
#include "lib/device/driver/survey.hpp"
#include "lib/topology/nics.hpp"
#include "lib/watch/log.hpp"
#include "tutti/environment.hpp"

namespace tutti::detail {
namespace {

using Lines = std::vector<std::string>;

void add_parts(Lines& lines) {
  for (const Component& part : components_as_loaded())
    lines.push_back(fmt::format("{}: {}", part.name, part.description));
}

/// "8 ranks on 2 nodes (4, 4), 4 sockets".
std::string places(const Membership& communicator) {
  const Members& members = communicator.members();
  std::vector<int> on_node(static_cast<std::size_t>(members.node_count()));
  for (const int node : members.all_nodes())
    ++on_node[static_cast<std::size_t>(node)];
  const std::set<int> sockets(members.sockets().begin(), members.sockets().end());
  const std::string several = sockets.empty() ? "" : fmt::format(", {} sockets", sockets.size());
  const auto counted = [](int number, std::string_view what) {
    return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
  };
  return fmt::format("{} on {} ({}){}{}", counted(members.size(), "rank"), counted(members.node_count(), "node"),
                     fmt::join(on_node, ", "), several,
                     communicator.waiting().outnumbers_processors ? ", more than processors" : "");
}

void add_transports(const Membership& communicator, Lines& lines) {
  const Paths& paths = communicator.paths();
  const std::string far = paths.far_transport() == Transport::mpi ? "MPI" : communicator.settings().transport.network;
  lines.push_back(fmt::format("messages inside a node: {}", paths.has_links() ? "shared memory" : far));
  if (communicator.members().node_count() > 1) lines.push_back(fmt::format("messages between nodes: {}", far));
  const device::Ways ways = paths.devices().ways;
  lines.push_back(fmt::format("device buffers: inside a node {}, between nodes {}", ways.ipc ? "CUDA IPC" : "staged",
                              ways.network || ways.mpi ? "as they are" : "staged"));
}

/// Adds the NICs and GPUs of rank 0's node. CUDA's driver is not loaded for it: only programs that have done so get to
/// know of GPUs.
void add_hardware(Lines& lines) {
  const auto nics = topology::find_nics("/sys");
  for (const int usable : topology::usable_nics(nics)) {
    const topology::Nic& nic = nics[static_cast<std::size_t>(usable)];
    lines.push_back(fmt::format("NIC {}: {}{}", nic.name, nic.kind,
                                nic.gbit_per_s > 0 ? fmt::format(", {:g} Gbit/s", nic.gbit_per_s) : ""));
  }
  if (cuda::loaded_library() == nullptr) return;
  const cuda::DeviceSurvey survey = cuda::survey_devices();
  for (std::size_t i = 0; i < survey.devices.size(); ++i) {
    const cuda::DeviceFacts& gpu = survey.devices[i];
    constexpr double gibibyte = std::int64_t{1} << 30;
    lines.push_back(fmt::format("GPU {}: {}, compute capability {}, {:.0f} GiB, at {}", i, gpu.name, gpu.capability,
                                static_cast<double>(gpu.bytes) / gibibyte, gpu.bus_id));
  }
}

void add_settings(const Membership& communicator, Lines& lines) {
  if (const RuleFile* const file = communicator.rule_file())
    lines.push_back(fmt::format("rules for algorithms: {}", file->path));
  for (const Variable& variable : variables)
    if (const char* const value = std::getenv(std::string{variable.name}.c_str()))
      lines.push_back(fmt::format("setting {}={}, of the environment", variable.name, value));
  const UserChoices& users = communicator.settings().algorithms;
  for (std::size_t i = 0; i < users.choices.size(); ++i)
    if (users.choices[i].algorithm != nullptr)
      lines.push_back(fmt::format("algorithm of {}: {}, of {}", to_string(static_cast<Collective>(i)),
                                  users.choices[i].algorithm->name, users.chosen_by[i]));
}

/// "allreduce: one_shot, from 16385 bytes two_shot/262144".
std::string algorithms_by_size(const Membership& communicator, Collective collective) {
  Question question = communicator.question();
  question.collective = collective;
  std::string text = fmt::format("{}: ", to_string(collective)), last;
  for (const auto& [bytes, selection] :
       select_by_size(question, communicator.settings().algorithms, communicator.rules())) {
    std::string name = to_text(selection.choice);
    if (name == last) continue;  // for another reason
    if (!last.empty()) text += fmt::format(", from {} bytes ", bytes.value());
    text += name;
    last = std::move(name);
  }
  return text;
}

}  // namespace

std::string name_in_log(const Membership& communicator) {
  return fmt::format("rank {}, communicator {} ({} ranks)", communicator.rank().value(), communicator.id().context(),
                     communicator.members().size());
}

void introduce(const Membership& communicator) {
  if (!log::is_on(log::Level::info) || communicator.rank() != Rank{0}) return;
  Lines lines;
  static bool is_process_told = false;
  if (!std::exchange(is_process_told, true)) {
    add_parts(lines);
    add_hardware(lines);
  }
  const std::string of_this_one = places(communicator);
  add_transports(communicator, lines);
  add_settings(communicator, lines);
  for (int collective = 0; collective < collective_count; ++collective)
    lines.push_back(algorithms_by_size(communicator, static_cast<Collective>(collective)));
  // Later communicators tell only what no earlier one has told.
  static auto& told = *new std::set<std::string>;  // never destroyed: communicators may be made after main
  const std::size_t all = lines.size();
  std::erase_if(lines, [](const std::string& line) { return !told.insert(line).second; });
  lines.insert(lines.begin(), of_this_one + (lines.size() < all ? "; else as told before" : ""));
  log::write(log::Level::info, name_in_log(communicator), fmt::format("{}", fmt::join(lines, "\n")));
}

}  // namespace tutti::detail
