#include "simulate.hpp"

#include <cmath>
#include <functional>
#include <queue>
#include <stdexcept>
#include <tuple>

#include "flows.hpp"
#include "processors.hpp"

namespace tutti::simulator {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

std::vector<double> rates_of(const std::vector<Link>& links) {
  std::vector<double> rates;
  rates.reserve(links.size());
  for (const Link& link : links)
    rates.push_back(link.rate);
  return rates;
}

class Run {
 public:
  Run(const JoinedSchedules& joined, const Machine& machine, const Conditions& conditions,
      const std::function<void()>& look);
  Outcome simulate();

 private:
  using Kind = JoinedSchedules::Kind;
  /// What comes to pass at an instant.
  enum class What : std::uint8_t {
    start,   ///< A rank; `step` is the rank.
    worked,  ///< The processor has done what a step asked for.
    flow,    ///< The latency of a message, known by its send, is over.
    arrive,  ///< The receiver takes it.
  };
  struct Event {
    Time time;
    int step;
    What what;
    bool operator>(const Event& other) const {
      return std::tuple{time, step, what} > std::tuple{other.time, other.step, other.what};
    }
  };
  /// Of a send: it is handed over. Of a receive: it is ready, and its message is there.
  enum Flag : std::uint8_t { posted = 1, arrived = 2 };

  [[nodiscard]] const JoinedSchedules::Node& node(int step) const { return joined_.nodes[index(step)]; }
  [[nodiscard]] double bytes_of(int step) const {
    return static_cast<double>(node(step).elements) * static_cast<double>(conditions_.element);
  }
  [[nodiscard]] bool is_eager(int send) const { return bytes_of(send) <= static_cast<double>(rates_.eager); }
  [[nodiscard]] Time lengthened(Time time, int step, Noisy what) const {
    return static_cast<Time>(std::llround(static_cast<double>(time) * noise_factor(conditions_, step, what)));
  }
  void handle(const Event& event);
  void ready(int step);
  void work(int step, Time duration, Noisy what);
  void worked(int step);
  void posted_send(int send);
  void posted_recv(int recv);
  void leave(int send, Time after);
  void begin_flow(int send);
  void end_flow();
  void is_there(int send);
  void arrive(int send);
  void receive(int recv);
  void complete(int step);
  void start(int rank);
  void start_ready();

  const JoinedSchedules& joined_;
  const Machine& machine_;
  const Conditions& conditions_;
  const Rates& rates_;
  const Time overhead_, gap_, handshake_;
  Pulse pulse_;
  Flows flows_;
  std::vector<int> remaining_;
  std::vector<std::uint8_t> flags_;
  std::vector<Time> left_at_, arrived_at_;  // the last message of each rank
  Processors processors_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<int> ready_;
  Machine::Way way_;
  Outcome outcome_;
  Time now_ = 0;
  int completed_ = 0;
};

Run::Run(const JoinedSchedules& joined, const Machine& machine, const Conditions& conditions,
         const std::function<void()>& look)
    : joined_(joined),
      machine_(machine),
      conditions_(conditions),
      rates_(machine.rates()),
      overhead_(in_time(rates_.overhead)),
      gap_(in_time(rates_.gap)),
      handshake_(in_time(rates_.handshake)),
      pulse_(look),
      flows_(rates_of(machine.links()), &pulse_),
      remaining_(joined.waits),
      flags_(joined.nodes.size()),
      left_at_(index(joined.ranks), -gap_),
      arrived_at_(index(joined.ranks), -gap_),
      processors_(joined.ranks) {
  outcome_.end.resize(joined.nodes.size());
  outcome_.cause.assign(joined.nodes.size(), -1);
  outcome_.shared.resize(joined.nodes.size());
  outcome_.is_held_by_receive.resize(joined.nodes.size());
  outcome_.carried.resize(machine.links().size());
  for (int rank = 0; rank < joined.ranks; ++rank)
    events_.push({conditions.late.empty() ? 0 : conditions.late[index(rank)], rank, What::start});
}

/// All that the step waits for is complete.
void Run::ready(int step) {
  switch (node(step).kind) {
    case Kind::send:
      return work(step, overhead_, Noisy::send);
    case Kind::recv:
      return posted_recv(step);
    case Kind::reduce:
      return work(step, in_time(rates_.reduced, bytes_of(step)), Noisy::work);
    case Kind::copy:
      return work(step, in_time(rates_.copied, bytes_of(step)), Noisy::work);
  }
}

void Run::work(int step, Time duration, Noisy what) {
  if (duration == 0) return worked(step);
  const Time time = lengthened(duration, step, what);
  if (processors_.begins(node(step).rank, {step, time})) events_.push({now_ + time, step, What::worked});
}

void Run::worked(int step) { node(step).kind == Kind::send ? posted_send(step) : complete(step); }

void Run::posted_send(int send) {
  flags_[index(send)] |= posted;
  if (is_eager(send)) {
    complete(send);
    leave(send, 0);
  } else if ((flags_[index(node(send).partner)] & posted) != 0) {
    leave(send, handshake_);
  }
}

void Run::posted_recv(int recv) {
  flags_[index(recv)] |= posted;
  const int send = node(recv).partner;
  const bool is_there = (flags_[index(recv)] & arrived) != 0,
             is_offered = !is_eager(send) && (flags_[index(send)] & posted) != 0;
  outcome_.is_held_by_receive[index(send)] = is_there || is_offered;
  if (is_there) receive(recv);
  if (is_offered) leave(send, handshake_);
}

/// The message may leave so much later, unless an earlier one left a short while before.
void Run::leave(int send, Time after) {
  Time& last = left_at_[index(node(send).rank)];
  last = gap_ > 0 ? std::max(now_ + after, last + gap_) : now_ + after;
  machine_.find_way(node(send).rank, node(node(send).partner).rank, way_);
  for (const int link : way_.links)
    outcome_.carried[index(link)] += bytes_of(send);
  events_.push({last + lengthened(way_.latency, send, Noisy::latency), send, What::flow});
}

void Run::begin_flow(int send) {
  machine_.find_way(node(send).rank, node(node(send).partner).rank, way_);
  if (bytes_of(send) == 0 || !std::isfinite(way_.rate)) return is_there(send);
  constexpr double microsecond = 1e6;
  const bool is_weighted = conditions_.shares_by_latency && way_.latency > 0;
  const double weight = is_weighted ? microsecond / static_cast<double>(way_.latency) : 1;
  flows_.begin(send, way_.links, bytes_of(send), weight, now_);
}

void Run::end_flow() {
  const auto [send, began, alone] = flows_.end_next();
  const auto crossing = static_cast<double>(now_ - began);
  outcome_.shared[index(send)] = static_cast<float>(std::max(0.0, crossing - alone));
  outcome_.alone += alone, outcome_.crossing += crossing;
  is_there(send);
}

/// The last byte is there; the receiver takes messages `gap` apart.
void Run::is_there(int send) {
  Time& last = arrived_at_[index(node(node(send).partner).rank)];
  const Time time = gap_ > 0 ? std::max(now_, last + gap_) : now_;
  last = time;
  if (time > now_)
    events_.push({time, send, What::arrive});
  else
    arrive(send);
}

void Run::arrive(int send) {
  const int recv = node(send).partner;
  if (!is_eager(send)) complete(send);
  flags_[index(recv)] |= arrived;
  if ((flags_[index(recv)] & posted) != 0) receive(recv);
}

/// The message is there, and waited for.
void Run::receive(int recv) { work(recv, overhead_ + in_time(rates_.reduced, bytes_of(recv)), Noisy::recv); }

void Run::complete(int step) {
  ++completed_;
  outcome_.end[index(step)] = outcome_.time = now_;
  for (const int follower : joined_.followers_of(step)) {
    if (--remaining_[index(follower)] > 0) continue;
    outcome_.cause[index(follower)] = step;
    ready_.push_back(follower);
  }
}

void Run::start(int rank) {
  for (int step = joined_.firsts[index(rank)]; step < joined_.end_of(rank); ++step)
    if (joined_.waits[index(step)] == 0) ready_.push_back(step);
}

void Run::handle(const Event& event) {
  switch (event.what) {
    case What::start:
      return start(event.step);
    case What::worked:
      worked(event.step);
      if (const auto next = processors_.next(node(event.step).rank))
        events_.push({now_ + next->duration, next->step, What::worked});
      return;
    case What::flow:
      return begin_flow(event.step);
    case What::arrive:
      return arrive(event.step);
  }
}

/// Steps that became ready, in the order in which they did; they may make others ready.
void Run::start_ready() {
  std::size_t next = 0;
  while (next < ready_.size())  // which grows
    ready(ready_[next++]);
  ready_.clear();
}

Outcome Run::simulate() {
  constexpr Time longest = Flows::never / 2;
  const auto next_event = [&] { return events_.empty() ? Flows::never : events_.top().time; };
  while (true) {
    now_ = std::min(next_event(), flows_.next());
    if (now_ == Flows::never) break;
    if (now_ > longest) throw std::logic_error("simulation: the call takes longer than can be counted");
    while (true) {
      if (next_event() == now_) {
        const Event event = events_.top();
        events_.pop();
        pulse_.beat();
        handle(event);
      } else if (flows_.next() == now_) {
        end_flow();
      } else {
        break;
      }
      start_ready();
    }
    flows_.share(now_);
  }
  if (completed_ != joined_.steps()) throw std::logic_error("simulation: ranks wait for each other");
  return std::move(outcome_);
}

}  // namespace

Outcome simulate(const JoinedSchedules& joined, const Machine& machine, const Conditions& conditions,
                 const std::function<void()>& look) {
  joined.require_complete();
  if (machine.ranks() != joined.ranks) throw std::logic_error("simulation: not a place for each rank");
  return Run{joined, machine, conditions, look}.simulate();
}

}  // namespace tutti::simulator
