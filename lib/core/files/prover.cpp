#include "lib/core/files/prover.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <filesystem>
#include <vector>

#include "prover_names.hpp"
#include "tutti/error.hpp"
#include "tutti/version.hpp"

namespace tutti {
namespace {

/// Beside the library or the program that this code is in, in the folder of libraries next to a program's, and wherever
/// the loader looks.
std::vector<std::string> places() {
  std::vector<std::string> places;
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&prover), &here) != 0 && here.dli_fname != nullptr) {
    const std::filesystem::path folder = std::filesystem::path{here.dli_fname}.parent_path();
    if (!folder.empty()) places = {folder / proof_library, folder.parent_path() / library_folder / proof_library};
  }
  places.emplace_back(proof_library);
  return places;
}

const Prover& load() {
  std::vector<std::string> complaints;
  for (const std::string& place : places()) {
    void* const library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      complaints.emplace_back(dlerror());
      continue;
    }
    using Get = const Prover*();
    auto* const get = reinterpret_cast<Get*>(dlsym(library, "tutti_prover"));
    if (get != nullptr && get()->version == TUTTI_VERSION) return *get();
    complaints.push_back(fmt::format("{}: not of Tutti {}", place, TUTTI_VERSION));
  }
  throw Error(fmt::format("tutti: nothing can be proved without {}, which cannot be loaded: {}", proof_library,
                          fmt::join(complaints, "; ")));
}

}  // namespace

const Prover& prover() {
  static const Prover& loaded = load();
  return loaded;
}

}  // namespace tutti
