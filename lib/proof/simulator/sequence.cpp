#include "sequence.hpp"

#include <algorithm>

namespace tutti::simulator {

void Sequence::add(const Schedule& call) {
  if (is_begun_) {
    all_.steps.push_back({Copy{}, last_});
    last_ = {static_cast<int>(all_.steps.size()) - 1};
  }
  const int begin = static_cast<int>(all_.steps.size());
  std::map<Rank, int> to = to_, from = from_;
  std::vector<bool> is_last(call.steps.size(), true);
  for (Step step : call.steps) {
    if (auto* send = std::get_if<Send>(&step.action)) ++to_[send->to], send->message += to[send->to];
    if (auto* recv = std::get_if<Recv>(&step.action)) ++from_[recv->from], recv->message += from[recv->from];
    for (int& before : step.after) {
      is_last[static_cast<std::size_t>(before)] = false;
      before += begin;
    }
    if (step.after.empty() && is_begun_) step.after.push_back(begin - 1);
    all_.steps.push_back(std::move(step));
  }
  if (!is_last.empty()) last_.clear();
  for (std::size_t step = 0; step < is_last.size(); ++step)
    if (is_last[step]) last_.push_back(begin + static_cast<int>(step));
  all_.scratch = std::max(all_.scratch, call.scratch);
  is_begun_ = true;
}

}  // namespace tutti::simulator
