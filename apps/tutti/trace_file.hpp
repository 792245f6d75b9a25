#pragma once
// The trace of one rank, as it is in its file (lib/watch/trace/format.hpp).

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "apps/options.hpp"
#include "lib/watch/trace/format.hpp"

namespace tutti::tool {

/// An operation of one rank: its two records as one.
struct TracedOperation {
  trace::BeginRecord begun{};
  std::int64_t turn = 0;  ///< 0: it never began to run.
  std::int64_t end = 0;   ///< 0: the trace ends before.
  bool has_failed = false;
  [[nodiscard]] bool is_over() const { return end != 0; }
  [[nodiscard]] bool is_pairwise() const { return (begun.flags & trace::BeginRecord::pairwise) != 0; }
};

struct TraceFile {
  std::string path;
  std::string host, tutti;  ///< Where it was written, and by which version.
  int rank = 0, ranks = 1;  ///< In MPI_COMM_WORLD.
  std::int64_t opened_at = 0, opened_at_utc = 0;
  std::vector<std::string> names;
  std::vector<trace::CommunicatorRecord> communicators;
  std::vector<trace::ClockRecord> clocks;
  std::vector<TracedOperation> operations;  ///< Number n is at n - 1.
  std::vector<trace::StepRecord> steps;
  std::vector<trace::WaitRecord> waits;
  std::vector<trace::WritingRecord> writings;
  std::uint64_t records = 0, dropped = 0;
  bool is_closed = false;  ///< The rank ended its trace, else it was killed.
  std::string damage;      ///< What stands behind the records; empty: nothing is wrong.
};

/// A file that is none, or damaged: the text names it, and the byte where that shows.
class TraceError : public apps::InputError {
 public:
  using apps::InputError::InputError;
};

/// Whether the blocks before a damaged one are taken.
enum class Salvage : std::uint8_t { no, yes };

/// Reads the bytes of a file. Every record has been checked: it refers to what is there, and times and numbers are
/// within the ranges that the arithmetic of readers needs. Throws TraceError if the bytes are no trace, or are damaged:
/// a part of a block, another checksum, a record that cannot be. With Salvage::yes whole blocks before the damage are
/// taken, and `damage` says what it is.
[[nodiscard]] TraceFile read_trace(const std::string& path, std::string_view bytes, Salvage salvage);

}  // namespace tutti::tool
