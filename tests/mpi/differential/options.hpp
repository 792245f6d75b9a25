#pragma once
// The command line.

#include <cstdint>
#include <optional>
#include <string>

namespace tutti::differential {

struct Options {
  std::uint64_t seed = 1;
  std::int64_t calls = 1000;      ///< Of all threads together, on each rank.
  std::optional<double> seconds;  ///< Instead of `calls`.
  /// Steps to run, first and last; instead of both.
  std::optional<std::int64_t> only_first, only_last;
  int threads = 1;
  std::string transport;  ///< As CommunicatorOptions take it, or "random".
  std::int64_t max_bytes = std::int64_t{1} << 22;
  bool on_devices = false;  ///< Buffers may be on GPUs.
  int hang_after = 120;     ///< Seconds.
  // Faults on the last rank, so that tests can see that they are found. Negative: none.
  std::int64_t spoil = -1;  ///< In this step a byte of a result is changed.
  std::int64_t hang = -1;   ///< Before this step it stops.
};

/// Throws std::invalid_argument that says what is wrong and what is allowed.
[[nodiscard]] Options read_options(int argc, char** argv);
[[nodiscard]] std::string help_text();
/// The command that repeats one step: "TUTTI_NODES=0,0,1 mpirun -n 3 differential_test --seed 1 ... --only 7".
[[nodiscard]] std::string replay_command(const Options& options, std::int64_t step, int ranks);

}  // namespace tutti::differential
