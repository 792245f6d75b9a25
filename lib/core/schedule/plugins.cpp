#include "lib/core/schedule/plugins.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <vector>

#include "tutti/error.hpp"
#include "tutti/plugin.hpp"

namespace tutti {
namespace {

/// All algorithms in one array, which never moves, so that others may read it while a library is loaded.
struct Registry {
  static constexpr std::size_t most = 1024;
  std::array<const Algorithm*, most> all{};
  std::atomic<std::size_t> count = 0;  ///< 0: nothing was loaded.
  std::size_t registered = 0;
  std::vector<void*> libraries{};
  std::mutex mutex{};
};

Registry& registry() {
  static auto& registry = *new Registry;  // never destroyed: calls may come after main
  return registry;
}

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
  throw ArgumentError(fmt::format("tutti: the library of algorithms '{}': {}", path, why));
}

void require_interface(const std::string& path, const AlgorithmLibrary& library) {
  const std::string_view its = library.version, own = TUTTI_VERSION;
  const auto minor = [](std::string_view version) { return version.substr(0, version.rfind('.')); };
  if (minor(its) != minor(own)) refuse(path, fmt::format("it was built for Tutti {}, and this is {}", its, own));
  const AlgorithmLibrary here{};
  if (library.interface != here.interface || library.algorithm_bytes != here.algorithm_bytes ||
      library.problem_bytes != here.problem_bytes || library.step_bytes != here.step_bytes)
    refuse(path, fmt::format("it was built with other headers than this Tutti {}", own));
}

void require_usable(const std::string& path, const Algorithm* algorithm, std::span<const Algorithm* const> others) {
  if (algorithm == nullptr || algorithm->name.empty() || static_cast<int>(algorithm->collective) >= collective_count)
    refuse(path, "it has an algorithm without a name, or of no collective");
  const auto of = fmt::format("{} '{}'", to_string(algorithm->collective), algorithm->name);
  if (algorithm->build == nullptr) refuse(path, fmt::format("{} has no function 'build'", of));
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  if (algorithm->name.find_first_not_of(letters) != std::string_view::npos || algorithm->name == "auto")
    refuse(path, fmt::format("the name of {} is not usable; allowed: letters, digits, _ - .", of));
  const auto is_same = [&](const Algorithm* other) {
    return other->collective == algorithm->collective && other->name == algorithm->name;
  };
  if (std::ranges::any_of(others, is_same)) refuse(path, fmt::format("there is already {}", of));
}

/// nullptr: it is loaded already.
const AlgorithmLibrary* opened(const std::string& path, Registry& registry) {
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) refuse(path, dlerror());
  if (std::ranges::count(registry.libraries, library) > 0) return nullptr;
  using Get = const AlgorithmLibrary*();
  auto* const get = reinterpret_cast<Get*>(dlsym(library, "tutti_algorithms"));
  if (get == nullptr) refuse(path, "it has no function tutti_algorithms(); needed: TUTTI_ALGORITHM_LIBRARY(...)");
  const AlgorithmLibrary* const found = get();
  require_interface(path, *found);
  registry.libraries.push_back(library);
  return found;
}

void load_one(const std::string& path) {
  const auto before = algorithms();
  Registry& its = registry();
  const std::lock_guard lock{its.mutex};
  const AlgorithmLibrary* const library = opened(path, its);
  if (library == nullptr) return;
  std::vector<const Algorithm*> all{before.begin(), before.end()};
  if (its.count > 0) all.assign(its.all.begin(), its.all.begin() + static_cast<std::ptrdiff_t>(its.count.load()));
  const std::size_t known = all.size();
  try {
    for (const Algorithm* algorithm : library->algorithms) {
      require_usable(path, algorithm, all);
      all.push_back(algorithm);
    }
    if (all.size() > Registry::most) refuse(path, fmt::format("there are more than {} algorithms", Registry::most));
  } catch (...) {
    its.libraries.pop_back();
    throw;
  }
  if (its.count == 0) its.registered = known;
  std::ranges::copy(all, its.all.begin());
  its.count = all.size();
}

}  // namespace

std::span<const Algorithm* const> with_loaded(std::span<const Algorithm* const> registered) {
  const Registry& its = registry();
  const std::size_t count = its.count;
  return count == 0 ? registered : std::span{its.all.data(), count};
}

bool is_loaded(const Algorithm& algorithm) {
  const Registry& its = registry();
  const auto loaded = std::span{its.all.data(), its.count.load()}.subspan(std::min(its.registered, its.count.load()));
  return std::ranges::count(loaded, &algorithm) > 0;
}

void load_algorithms(std::string_view libraries) {
  while (!libraries.empty()) {
    const std::size_t colon = std::min(libraries.find(':'), libraries.size());
    if (colon > 0) load_one(std::string{libraries.substr(0, colon)});
    libraries.remove_prefix(std::min(colon + 1, libraries.size()));
  }
}

void load_algorithms_in_environment() {
  if (const char* const libraries = std::getenv("TUTTI_ALGORITHMS")) load_algorithms(libraries);
}

}  // namespace tutti
