#pragma once
// The command line of tutti-bench.

#include <optional>
#include <string>
#include <vector>

#include "apps/bench/collective.hpp"
#include "apps/bench/memory.hpp"
#include "apps/bench/records.hpp"
#include "apps/options.hpp"

namespace tutti::bench {

/// The settings as given: names are those of the command line.
struct Settings {
  std::vector<std::string> collectives = {"allreduce"};
  Bytes min{8}, max{8 << 20};
  int factor = 2;
  bool has_range = false;    ///< --min, --max or --factor was given.
  bool has_max = false;      ///< --max was.
  std::vector<Bytes> sizes;  ///< Instead of the range; empty: the range counts.
  std::vector<int> ranks;    ///< One after the other; empty: all ranks of the job.
  std::vector<std::string> algorithms = {"auto"};
  std::string type = "fp32", op = "sum", accumulate = "none";
  int list = 0;  ///< Buffers of each call; 0: one, by the ordinary function.
  int root = 0;
  std::string transport = "auto", memory = "host", mode = "blocking", placement = "both";
  int iters = 0;  ///< 0: as many as fill a round.
  int warmup = 2, rounds = 9;
  bool is_checked = false, is_touched = false;  ///< Set by flags.
  bool is_overlapped = false, has_pairs = false;
  std::string calls = "tutti", compare = "none";
  std::string rules;      ///< As CommunicatorOptions::rules; empty: those of the job.
  std::string json, csv;  ///< Files; empty: not wanted.
  std::string fit;        ///< The file of rates of --fit, which measures pairs.
  [[nodiscard]] bool measures_pairs() const { return has_pairs || !fit.empty(); }
};

/// The options, bound to `settings`, which must outlive them.
[[nodiscard]] apps::Options options_for(Settings& settings);

/// The objects that the names stand for, for one collective.
struct Experiment {
  const BenchCollective* collective;
  const BenchMemory* memory;
  Mode mode;
  Type type;
  Op op;
  Rank root;
  std::vector<std::string> algorithms;  ///< All measured; an empty one: Tutti chooses.
  bool has_selected = false;            ///< Those that Tutti chooses at these sizes are measured, too.
  std::string transport;
  int list = 0;
  std::vector<Placement> placements;
  std::vector<Count> counts;
  std::optional<Type> accumulate{};  ///< As Options::accumulate; nothing where the collective does not reduce.
};

/// One for each collective. Throws apps::InputError if the values do not fit each other or the number of ranks.
[[nodiscard]] std::vector<Experiment> resolved(const Settings& settings, int ranks);

/// Counts of elements for the sizes least, least * factor, ... up to `most` bytes. A size that is no multiple of the
/// element is rounded down, to one element at least; no count comes twice. Needs 1 <= least <= most, element <= most,
/// factor >= 2.
[[nodiscard]] std::vector<Count> sweep(Bytes least, Bytes most, int factor, Bytes element);

/// The same for these sizes alone, smallest first.
[[nodiscard]] std::vector<Count> counts_of(std::vector<Bytes> sizes, Bytes element);

/// The mode of the calls: with --overlap, calls that would block are nonblocking.
[[nodiscard]] Mode mode_of(const Settings& settings);

/// Makes the transport that was asked for the one that communicators made from now on use; "auto" leaves that as it is.
void choose_transport(const Settings& settings);

/// The transport that was asked for; "auto": what TUTTI_TRANSPORT says, or "auto" if it says nothing.
[[nodiscard]] std::string transport_of(const Settings& settings);
[[nodiscard]] std::vector<Type> all_types();
/// "out", "in", "both".
[[nodiscard]] std::vector<Placement> placements_named(std::string_view name);

}  // namespace tutti::bench
