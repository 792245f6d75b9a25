#pragma once
// Traces of jobs that never ran, for tests of what is read from them.

#include <string>
#include <utility>
#include <vector>

#include "apps/tutti/trace_job.hpp"

namespace tutti::test {

/// The trace of one rank of a communicator of all ranks.
class RankTrace {
 public:
  RankTrace(int rank, int ranks, std::string host = "node1") {
    file_.path = host + "." + std::to_string(rank);
    file_.host = std::move(host);
    file_.rank = rank;
    file_.ranks = ranks;
    file_.names = {"", "allreduce", "ring", "fp32", "sum", "messages"};
    file_.is_closed = true;
    communicator(0, rank, ranks);
  }
  RankTrace& communicator(int context, int rank, int size, std::uint64_t members = 1, int earlier = 0) {
    file_.communicators.push_back({.number = static_cast<std::uint32_t>(file_.communicators.size()),
                                   .members = members,
                                   .context = context,
                                   .earlier = earlier,
                                   .rank = rank,
                                   .size = size});
    return *this;
  }
  RankTrace& clock(int reference, int leader, std::int64_t at, std::int64_t offset, std::int64_t round_trip = 10) {
    file_.clocks.push_back(
        {.reference = reference, .leader = leader, .at = at, .offset = offset, .round_trip = round_trip});
    return *this;
  }
  /// An allreduce; `end` 0: it is not over.
  RankTrace& allreduce(std::uint64_t sequence, std::int64_t begin, std::int64_t end, std::uint32_t communicator = 0) {
    file_.operations.push_back({.begun = {.communicator = communicator,
                                          .operation = file_.operations.size() + 1,
                                          .begin = begin,
                                          .sequence = sequence,
                                          .bytes = 400,
                                          .count = 100,
                                          .collective = 1,
                                          .algorithm = 2,
                                          .type = 3,
                                          .op = 4},
                                .turn = end == 0 ? 0 : begin,
                                .end = end});
    return *this;
  }
  /// A step of the latest operation.
  RankTrace& step(trace::Action action, int peer, std::int64_t begin, std::int64_t end, int message = 0) {
    const trace::BeginRecord& begun = file_.operations.back().begun;
    file_.steps.push_back({.action = action,
                           .way = trace::Way::shm,
                           .peer = peer,
                           .operation = begun.operation,
                           .begin = begin,
                           .end = end,
                           .bytes = 100,
                           .message = message,
                           .step = static_cast<std::int32_t>(file_.steps.size()),
                           .sequence = begun.sequence,
                           .accepted = begin});
    return *this;
  }
  RankTrace& wait(int peer, std::int64_t begin, std::int64_t end) {
    file_.waits.push_back({.peer = peer,
                           .operation = file_.operations.back().begun.operation,
                           .begin = begin,
                           .end = end,
                           .idle = end - begin});
    return *this;
  }
  [[nodiscard]] tool::TraceFile& file() { return file_; }

 private:
  tool::TraceFile file_;
};

template <class... Ranks>
tool::TracedJob job_of(Ranks... ranks) {
  std::vector<tool::TraceFile> files;
  (files.push_back(std::move(ranks.file())), ...);
  return tool::job_of(std::move(files));
}

/// An allreduce on two ranks, each of which sends to the other; rank 1 enters 500 ns late.
inline tool::TracedJob two_ranks() {
  using trace::Action;
  RankTrace a{0, 2}, b{1, 2};
  a.allreduce(7, 1000, 3000)
      .step(Action::send, 1, 1100, 1200)
      .step(Action::recv_reduce, 1, 1200, 2900)
      .wait(1, 1200, 2900);
  b.allreduce(7, 1500, 2950)
      .step(Action::send, 0, 1600, 1700)
      .step(Action::recv, 0, 1700, 2800)
      .step(Action::reduce, -1, 2800, 2900);
  b.wait(0, 2000, 2400);
  return job_of(a, b);
}

}  // namespace tutti::test
