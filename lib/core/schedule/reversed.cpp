#include "tutti/reversed.hpp"

#include <map>
#include <stdexcept>
#include <utility>

namespace tutti {
namespace {

Region exchanged(const Region& region) {
  if (region.buffer == Buffer::scratch) return region;
  return region.in(region.buffer == Buffer::input ? Buffer::output : Buffer::input);
}

Regions exchanged(Regions regions) {
  for (Region& region : regions)
    region = exchanged(region);
  return regions;
}

/// Turns the actions of a rank round, which it has to be given from the last to the first.
class Reversal {
 public:
  Action operator()(const Send& send) { return Recv{send.to, exchanged(send.from), received_[send.to]++}; }
  Action operator()(const Recv& recv) {
    if (recv.then) refuse();
    return Send{recv.from, exchanged(recv.into), sent_[recv.from]++};
  }
  Action operator()(const Copy& copy) const { return Copy{exchanged(copy.into), exchanged(copy.from)}; }
  Action operator()(const Reduce&) const { refuse(); }

 private:
  [[noreturn]] static void refuse() { throw std::logic_error("reversed: a reduction has no opposite"); }
  std::map<Rank, int> sent_, received_;
};

}  // namespace

Schedule reversed(const Schedule& schedule) {
  const std::size_t steps = schedule.steps.size();
  Schedule backwards{std::vector<Step>(steps), schedule.scratch};
  const auto place = [steps](std::size_t step) { return steps - 1 - step; };
  Reversal reversal;
  for (std::size_t step = steps; step-- > 0;) {  // so each list of steps to wait for ascends
    const auto& [action, after] = schedule.steps[step];
    backwards.steps[place(step)].action = std::visit(reversal, action);
    for (const int before : after)
      backwards.steps[place(static_cast<std::size_t>(before))].after.push_back(static_cast<int>(place(step)));
  }
  return backwards;
}

Schedule reversed(const Algorithm& opposite, Problem problem) {
  problem.collective = opposite.collective;
  std::swap(problem.in, problem.out);
  if (const auto offset = problem.aliasing.offset()) problem.aliasing = Aliasing::around_output(*offset);
  return reversed(schedule_of(opposite, problem));
}

}  // namespace tutti
