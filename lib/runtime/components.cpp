#include "lib/runtime/components.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "build_facts.hpp"
#include "lib/cuda/state.hpp"
#include "lib/transport/mpi/dialect.hpp"
#include "tutti/version.hpp"

namespace tutti {
namespace {

std::vector<Component (*)()>& registered() {
  static std::vector<Component (*)()> all;
  return all;
}

}  // namespace

ComponentRegistration::ComponentRegistration(Component (*describe)()) { registered().push_back(describe); }

std::string mpi_library() { return mpi::library_name(); }

std::vector<Component> components() {
  std::vector<Component> all{{"Tutti", TUTTI_VERSION}, {"MPI", mpi_library()}};
  for (const auto& [name, description] : optional_parts)
    all.push_back({std::string{name}, std::string{description}});
  const auto cuda = std::ranges::find(all, "CUDA", &Component::name);
  if (const std::string state = cuda::state(); cuda != all.end() && !state.empty()) cuda->description += ", " + state;
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

}  // namespace tutti
