#include "lib/watch/tracing.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <exception>
#include <limits>
#include <string_view>

#include "lib/core/communicator/objection.hpp"
#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"
#include "lib/watch/trace/clock.hpp"
#include "tutti/error.hpp"
#include "tutti/version.hpp"

namespace tutti::detail {
namespace {

using mpi::api;
using mpi::check;

/// Ranks may enter MPI_Finalize at different times; nothing but the drift of clocks is lost if one is later than that.
constexpr std::int64_t patience_at_the_end = 60'000'000'000;  // nanoseconds

std::int64_t utc() {
  constexpr std::int64_t second = 1'000'000'000;
  std::timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return time.tv_sec * second + time.tv_nsec;
}

trace::FileHeader header_of_this_process() {
  trace::FileHeader header;
  header.rank = mpi::rank_in(MPI_COMM_WORLD);
  header.ranks = mpi::ranks_in(MPI_COMM_WORLD);
  header.process = ::getpid();
  header.opened_at = trace::now();
  header.opened_at_utc = utc();
  std::string_view{TUTTI_VERSION}.copy(header.tutti.data(), header.tutti.size() - 1);
  ::gethostname(header.host.data(), header.host.size() - 1);
  return header;
}

}  // namespace

void Tracing::start(MPI_Comm comm, const TraceUse& use) {
  if (use.folder.empty()) return;
  open(comm, use);
  // Whether all ranks know the difference to one and the same clock.
  std::array<int, 2> least{offset_.reference, -offset_.reference};
  check(api.Allreduce(MPI_IN_PLACE, least.data(), 2, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  if (least[0] != -least[1] || least[0] < 0) compare_clocks(comm);
}

void Tracing::open(MPI_Comm comm, const TraceUse& use) {
  std::unique_ptr<trace::Writer> opened;
  std::string why;
  try {
    if (writer_ == nullptr) opened = std::make_unique<trace::Writer>(use.folder, header_of_this_process(), use.limit);
  } catch (const std::exception& error) {
    why = error.what();
  }
  std::string objection = first_objection(comm, mpi::rank_in(comm), why);
  // Older traces stay until all ranks know that all can write.
  try {
    if (objection.empty() && opened != nullptr) opened->begin();
  } catch (const std::exception& error) {
    why = error.what();
  }
  if (objection.empty()) objection = first_objection(comm, mpi::rank_in(comm), why);
  if (!objection.empty()) {
    if (opened != nullptr) opened->withdraw();
    // A rank may end the job next: not before all files are gone.
    check(api.Barrier(comm), "MPI_Barrier");
    throw ArgumentError(
        fmt::format("tutti::Communicator: environment variable TUTTI_TRACE is '{}', but {}; allowed: a folder in which "
                    "every rank can write a file",
                    use.folder, objection));
  }
  if (opened != nullptr) writer_ = std::move(opened);
}

void Tracing::compare_clocks(MPI_Comm comm) {
  mpi::UniqueComm node;  // a real one: those that are pretended share a clock
  check(api.Comm_split_type(comm, MPI_COMM_TYPE_SHARED, mpi::rank_in(comm), MPI_INFO_NULL, node.receive()),
        "MPI_Comm_split_type");
  comparisons_.emplace_back(comm, std::move(node), mpi::rank_in(MPI_COMM_WORLD), trace::now);
  offset_ = comparisons_.back().compare(offset_);
  record(offset_);
}

void Tracing::record(const ClockOffset& offset) {
  writer_->add(trace::ClockRecord{.reference = offset.reference,
                                  .leader = offset.leader,
                                  .at = offset.at,
                                  .offset = offset.offset,
                                  .round_trip = offset.round_trip});
}

void Tracing::finalize() noexcept {
  try {
    for (ClockComparison& comparison : comparisons_) {
      const ClockOffset found = comparison.compare_again(offset_, patience_at_the_end);
      if (found.reference < 0) continue;
      offset_ = found;
      record(found);
    }
  } catch (const std::exception& error) {
    std::fputs(fmt::format("tutti: the clocks of nodes were not compared at the end: {}\n", error.what()).c_str(),
               stderr);
  }
  comparisons_.clear();
  if (writer_ != nullptr) writer_->finish();
}

}  // namespace tutti::detail
