#pragma once
// The figures of a traced job: its collectives, and which ranks are late.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "apps/tutti/trace_job.hpp"

namespace tutti::tool {

/// All calls of a collective with one algorithm. Times are nanoseconds, of all ranks together unless it says otherwise.
struct CallFigures {
  std::string collective, algorithm;  ///< No algorithm: messages between pairs.
  std::uint64_t calls = 0;       ///< A collective counts once, whatever the number of its ranks; messages on each rank.
  std::uint64_t rank_calls = 0;  ///< Calls of ranks.
  std::uint64_t unfinished = 0, failed = 0;
  std::int64_t bytes = 0;
  std::int64_t total = 0, median = 0, most = 0;  ///< From the call until it was over; the latter two: of one rank.
  std::int64_t waited = 0;                       ///< The program waited, and nothing moved.
  std::map<int, std::int64_t> waited_for{};      ///< By rank in MPI_COMM_WORLD, or one of these two.
  static constexpr int a_device = -1, an_unknown_rank = -2;
};
/// The kinds of calls, ordered by their time, the longest first.
[[nodiscard]] std::vector<CallFigures> call_figures(const TracedJob& job);

/// When a rank entered collectives, beside the first rank that did. Only those of at least two ranks count, all of
/// which are in the trace.
struct RankFigures {
  int rank = 0;
  std::string host;
  std::uint64_t entered = 0, last = 0;  ///< Collectives; those that it was the last to enter.
  std::int64_t late = 0, latest = 0;    ///< Nanoseconds behind the first: the sum; the most.
  std::int64_t waited = 0;              ///< By the rank itself, for any.
  std::int64_t others_waited = 0;       ///< By other ranks, for messages of this one.
  [[nodiscard]] double mean_late() const {
    return entered == 0 ? 0 : static_cast<double>(late) / static_cast<double>(entered);
  }
  /// The latest entry, as a multiple of the mean; 0: it was never late.
  [[nodiscard]] double imbalance() const { return late == 0 ? 0 : static_cast<double>(latest) / mean_late(); }
};
/// The figures of each rank.
[[nodiscard]] std::vector<RankFigures> rank_figures(const TracedJob& job);

/// One collective, from the first rank that entered it until the last was done, as far as the trace has its ranks.
struct SlowCall {
  std::string communicator{}, collective{}, algorithm{};
  std::uint64_t operation = 0;  ///< Its number in the communicator.
  std::int64_t bytes = 0;       ///< On the first rank that entered.
  std::int64_t time = 0;        ///< Nanoseconds.
  int last = 0;                 ///< The rank in MPI_COMM_WORLD that entered last.
  std::int64_t late = 0;        ///< So much behind the first one.
};
/// The slowest ones first, at most so many.
[[nodiscard]] std::vector<SlowCall> slowest_calls(const TracedJob& job, std::size_t most);

/// Tables, for people, with so many of the slowest calls.
[[nodiscard]] std::string summary_text(const TracedJob& job, std::size_t slowest);
/// The summary in JSON, for programs: docs/trace.md describes it.
[[nodiscard]] std::string summary_json(const TracedJob& job, std::size_t slowest);

}  // namespace tutti::tool
