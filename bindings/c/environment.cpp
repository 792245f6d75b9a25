// The library that runs, in C.
#include "bindings/c/handles.hpp"

using namespace tutti::c;

const char* tutti_version() { return TUTTI_VERSION; }

tutti_status tutti_version_numbers(int* major, int* minor, int* patch) {
  return guarded([&](const Site& site) {
    int& first = site.pointed("major", major);
    int& second = site.pointed("minor", minor);
    int& third = site.pointed("patch", patch);
    first = TUTTI_VERSION_MAJOR;
    second = TUTTI_VERSION_MINOR;
    third = TUTTI_VERSION_PATCH;
  });
}

tutti_status tutti_mpi_library(const char** name) {
  return guarded([&](const Site& site) {
    static const auto& library = *new std::string{tutti::mpi_library()};  // never destroyed, as callers keep pointers
    site.pointed("name", name) = library.c_str();
  });
}

tutti_status tutti_components(const tutti_component** components, int* count) {
  return guarded([&](const Site& site) {
    static const auto& found = *new std::vector<tutti::Component>{tutti::components()};
    static const auto& listed = *new auto{[] {
      std::vector<tutti_component> all;
      all.reserve(found.size());
      for (const tutti::Component& component : found)
        all.push_back({component.name.c_str(), component.description.c_str()});
      return all;
    }()};
    const tutti_component*& place = site.pointed("components", components);
    site.pointed("count", count) = static_cast<int>(listed.size());
    place = listed.data();
  });
}
