#include <algorithm>
#include <map>
#include <utility>

#include "lib/core/schedule/passes.hpp"

namespace tutti {
namespace {

/// Schedules of parts of a problem, one after the other in one.
class Chunks {
 public:
  /// The part that begins at element `offset`.
  void append(Schedule part, Count offset) {
    const int first = static_cast<int>(all_.steps.size());
    offset_ = offset;
    for (Step& step : part.steps) {
      for (int& before : step.after)
        before += first;
      std::visit([this](auto& action) { move(action); }, step.action);
      all_.steps.push_back(std::move(step));
    }
    all_.scratch += part.scratch;
  }
  Schedule joined() { return std::move(all_); }

 private:
  void move(Region& region) const { region.offset += region.buffer == Buffer::scratch ? all_.scratch : offset_; }
  void move(Regions& regions) const {
    for (Region& region : regions)
      move(region);
  }
  void move(Send& send) {
    move(send.from);
    send.message = sent_[send.to]++;
  }
  void move(Recv& recv) {
    move(recv.into);
    recv.message = received_[recv.from]++;
  }
  void move(Copy& copy) const {
    move(copy.from);
    move(copy.into);
  }
  void move(Reduce& reduce) const {
    move(reduce.lhs);
    move(reduce.rhs);
    move(reduce.into);
  }

  Schedule all_;
  Count offset_;
  std::map<Rank, int> sent_, received_;
};

/// Parts use different elements and scratch: none waits for another.
Schedule chunked(const Algorithm& algorithm, const Problem& problem, Count chunk) {
  Chunks chunks;
  Problem part = problem;
  for (Count begin; begin < problem.count; begin += chunk) {
    part.count = std::min(chunk, problem.count - begin);
    chunks.append(schedule_of(algorithm, part), begin);
  }
  return chunks.joined();
}

}  // namespace

bool is_known_in_part(const Problem& problem) {
  return problem.uneven() && (problem.collective == Collective::gather || problem.collective == Collective::scatter ||
                              problem.collective == Collective::alltoall);
}

Schedule built(const Algorithm& algorithm, const Problem& problem, Count segment) {
  const bool has_elements = problem.count > Count{0} || problem.uneven();
  if (segment == Count{0} || !has_elements) return schedule_of(algorithm, problem);
  if (algorithm.segments == Segments::of_elements) return chunked(algorithm, problem, segment);
  const std::int64_t most = is_known_in_part(problem) ? std::max<std::int64_t>(1, most_segments / problem.size)
                                                      : std::numeric_limits<std::int64_t>::max();
  return segmented(schedule_of(algorithm, problem), problem.aliasing, segment, most);
}

}  // namespace tutti
