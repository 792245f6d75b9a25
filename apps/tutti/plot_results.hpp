#pragma once
// What tutti plot draws: the results of files of tutti-bench --json, those of one machine and of calls made in one way.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/json.hpp"

namespace tutti::tool {

/// The time of one side of a call, in microseconds: over all files that have it.
struct PlottedTime {
  double median = 0;
  std::optional<double> p10{}, p90{};  ///< Nothing where the files do not say, or if several have the call.
};

/// The MPI's call beside it.
struct PlottedPeer {
  std::string name;
  PlottedTime time{};
  double ratio = 1;                        ///< Its time over Tutti's.
  std::optional<double> lower{}, upper{};  ///< The middle half of the rounds; nothing where the files do not say.
  bool is_resolved = true;
};

/// A call by the algorithm that Tutti chose.
struct PlottedCall {
  std::string collective;
  int ranks = 0;
  bool in_place = false;
  std::int64_t bytes = 0;
  std::optional<std::int64_t> wrong{};
  PlottedTime time{};
  std::optional<PlottedPeer> peer{};
};

/// Ratios of which only these figures were kept.
struct PlottedMean {
  std::string collective, peer;
  int ranks = 0;
  double mean = 0, least = 0;
  std::optional<std::int64_t> least_bytes{};
};

/// A figure of each pair of ranks.
struct PlottedLinks {
  std::string figure, unit, source;       ///< "latency", "us"; the file.
  std::vector<int> nodes;                 ///< Of each rank.
  std::vector<std::vector<double>> rows;  ///< From each rank to each; 0 on the diagonal.
  struct Slow {
    int from = 0, to = 0;
  };
  std::vector<Slow> slow{};
};

/// Facts of the machine, without its name.
struct PlottedMachine {
  std::string tutti, mpi_version, started;
  int cores = 0;
  std::vector<std::string> commands;
  [[nodiscard]] bool is_touched() const;  ///< Whether all commands rewrote inputs.
};

struct Plotted {
  PlottedMachine machine;
  std::vector<PlottedCall> calls;  ///< By collective, ranks, placement and size.
  std::vector<PlottedMean> means;
  std::vector<PlottedLinks> links;
  std::vector<std::string> left_out;  ///< A sentence each: what is not drawn, and why.
  [[nodiscard]] std::vector<std::string> collectives() const;
  [[nodiscard]] std::vector<int> ranks() const;
};

/// A file of tutti-bench --json, read but not looked at.
struct BenchFile {
  std::string path;
  apps::Json content;
};

/// Throws apps::InputError if a file cannot be read, or is none of tutti-bench --json.
[[nodiscard]] Plotted plotted(const std::vector<BenchFile>& files);
[[nodiscard]] BenchFile read_bench_file(const std::string& path);
/// Parts of it, for files with "ratios" and with "pairs". Throw apps::JsonError.
[[nodiscard]] std::vector<PlottedMean> means_in(const BenchFile& file);
[[nodiscard]] std::vector<PlottedLinks> links_in(const BenchFile& file);

/// The calls as a file that can be drawn again: without names of hosts and files.
[[nodiscard]] std::string results_text(const Plotted& plotted);

}  // namespace tutti::tool
