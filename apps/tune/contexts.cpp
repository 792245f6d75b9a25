#include "apps/tune/contexts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "lib/core/communicator/communicator_state.hpp"
#include "lib/core/transport/mpi/check.hpp"

namespace tutti::tune {
const bench::BenchMemory& memory_named(std::string_view name) {
  const auto all = bench::memories();
  return *std::find_if(all.begin(), all.end(), [&](const bench::BenchMemory& each) { return each.name == name; });
}

Team::Team(std::string name, bool is_member, const bench::BenchMemory& memory, std::string_view rules)
    : name_(std::move(name)), options_{.buffers = memory.name, .rules = rules} {
  mpi::check(MPI_Comm_split(MPI_COMM_WORLD, is_member ? 0 : MPI_UNDEFINED, 0, &mpi_), "MPI_Comm_split");
  if (is_member) comm_.emplace(another());
}

Team::~Team() {
  comm_.reset();
  if (mpi_ != MPI_COMM_NULL) MPI_Comm_free(&mpi_);
}

std::string Context::name() const {
  return fmt::format("{}/{}/{}/{}", communicator, collective->name, memory->name, bench::to_string(mode));
}

std::vector<std::string> communicators_of(const Settings& settings, const Communicator& world) {
  std::vector<std::string> found{"world"};
  const int nodes = world.node_count();
  if (nodes > 1 && nodes < world.size()) {
    if (world.node().size() > 1) found.emplace_back("node");
    found.emplace_back("leaders");
  }
  // Rank 0's node says it for all, as does its list.
  std::erase_if(found, [&](const std::string& name) {
    return !settings.communicators.empty() && std::find(settings.communicators.begin(), settings.communicators.end(),
                                                        name) == settings.communicators.end();
  });
  return found;
}

bool is_member_of(std::string_view communicator, const Communicator& world) {
  if (communicator == "node") return world.node_of(world.rank()) == world.node_of(Rank{0});
  return communicator == "world" || world.leaders().me >= 0;
}

std::vector<Context> contexts_of(const Settings& settings, const Communicator& world) {
  std::vector<Context> contexts;
  for (const std::string& communicator : communicators_of(settings, world))
    for (const std::string& memory : settings.memories)
      for (const std::string& mode : settings.modes)
        for (const std::string& collective : measured_collectives(settings)) {
          const auto* const its_mode = std::find(std::begin(bench::mode_names), std::end(bench::mode_names), mode);
          contexts.push_back({communicator, bench::collective_named(collective), &memory_named(memory),
                              static_cast<bench::Mode>(its_mode - std::begin(bench::mode_names))});
        }
  return contexts;
}

Question question_of(const Context& context, const Communicator& comm) {
  Question question = comm.state().question();
  question.collective = *context.collective->collective;
  question.is_uneven = context.collective->divided == bench::Divided::unevenly ||
                       context.collective->divided == bench::Divided::unevenly_by_pair;
  question.manner = static_cast<records::Manner>(context.mode);
  return question;
}

bool knows_no_bytes(const Question& question) {
  return question.is_uneven && question.collective != Collective::allgather &&
         question.collective != Collective::reduce_scatter;
}

}  // namespace tutti::tune
