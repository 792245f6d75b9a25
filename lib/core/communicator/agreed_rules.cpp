#include "lib/core/communicator/agreed_rules.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <set>
#include <string>

#include "lib/core/communicator/objection.hpp"
#include "lib/core/communicator/shared_text.hpp"
#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"
#include "lib/core/transport/mpi/library_text.hpp"
#include "lib/device/driver/loaded.hpp"
#include "lib/device/driver/survey.hpp"
#include "lib/topology/nics.hpp"
#include "lib/watch/log.hpp"
#include "tutti/error.hpp"

namespace tutti {
namespace {

std::string mpi_name() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> text{};
  int length = 0;
  mpi::check(mpi::api.Get_library_version(text.data(), &length), "MPI_Get_library_version");
  return mpi::name_in(text.data());
}

/// "InfiniBand 200 Gbit/s": the adapters that carry messages between nodes, each kind once.
std::string network_name() {
  std::set<std::string> kinds;
  const auto nics = topology::find_nics("/sys");
  for (const int usable : topology::usable_nics(nics)) {
    const topology::Nic& nic = nics[static_cast<std::size_t>(usable)];
    kinds.insert(nic.gbit_per_s > 0 ? fmt::format("{} {:g} Gbit/s", nic.kind, nic.gbit_per_s)
                                    : fmt::format("{}", nic.kind));
  }
  return fmt::format("{}", fmt::join(kinds, ", "));
}

/// The rules of rank 0, or why it refuses them.
struct Offer {
  std::optional<FoundRules> found{};
  std::string refusal{};
};

Offer own_offer(std::string_view named, int nodes, int ppn) {
  try {
    RulePlaces places = usual_rule_places();
    if (!named.empty()) places.named = named;
    if (!has_candidates(places)) return {};  // most machines: their names need not be known
    SiteFacts machine = site_facts();
    machine.nodes = nodes;
    machine.ppn = ppn;
    return {find_rules(places, machine), ""};
  } catch (const std::exception& error) {
    const char* const source = !named.empty()                          ? "the program's"
                               : std::getenv("TUTTI_RULES") != nullptr ? "TUTTI_RULES"
                                                                       : "found in a folder for them";
    return {std::nullopt, fmt::format("rules for algorithms ({}): {}", source, error.what())};
  }
}

}  // namespace

SiteFacts site_facts() {
  SiteFacts machine{.cpu = processor_name(), .mpi = mpi_name(), .network = network_name()};
  void* const driver = cuda::loaded_library();
  if (driver == nullptr) return machine;
  machine.is_simulated = dlsym(driver, "fake_cuda_counters") != nullptr;
  const cuda::DeviceSurvey survey = cuda::survey_devices();
  if (!survey.devices.empty()) machine.gpu = survey.devices.front().name;
  return machine;
}

std::shared_ptr<const SiteRules> agree_on_rules(MPI_Comm comm, std::string_view named, int nodes, int ppn) {
  const int rank = mpi::rank_in(comm);
  enum State : std::uint64_t { none, found, refused };
  struct {
    std::uint64_t state = none, catalogue = catalogue_hash();
  } said;
  Offer offer;
  if (rank == 0) {
    offer = own_offer(named, nodes, ppn);
    said.state = !offer.refusal.empty() ? refused : offer.found ? found : none;
  }
  mpi::check(mpi::api.Bcast(&said, sizeof said, MPI_BYTE, 0, comm), "MPI_Bcast");
  if (said.state == refused) throw ArgumentError("tutti::Communicator: " + detail::shared_text(comm, 0, offer.refusal));
  if (said.state == none) return nullptr;
  FoundRules rules = offer.found.value_or(FoundRules{});
  rules.path = detail::shared_text(comm, 0, rules.path);
  rules.text = detail::shared_text(comm, 0, rules.text);
  std::shared_ptr<const SiteRules> made;
  std::string why;
  try {
    if (said.catalogue != catalogue_hash())
      why = "has other algorithms or built-in rules than rank 0, as of another version of Tutti";
    else
      made = std::make_shared<const SiteRules>(read_rule_file(rules.text, rules.path));
  } catch (const std::exception& error) {
    why = error.what();
  }
  if (const std::string objection = detail::first_objection(comm, rank, why); !objection.empty())
    throw ArgumentError(fmt::format("tutti::Communicator: the rules of {} cannot be used: {}", rules.path, objection));
  for (const std::string& note : rules.notes)
    log::write(log::Level::warn, fmt::format("rank {}", rank), note);
  return made;
}

}  // namespace tutti
