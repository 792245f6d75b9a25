#include "lib/runtime/settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

#include "lib/mpi/check.hpp"

namespace tutti {
namespace {

void read_number(const char* name, std::int64_t most, std::int64_t& value) {
  const char* text = std::getenv(name);
  if (text == nullptr) return;
  const std::string_view given{text};
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(given.data(), given.data() + given.size(), number);
  if (error != std::errc{} || end != given.data() + given.size() || number < 1 || number > most)
    throw ArgumentError(fmt::format("environment variable {} is '{}'; allowed: 1 to {}", name, given, most));
  value = number;
}

const Algorithm* read_algorithm() {
  const char* text = std::getenv("TUTTI_ALGORITHM");
  if (text == nullptr || *text == '\0') return nullptr;
  std::string_view name{text};
  constexpr std::string_view prefix = "allreduce=";
  if (name.starts_with(prefix)) name.remove_prefix(prefix.size());
  if (const Algorithm* algorithm = find_algorithm(Collective::allreduce, name)) return algorithm;
  throw ArgumentError(fmt::format("environment variable TUTTI_ALGORITHM is '{}'; allowed for allreduce: {}", text,
                                  algorithm_names(Collective::allreduce)));
}

Settings read_environment() {
  Settings settings;
  settings.algorithm = read_algorithm();
  read_number("TUTTI_MESSAGE_LIMIT", std::numeric_limits<int>::max(), settings.message_limit);
  read_number("TUTTI_PLAN_CACHE", 65536, settings.plan_cache);
  return settings;
}

/// What rank 0 sends: its settings, or why it has none.
struct Announcement {
  std::int64_t message_limit = 0, plan_cache = 0;
  std::int64_t algorithm = -1;  ///< Index in the registry.
  std::array<char, 512> refusal{};
};

Announcement announce() {
  Announcement said;
  try {
    const Settings settings = read_environment();
    said.message_limit = settings.message_limit;
    said.plan_cache = settings.plan_cache;
    const auto all = algorithms();
    if (settings.algorithm != nullptr) said.algorithm = std::ranges::find(all, settings.algorithm) - all.begin();
  } catch (const ArgumentError& error) {
    const std::string_view why{error.what()};
    std::copy_n(why.begin(), std::min(why.size(), said.refusal.size() - 1), said.refusal.begin());
  }
  return said;
}

}  // namespace

Settings agree_on_settings(MPI_Comm comm) {
  int rank = 0;
  mpi::check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  Announcement said;
  if (rank == 0) said = announce();
  mpi::check(MPI_Bcast(&said, sizeof said, MPI_BYTE, 0, comm), "MPI_Bcast");
  if (said.refusal[0] != '\0') throw ArgumentError(said.refusal.data());
  Settings settings;
  settings.message_limit = said.message_limit;
  settings.plan_cache = said.plan_cache;
  if (said.algorithm >= 0) settings.algorithm = algorithms()[static_cast<std::size_t>(said.algorithm)];
  return settings;
}

}  // namespace tutti
