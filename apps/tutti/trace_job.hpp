#pragma once
// The traces of all ranks of a job, on one clock, with the two ends of each message together.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "apps/tutti/trace_clocks.hpp"
#include "apps/tutti/trace_file.hpp"

namespace tutti::tool {

/// A communicator of the job.
struct TracedCommunicator {
  std::string name;  ///< Context and size, "0/8"; of those that have the same, all but the first: "0/8#2".
  int size = 1, nodes = 1;
  struct Member {
    int file = -1;  ///< The index of its trace.
    int node = 0;
  };
  std::map<int, Member> members{};  ///< By rank: those that have a trace, of a size that may be any number.
  std::size_t operations = 0;       ///< Collectives, on the rank that has most.
};

/// A step or an operation of one of the ranks: the index of the trace, and its own index there.
struct RecordIndex {
  std::uint32_t file = 0, index = 0;
};

/// The two ends of one message: steps.
struct Flow {
  RecordIndex send, recv;
};

/// One collective, on all ranks.
struct Instance {
  int communicator = 0;
  std::uint64_t sequence = 0;
  bool is_program = false;             ///< In a stream, without the host: numbered for itself.
  std::vector<RecordIndex> entries{};  ///< Their operations, one for each rank that has it.
};

struct TracedJob {
  std::vector<TraceFile> files;  ///< By rank.
  std::vector<ClockLine> clocks;
  std::vector<TracedCommunicator> communicators;
  std::vector<std::vector<int>> communicator_of;  ///< By trace and number there: the index in `communicators`.
  std::vector<Flow> flows;
  std::uint64_t unmatched = 0;  ///< Messages of which one end alone is there.
  std::vector<Instance> instances;
  std::int64_t first = 0, last = 0;  ///< The first and the last time.
  std::int64_t uncertainty = 0;      ///< By so much clocks of different nodes may differ still; nanoseconds.
  int clock_count = 1;               ///< How many different clocks there are.
  std::vector<std::string> notes{};  ///< What is missing, or not certain.

  [[nodiscard]] std::int64_t time(std::uint32_t file, std::int64_t own) const { return clocks[file].at(own); }
  [[nodiscard]] const TracedCommunicator& communicator(std::uint32_t file, std::uint64_t operation) const;
  /// The trace of a rank of the operation's communicator; -1: there is none.
  [[nodiscard]] int file_of(std::uint32_t file, std::uint64_t operation, int peer) const;
  /// Its rank in MPI_COMM_WORLD; -1: not known.
  [[nodiscard]] int world_rank(std::uint32_t file, std::uint64_t operation, int peer) const;
};

/// Reads all traces in a folder. Throws InputError if there is none, or if they are of several runs; TraceError as
/// read_trace().
[[nodiscard]] TracedJob read_job(const std::string& folder, Salvage salvage);
/// The job of traces that were read.
[[nodiscard]] TracedJob job_of(std::vector<TraceFile> files);

}  // namespace tutti::tool
