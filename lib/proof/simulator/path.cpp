#include "path.hpp"

#include <algorithm>
#include <cmath>

namespace tutti::simulator {
namespace {

using Kind = JoinedSchedules::Kind;

std::size_t index(int i) { return static_cast<std::size_t>(i); }

class Walk {
 public:
  Walk(const JoinedSchedules& joined, const Machine& machine, const Conditions& conditions, const Outcome& outcome)
      : joined_(joined), machine_(machine), conditions_(conditions), outcome_(outcome) {}

  std::vector<PathStep> from_end() {
    std::vector<PathStep> path;
    if (joined_.steps() == 0) return path;
    const auto last = std::max_element(outcome_.end.begin(), outcome_.end.end()) - outcome_.end.begin();
    for (int step = static_cast<int>(last); step >= 0;) {
      const int bound = binding_end(step);
      path.push_back(explained(step, bound));
      step = outcome_.cause[index(bound)];
      if (step < 0 && path.back().begin > 0) path.push_back(start_of(bound, path.back().begin));
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

 private:
  [[nodiscard]] const JoinedSchedules::Node& node(int step) const { return joined_.nodes[index(step)]; }
  [[nodiscard]] double bytes_of(int step) const {
    return static_cast<double>(node(step).elements) * static_cast<double>(conditions_.element);
  }
  [[nodiscard]] bool is_eager(int send) const { return bytes_of(send) <= static_cast<double>(machine_.rates().eager); }
  [[nodiscard]] Time ready(int step) const {
    const int cause = outcome_.cause[index(step)];
    if (cause >= 0) return outcome_.end[index(cause)];
    return conditions_.late.empty() ? 0 : conditions_.late[index(node(step).rank)];
  }

  /// The end of a message, or the computation itself, with which the step's time began.
  [[nodiscard]] int binding_end(int step) const {
    if (node(step).kind == Kind::reduce || node(step).kind == Kind::copy) return step;
    const bool is_send = node(step).kind == Kind::send;
    const int send = is_send ? step : node(step).partner;
    if (is_send && is_eager(send)) return send;
    return outcome_.is_held_by_receive[index(send)] ? node(send).partner : send;
  }
  [[nodiscard]] Time work_of(int step, double microseconds, Noisy what) const {
    return static_cast<Time>(
        std::llround(static_cast<double>(in_time(microseconds)) * noise_factor(conditions_, step, what)));
  }
  [[nodiscard]] Time reduction_of(int recv) const {
    return work_of(recv, machine_.rates().reduced * bytes_of(recv), Noisy::recv);
  }

  [[nodiscard]] PathStep explained(int step, int bound) const {
    PathStep found{step, ready(bound), outcome_.end[index(step)], {}};
    const auto part = [&](Part what) -> Time& { return found.parts[static_cast<std::size_t>(what)]; };
    const Rates& rates = machine_.rates();
    if (node(step).kind == Kind::reduce || node(step).kind == Kind::copy) {
      const double rate = node(step).kind == Kind::reduce ? rates.reduced : rates.copied;
      part(Part::work) = work_of(step, rate * bytes_of(step), Noisy::work);
    } else {
      explain_message(step, bound, found, part);
    }
    Time known = 0;
    for (const Time each : found.parts)
      known += each;
    part(Part::waiting) += found.end - found.begin - known;
    return found;
  }

  template <class PartOf>
  void explain_message(int step, int bound, const PathStep& found, const PartOf& part) const {
    const bool is_send = node(step).kind == Kind::send;
    const int send = is_send ? step : node(step).partner, recv = is_send ? node(step).partner : step;
    const Rates& rates = machine_.rates();
    if (bound == send) part(Part::overhead) += work_of(send, rates.overhead, Noisy::send);
    if (!is_send) part(Part::overhead) += work_of(recv, rates.overhead, Noisy::recv);
    if (!is_send) part(Part::work) += reduction_of(recv);
    const bool is_waited_for = !is_eager(send) || (!is_send && bound == send);
    if (!is_waited_for) return;
    if (!is_eager(send)) part(Part::handshake) = in_time(rates.handshake);
    Machine::Way way;
    machine_.find_way(node(send).rank, node(recv).rank, way);
    part(Part::latency) = static_cast<Time>(
        std::llround(static_cast<double>(way.latency) * noise_factor(conditions_, send, Noisy::latency)));
    if (std::isfinite(way.rate)) part(Part::transfer) = static_cast<Time>(std::llround(bytes_of(send) / way.rate));
    // Known to seven digits: the rest of the time, where nothing else could have taken it.
    const auto shared = static_cast<Time>(std::llround(outcome_.shared[index(send)]));
    Time rest = found.end - found.begin;
    for (const Time each : found.parts)
      rest -= each;
    part(Part::sharing) = std::abs(rest - shared) <= rest / 1'000'000 + 2 ? rest : shared;
  }

  /// The rank started late.
  [[nodiscard]] PathStep start_of(int step, Time begin) const {
    PathStep start{step, 0, begin, {}, true};
    start.parts[static_cast<std::size_t>(Part::waiting)] = begin;
    return start;
  }

  const JoinedSchedules& joined_;
  const Machine& machine_;
  const Conditions& conditions_;
  const Outcome& outcome_;
};

}  // namespace

std::vector<PathStep> critical_path(const JoinedSchedules& joined, const Machine& machine, const Conditions& conditions,
                                    const Outcome& outcome) {
  return Walk{joined, machine, conditions, outcome}.from_end();
}

Parts sum_of(const std::vector<PathStep>& path) {
  Parts sum{};
  for (const PathStep& step : path)
    for (std::size_t part = 0; part < sum.size(); ++part)
      sum[part] += step.parts[part];
  return sum;
}

}  // namespace tutti::simulator
