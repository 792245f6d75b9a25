#pragma once
// The trace of this process: one file, from the first communicator that is traced to MPI_Finalize.

#include <mpi.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/core/communicator/settings.hpp"
#include "lib/watch/clocks.hpp"
#include "lib/watch/trace/writer.hpp"

namespace tutti::detail {

class Tracing {
 public:
  /// Collective over `comm`, all of whose ranks have these settings: ranks that have no file yet open one, and compare
  /// their clocks if need be. Nothing if the settings name no folder. Throws ArgumentError on all ranks, none of which
  /// then has a file that it did not have before, if one cannot write its file.
  void start(MPI_Comm comm, const TraceUse& use);
  /// nullptr: no communicator was traced yet.
  [[nodiscard]] trace::Writer* writer() const { return writer_.get(); }
  /// How many communicators of that context and those members were traced before.
  [[nodiscard]] int count_communicator(int context, std::uint64_t members) { return earlier_[{context, members}]++; }
  /// MPI_Finalize has begun, MPI still works: compares clocks once more and closes the file.
  void finalize() noexcept;

 private:
  void open(MPI_Comm comm, const TraceUse& use);
  void compare_clocks(MPI_Comm comm);
  void record(const ClockOffset& offset);

  std::unique_ptr<trace::Writer> writer_;
  ClockOffset offset_;
  std::vector<ClockComparison> comparisons_;
  std::map<std::pair<int, std::uint64_t>, int> earlier_;
};

}  // namespace tutti::detail
