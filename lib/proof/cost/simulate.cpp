#include "simulate.hpp"

#include <algorithm>
#include <cmath>
#include <queue>
#include <stdexcept>
#include <tuple>

#include "joined_schedules.hpp"
#include "node_links.hpp"

namespace tutti {
namespace {

constexpr double picoseconds = 1e6;  // in a microsecond

Time in_picoseconds(double rate, std::int64_t count) {
  const double time = std::round(rate * static_cast<double>(count) * picoseconds);
  constexpr double most = 9e15;  // so that a thousand of them can be added
  if (!(time >= 0 && time < most)) throw std::logic_error("simulation: a step takes longer than can be counted");
  return static_cast<Time>(time);
}

std::size_t index(int i) { return static_cast<std::size_t>(i); }

/// One run of a network.
class Run {
 public:
  Run(const JoinedSchedules& joined, const Rates& rates)
      : joined_(joined), rates_(rates), remaining_(joined.waits), links_(joined.node_of, rates.between.links) {}
  Simulation simulate(bool with_steps);

 private:
  using Node = JoinedSchedules::Node;
  using Kind = JoinedSchedules::Kind;
  /// A task that could start: a message, known by its send, or a computation. Less is earlier.
  struct Task {
    bool is_message = false;  ///< Computations go first: those that take no time may make more messages ready.
    Time ready = 0;
    int step = 0;
    int drawn_from = -1;  ///< The port that it waited for.
    bool operator>(const Task& other) const { return key() > other.key(); }
    [[nodiscard]] std::tuple<bool, Time, int> key() const { return {is_message, ready, step}; }
  };
  struct Event {
    Time time = 0;
    Task task;
    bool crosses = false;  ///< A message between nodes: done, unless its share of the links has changed since.
    bool operator>(const Event& other) const {
      return std::tuple{time, task.step} > std::tuple{other.time, other.task.step};
    }
  };
  template <class T>
  using Earliest = std::priority_queue<T, std::vector<T>, std::greater<>>;
  struct Port {
    bool is_busy = false;
    Earliest<Task> waiting{};
  };
  enum PortKind { sending, receiving, computing, kinds };
  static constexpr int nobody = -1;

  [[nodiscard]] const Node& node(int step) const { return joined_.nodes[index(step)]; }
  [[nodiscard]] int port(int step, PortKind kind) const { return kinds * node(step).rank + kind; }
  /// The ports that a task takes; the second may be nobody.
  [[nodiscard]] std::pair<int, int> ports_of(const Task& task) const {
    if (!task.is_message) return {port(task.step, computing), nobody};
    return {port(task.step, sending), port(node(task.step).partner, receiving)};
  }
  [[nodiscard]] Time duration_of(const Task& task) const;
  void free_to_start(int step);
  void complete(int step);
  void draw(int port);
  void start(const Task& task);
  void start_all();
  void finish(const Task& task);
  void share_links();
  [[nodiscard]] bool is_next_now() const { return !events_.empty() && events_.top().time == now_; }
  [[nodiscard]] int receiver(const Task& message) const { return node(node(message.step).partner).rank; }
  [[nodiscard]] bool crosses(const Task& task) const {
    return task.is_message && links_.join(node(task.step).rank, receiver(task));
  }
  [[nodiscard]] std::vector<std::vector<Interval>> by_rank() const;

  const JoinedSchedules& joined_;
  Rates rates_;
  std::vector<int> remaining_;  // how many steps each step still waits for
  std::vector<Port> ports_{index(kinds * joined_.ranks)};
  Earliest<Task> tasks_;
  Earliest<Event> events_;
  NodeLinks links_;
  std::vector<Task> crossing_{index(joined_.ranks)};  // messages between nodes, by sender
  std::vector<Interval> intervals_;
  Time now_ = 0;
  Time last_ = 0;  // when the last step was complete: later events may be outdated
  int completed_ = 0;
};

/// How long a task takes; a message between nodes, if it has a link for itself.
Time Run::duration_of(const Task& task) const {
  const Node& here = node(task.step);
  const std::int64_t elements = here.elements;
  if (!task.is_message) return in_picoseconds(here.kind == Kind::copy ? rates_.copied : rates_.reduced, elements);
  const bool is_far = crosses(task);
  return in_picoseconds(is_far ? rates_.between.message : rates_.message, 1) +
         in_picoseconds(is_far ? rates_.between.sent : rates_.sent, elements);
}

/// Nothing of this rank keeps the step from starting.
void Run::free_to_start(int step) {
  const Node& here = node(step);
  if (here.kind == Kind::reduce || here.kind == Kind::copy)
    tasks_.push({false, now_, step});
  else if (remaining_[index(here.partner)] == 0)
    tasks_.push({true, now_, here.kind == Kind::send ? step : here.partner});
}

void Run::complete(int step) {
  ++completed_;
  last_ = now_;
  if (!intervals_.empty()) intervals_[index(step)].end = static_cast<double>(now_) / picoseconds;
  for (const int follower : joined_.followers_of(step))
    if (--remaining_[index(follower)] == 0) free_to_start(follower);
}

/// The task that waited longest for a port may try again.
void Run::draw(int port) {
  Port& here = ports_[index(port)];
  if (here.is_busy || here.waiting.empty()) return;
  Task task = here.waiting.top();
  here.waiting.pop();
  task.drawn_from = port;
  tasks_.push(task);
}

/// Starts a task, or lets it wait for a port that it needs.
void Run::start(const Task& task) {
  const auto [first, second] = ports_of(task);
  for (const int port : {first, second})
    if (port != nobody && ports_[index(port)].is_busy) return ports_[index(port)].waiting.push(task);
  const double begin = static_cast<double>(now_) / picoseconds;
  if (!intervals_.empty() && node(task.step).kind != Kind::recv) {
    intervals_[index(task.step)].begin = begin;
    if (task.is_message) intervals_[index(node(task.step).partner)].begin = begin;
  }
  const Time duration = duration_of(task);
  if (!task.is_message && duration == 0) return complete(task.step);
  for (const int port : {first, second})
    if (port != nobody) ports_[index(port)].is_busy = true;
  const int rank = node(task.step).rank;
  if (!crosses(task) || duration == 0) return events_.push({now_ + duration, task});
  crossing_[index(rank)] = task;
  links_.enter(rank, receiver(task), duration);
}

void Run::start_all() {
  while (!tasks_.empty()) {
    const Task task = tasks_.top();
    tasks_.pop();
    start(task);
    if (task.drawn_from != nobody) draw(task.drawn_from);
  }
}

void Run::finish(const Task& task) {
  const auto [first, second] = ports_of(task);
  for (const int port : {first, second}) {
    if (port == nobody) continue;
    ports_[index(port)].is_busy = false;
    draw(port);
  }
  complete(task.step);
  if (!task.is_message) return;
  const int recv = node(task.step).partner;
  if (node(recv).elements > 0)
    tasks_.push({false, now_, recv});
  else
    complete(recv);
}

/// Says when the messages between nodes are done, as far as is known now.
void Run::share_links() {
  for (const auto& [sender, time] : links_.shared_anew(now_))
    events_.push({time, crossing_[index(sender)], true});
}

std::vector<std::vector<Interval>> Run::by_rank() const {
  std::vector<std::vector<Interval>> all;
  all.reserve(index(joined_.ranks));
  for (int rank = 0; rank < joined_.ranks; ++rank)
    all.emplace_back(intervals_.begin() + joined_.firsts[index(rank)], intervals_.begin() + joined_.end_of(rank));
  return all;
}

Simulation Run::simulate(bool with_steps) {
  if (with_steps) intervals_.resize(joined_.nodes.size());
  for (int step = 0; step < joined_.steps(); ++step) {
    if (remaining_[index(step)] == 0 && node(step).kind != Kind::recv) free_to_start(step);
  }
  start_all();
  share_links();
  while (!events_.empty()) {
    now_ = events_.top().time;
    while (is_next_now()) {
      const Event event = events_.top();
      events_.pop();
      if (!event.crosses || links_.has_left(node(event.task.step).rank, now_)) finish(event.task);
    }
    start_all();
    if (!is_next_now()) share_links();
  }
  if (completed_ != joined_.steps()) throw std::logic_error("simulation: ranks wait for each other");
  Simulation result{.time = static_cast<double>(last_) / picoseconds};
  if (with_steps) result.steps = by_rank();
  return result;
}

}  // namespace

Simulator::Simulator(std::span<const int> nodes) : joined_(std::make_unique<JoinedSchedules>()) {
  joined_->node_of.assign(nodes.begin(), nodes.end());
}
Simulator::~Simulator() = default;

void Simulator::add(const Schedule& schedule) { joined_->add(schedule); }

Simulation Simulator::run(const Rates& rates, bool with_steps) const {
  joined_->require_complete();
  if (!joined_->node_of.empty() && joined_->node_of.size() != index(joined_->ranks))
    throw std::logic_error("simulation: not a node for each rank");
  return Run{*joined_, rates}.simulate(with_steps);
}

}  // namespace tutti
