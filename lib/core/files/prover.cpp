#include "lib/core/files/prover.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstddef>
#include <filesystem>
#include <vector>

#include "prover_names.hpp"
#include "tutti/error.hpp"
#include "tutti/version.hpp"

namespace tutti {
namespace {

/// The folders where the loader looks for the libraries of this library or program. It would look there itself, but for
/// sanitizers, which stand between.
std::vector<std::string> folders_of_loader(const char* here) {
  void* self = dlopen(here, RTLD_LAZY | RTLD_NOLOAD);
  if (self == nullptr) self = dlopen(nullptr, RTLD_LAZY);  // the program
  Dl_serinfo size{};
  if (self == nullptr || dlinfo(self, RTLD_DI_SERINFOSIZE, &size) != 0) return {};
  std::vector<std::max_align_t> memory(size.dls_size / sizeof(std::max_align_t) + 1);
  auto* const found = reinterpret_cast<Dl_serinfo*>(memory.data());
  *found = size;
  if (dlinfo(self, RTLD_DI_SERINFO, found) != 0) return {};
  std::vector<std::string> folders;
  for (unsigned i = 0; i < found->dls_cnt; ++i)
    folders.emplace_back(found->dls_serpath[i].dls_name);
  return folders;
}

/// Beside the library or the program that this code is in, in the folder of libraries next to a program's, and wherever
/// the loader looks.
std::vector<std::string> places() {
  std::vector<std::string> places;
  Dl_info here{};
  if (dladdr(reinterpret_cast<const void*>(&prover), &here) == 0 || here.dli_fname == nullptr) return {proof_library};
  const std::filesystem::path folder = std::filesystem::path{here.dli_fname}.parent_path();
  if (!folder.empty()) places = {folder / proof_library, folder.parent_path() / library_folder / proof_library};
  for (const std::string& other : folders_of_loader(here.dli_fname))
    places.push_back(std::filesystem::path{other} / proof_library);
  return places;
}

const Prover& load() {
  std::vector<std::string> complaints;
  for (const std::string& place : places()) {
    void* const library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) {
      const std::string why = dlerror();
      std::error_code none;
      if (std::filesystem::exists(place, none)) complaints.push_back(why);
      continue;
    }
    using Get = const Prover*();
    auto* const get = reinterpret_cast<Get*>(dlsym(library, "tutti_prover"));
    if (get != nullptr && get()->version == TUTTI_VERSION) return *get();
    complaints.push_back(fmt::format("{}: not of Tutti {}", place, TUTTI_VERSION));
  }
  if (complaints.empty()) complaints.push_back(fmt::format("it is in none of {}", fmt::join(places(), ", ")));
  throw Error(fmt::format("tutti: nothing can be proved without {}, which cannot be loaded: {}", proof_library,
                          fmt::join(complaints, "; ")));
}

}  // namespace

const Prover& prover() {
  static const Prover& loaded = load();
  return loaded;
}

}  // namespace tutti
