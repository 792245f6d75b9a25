#include "lib/core/communicator/components.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "build_facts.hpp"
#include "lib/core/transport/mpi/dialect.hpp"
#include "lib/device/driver/loaded.hpp"
#include "lib/device/driver/state.hpp"
#include "tutti/version.hpp"

namespace tutti {
namespace {

std::vector<Component (*)()>& registered() {
  static auto& all = *new std::vector<Component (*)()>;  // never destroyed: the program may use Tutti after main
  return all;
}

/// `cuda_state`: empty, if nothing is to be said of it.
std::vector<Component> described(const std::string& cuda_state) {
  std::vector<Component> all{{"Tutti", TUTTI_VERSION}, {"MPI", mpi_library()}};
  for (const auto& [name, description] : optional_parts)
    all.push_back({std::string{name}, std::string{description}});
  const auto cuda = std::ranges::find(all, "CUDA", &Component::name);
  if (cuda != all.end() && !cuda_state.empty()) cuda->description += ", " + cuda_state;
  for (const auto describe : registered()) {
    const Component running = describe();
    const auto built = std::ranges::find(all, running.name, &Component::name);
    if (built == all.end())
      all.push_back(running);
    else
      built->description += ", " + running.description;
  }
  return all;
}

}  // namespace

ComponentRegistration::ComponentRegistration(Component (*describe)()) { registered().push_back(describe); }

std::string mpi_library() { return mpi::library_name(); }

std::vector<Component> components() { return described(cuda::state()); }

std::vector<Component> components_as_loaded() {
  return described(cuda::loaded_library() == nullptr ? "" : cuda::state());
}

}  // namespace tutti
