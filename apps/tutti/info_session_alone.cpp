// tutti info in a build without MPI.
#include "apps/options.hpp"
#include "apps/tutti/info_session.hpp"
#include "apps/tutti/info_settings.hpp"
#include "build_facts.hpp"
#include "lib/topology/survey.hpp"
#include "tutti/version.hpp"

namespace tutti::tool {
namespace {

constexpr const char* without_mpi = "built without MPI (TUTTI_MPI=OFF)";

}  // namespace

bool is_launched() { return false; }

MpiSession::MpiSession() { throw apps::InputError(std::string{"--job, --counters: "} + without_mpi); }
MpiSession::~MpiSession() = default;
topology::Job MpiSession::gather() const { return alone(); }
std::vector<CounterRow> MpiSession::count_mechanisms() const { return {}; }

SettingsReport::SettingsReport(int /*ranks*/) { throw apps::InputError(std::string{"--settings: "} + without_mpi); }
std::string SettingsReport::text() const { return {}; }
apps::Json SettingsReport::json() const { return {}; }

AlgorithmsReport::AlgorithmsReport(const CommunicatorForm& /*form*/) {
  throw apps::InputError(std::string{"--algorithms: "} + without_mpi);
}
std::string AlgorithmsReport::text() const { return {}; }
apps::Json AlgorithmsReport::json() const { return {}; }

DeviceReport device_report() {
  return {.survey = {.why_not = without_mpi}, .ucx = {{}, without_mpi}, .mpi = {{}, without_mpi}, .staging = {}};
}

topology::Job alone() {
  topology::Job job = topology::job_of({topology::Report{.node = 0, .survey = topology::survey()}});
  job.components = {{"Tutti", TUTTI_VERSION}, {"MPI", std::string{"off: "} + without_mpi}};
  for (const auto& [name, description] : optional_parts)
    job.components.push_back({std::string{name}, std::string{description}});
  job.notes.emplace_back("this process only");
  return job;
}

}  // namespace tutti::tool
