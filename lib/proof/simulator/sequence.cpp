#include "sequence.hpp"

#include <algorithm>
#include <map>

namespace tutti::simulator {
namespace {

/// How many messages there are with each peer.
struct Messages {
  std::map<Rank, int> to, from;
};

Messages messages_of(const Schedule& schedule) {
  Messages messages;
  for (const Step& step : schedule.steps) {
    if (const auto* send = std::get_if<Send>(&step.action)) ++messages.to[send->to];
    if (const auto* recv = std::get_if<Recv>(&step.action)) ++messages.from[recv->from];
  }
  return messages;
}

/// The steps that no other step waits for.
std::vector<int> last_steps(const Schedule& schedule) {
  std::vector<bool> is_last(schedule.steps.size(), true);
  for (const Step& step : schedule.steps)
    for (const int before : step.after)
      is_last[static_cast<std::size_t>(before)] = false;
  std::vector<int> last;
  for (std::size_t step = 0; step < is_last.size(); ++step)
    if (is_last[step]) last.push_back(static_cast<int>(step));
  return last;
}

}  // namespace

Schedule followed_by(Schedule first, const Schedule& second) {
  Messages earlier = messages_of(first);
  const int border = static_cast<int>(first.steps.size());
  first.steps.push_back({Copy{}, last_steps(first)});
  for (Step step : second.steps) {
    if (auto* send = std::get_if<Send>(&step.action)) send->message += earlier.to[send->to];
    if (auto* recv = std::get_if<Recv>(&step.action)) recv->message += earlier.from[recv->from];
    for (int& before : step.after)
      before += border + 1;
    if (step.after.empty()) step.after.push_back(border);
    first.steps.push_back(std::move(step));
  }
  first.scratch = std::max(first.scratch, second.scratch);
  return first;
}

}  // namespace tutti::simulator
