#pragma once
// Schedules in files: those of all ranks of one number of ranks, in chunks, so that one file serves every count.
// docs/schedule-files.md describes the form for users.

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/schedule.hpp"

namespace tutti {

inline constexpr int schedule_version = 1;
/// Larger files, and files with more in them, are no schedules that anyone could run.
inline constexpr std::size_t longest_schedule_file = std::size_t{256} << 20;
inline constexpr int most_ranks_in_file = 4096;
inline constexpr std::int64_t most_chunks = 1 << 20, most_chunks_in_all = 1 << 26;

/// What a file says of itself.
struct ScheduleFile {
  std::string path{}, algorithm{}, title{}, source{};  ///< `source`: where the algorithm is from.
  Collective collective = Collective::allreduce;
  int ranks = 1;
  std::int64_t chunks = 1;  ///< Of the vector, or of each block where there is one per rank.
  Rank root{};
  // What the schedule is for; it is refused for other calls.
  bool is_commutative = false;   ///< Operands change places: the operation must be commutative.
  bool is_in_place = false;      ///< The input shares memory with the output; else the two are separate.
  std::vector<int> nodes{};      ///< The ranks of each node, one after the other; empty: wherever ranks are.
  std::int64_t least_bytes = 0;  ///< Of the larger buffer.
  std::int64_t most_bytes = std::numeric_limits<std::int64_t>::max();
  Bits bits = Bits::same;
  std::vector<Schedule> schedules{};  ///< By rank; their elements are chunks.
};

/// Reads the text of a file, whose schedules are not proved yet: regions, peers and steps may be any. `path` names it
/// in complaints. Throws ArgumentError that begins with "PATH:LINE:COLUMN: " and says what was found and what is
/// allowed.
[[nodiscard]] ScheduleFile read_schedule_file(std::string_view text, std::string_view path);

/// The node of each rank that the file is for, as in Problem; empty: wherever ranks are.
[[nodiscard]] std::vector<int> spread_of(const ScheduleFile& file);

/// The problem that the file's schedules solve, as one rank sees it, on `count` elements (as in Problem). Refers to no
/// part of the file.
[[nodiscard]] Problem problem_of(const ScheduleFile& file, Rank rank, Count count);

}  // namespace tutti
