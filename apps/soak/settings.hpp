#pragma once
// The command line of tutti-soak.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "apps/options.hpp"
#include "apps/soak/calls.hpp"

namespace tutti::bench {
struct BenchMemory;
}

namespace tutti::soak {

/// The settings as given: names are those of the command line.
struct Settings {
  std::optional<double> seconds;      ///< Neither this nor `calls`: a minute.
  std::optional<std::int64_t> calls;  ///< Calls of each thread.
  std::optional<std::uint64_t> seed;  ///< Nothing: rank 0 takes the time.
  std::int64_t from_call = 0;
  int threads = 1;
  Bytes most_bytes{4 << 20};
  std::vector<std::string> collectives;  ///< Empty: all.
  std::vector<std::string> modes;        ///< Likewise.
  std::vector<std::string> memories = {"host", "tutti"};
  std::string transport = "auto", compare = "none";
  double report = 10;
  bool by_node = false, lists_calls = false;
  std::string json;  ///< A file; empty: not wanted.
  int hang_after = 120;
  std::int64_t spoil = -1, hang = -1;  ///< Numbers of calls, as in Faults.
  Bytes keep{0};                       ///< Memory that the last rank keeps after each round, with a descriptor.
};

/// The options, bound to `settings`, which must outlive them.
[[nodiscard]] apps::Options options_for(Settings& settings);

/// Throws apps::InputError if settings that are fine alone do not fit together.
void require_consistent(const Settings& settings);

[[nodiscard]] Repertoire repertoire_of(const Settings& settings);
[[nodiscard]] std::vector<const bench::BenchMemory*> memories_of(const Settings& settings);

/// The command that repeats calls from `from_call` on until `end`, on so many ranks: the one given, but for the options
/// that say which calls are made and what is reported. With the variables of the environment that Tutti reads.
/// `arguments`: the program's name first.
[[nodiscard]] std::string repeat_command(const std::vector<std::string>& arguments, std::uint64_t seed,
                                         std::int64_t from_call, std::int64_t end, int ranks);

}  // namespace tutti::soak
