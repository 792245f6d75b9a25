#pragma once
// The results of measurements, many of them in few numbers, and both as JSON and CSV.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "apps/bench/collective.hpp"
#include "apps/bench/machine.hpp"
#include "apps/bench/overlap.hpp"
#include "apps/bench/statistics.hpp"
#include "apps/json.hpp"

namespace tutti::bench {

/// The call made through another library.
struct Peer {
  std::string name, mode;
  std::string algorithm{};  ///< If it is Tutti by other rules.
  Spread time_us;
  std::vector<double> rounds_us{};  ///< The time of each round.
  Ratio ratio{};                    ///< Its time over ours: above 1, Tutti is faster.
  std::optional<Overlap> overlap{};
};

/// Asked of the CUDA driver by a call.
struct DriverWork {
  double calls = 0;  ///< But for looks at events, and for changes of the context.
  double kernels = 0, copies = 0;
  double synchronisations = 0;  ///< Calls in which the host may wait for a device.
};

/// What a call needs beside time where buffers are the driver's: means over a few calls, each of the rank that has
/// most.
struct DeviceWork {
  double fetched_bytes = 0, stored_bytes = 0;  ///< Moved from a device to the host, and from the host to a device.
  std::optional<DriverWork> driver;            ///< Nothing if the driver does not count.
  /// Bytes on devices that all ranks read and write, as a multiple of the least number; nothing if that is 0, or if the
  /// driver does not count.
  std::optional<double> traffic_share;
};

/// One collective at one size. Times are per call, of the slowest rank, over the rounds.
struct Record {
  std::string collective, algorithm, transport, memory, mode;
  bool is_auto = false;    ///< The call left the choice of the algorithm to Tutti.
  bool is_chosen = false;  ///< It is the algorithm that Tutti chooses at this size, or would have.
  int ranks = 0, nodes = 0;
  std::int64_t bytes = 0, count = 0;
  int list = 0;             ///< So many buffers of that size; 0: one, by the ordinary function.
  std::string type, op;     ///< "none" where the collective has none.
  std::optional<int> root;  ///< Nothing where the collective has none.
  Placement placement = Placement::out_of_place;
  int calls = 0, rounds = 0;  ///< Calls in each round.
  Spread time_us;
  std::vector<double> rounds_us{};    ///< The time of each round.
  std::optional<double> load{};       ///< The share of the processors that other processes took; nothing: unknown.
  double algbw = 0, busbw = 0;        ///< GB/s (1e9) at the median.
  std::optional<std::int64_t> wrong;  ///< Elements over all ranks; nothing if not checked.
  std::optional<Peer> peer;
  std::optional<Overlap> overlap{};  ///< The times of the record are then those of the call alone.
  std::optional<DeviceWork> device;  ///< Nothing if the buffers are ordinary or Tutti memory.
};

/// One collective on so many ranks with one algorithm, or with those that Tutti chose ("auto"), over all sizes.
struct Summary {
  int ranks = 0;
  std::string collective{}, algorithm{};
  std::optional<double> out_of_place{}, in_place{};  ///< Geometric means of the ratios; nothing if none was compared.
  int ratios = 0, unresolved = 0;                    ///< Ratios in these means, and how many are not resolved.
  std::optional<std::int64_t> wrong{};               ///< Elements in all; nothing if none were checked.
};

/// In the order in which collectives and algorithms first come.
[[nodiscard]] std::vector<Summary> summarised(std::span<const Record> records);

// ---- As JSON and CSV

/// Parts of such files.
[[nodiscard]] apps::Json to_json(const Spread& spread);
/// The members "ratio", "ratio_middle_half", "resolved" and "doubts".
[[nodiscard]] apps::Json to_json(const Ratio& ratio);
[[nodiscard]] apps::Json to_json(const Machine& machine);
/// The text of a file. Names of files and hosts and the environment need not be UTF-8, but JSON has to be: other bytes
/// become U+FFFD.
[[nodiscard]] std::string to_text(const apps::Json& json);

[[nodiscard]] apps::Json to_json(const Record& record);  ///< null: not checked, not compared, or not applicable.
[[nodiscard]] apps::Json to_json(const Summary& summary);

/// A header line, then a line for each record. Empty fields: not checked, not compared.
[[nodiscard]] std::string to_csv(std::span<const Record> records);

}  // namespace tutti::bench
