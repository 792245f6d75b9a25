#include "random_run.hpp"

#include <algorithm>
#include <random>
#include <utility>

#include "fault.hpp"

namespace tutti::checker {
namespace {

class RandomRun {
 public:
  RandomRun(std::uint64_t seed, const Graph& graph, Memory& memory, Values& values)
      : graph_(graph), memory_(memory), values_(values), random_(seed) {
    const auto steps = static_cast<std::size_t>(graph.steps());
    payloads_.resize(steps);
    waits_for_.resize(steps);
    waiting_.resize(steps);
    sides_.resize(steps);
    for (int step = 0; step < graph.steps(); ++step) {
      const std::vector<int>& after = graph.step(step).after;
      waits_for_[index(step)] = after.size();
      for (const int before : after)
        waiting_[index(step - graph.local(step) + before)].push_back(step);
      if (after.empty()) possible_.push_back({step, What::start});
    }
  }

  void run() {
    int completed = 0;
    while (!possible_.empty()) {
      std::swap(possible_[random_() % possible_.size()], possible_.back());
      const auto [step, what] = possible_.back();
      possible_.pop_back();
      if (what == What::start) start(step);
      if (what == What::read) read(step);
      if (what == What::complete) complete(step), ++completed;
    }
    if (completed < graph_.steps()) throw Fault{"the run gets stuck"};
  }

 private:
  enum class What { start, read, complete };
  struct Possible {
    int step;
    What what;
  };
  static std::size_t index(int step) { return static_cast<std::size_t>(step); }
  [[nodiscard]] bool receives(int step) const { return std::holds_alternative<Recv>(graph_.step(step).action); }
  [[nodiscard]] bool sends(int step) const { return std::holds_alternative<Send>(graph_.step(step).action); }

  void start(int step) {
    if (sends(step)) return possible_.push_back({step, What::read});
    if (!receives(step)) return possible_.push_back({step, What::complete});
    for_each_write(graph_.step(step).action, [&](const Region& region) {
      std::ranges::fill(memory_.at(graph_.rank(step), region), Value::garbage);
    });
    note_side(step);
  }

  void read(int send) {
    payloads_[index(send)] = payload_of(send, graph_, memory_);
    possible_.push_back({send, What::complete});
    note_side(graph_.partner(send));
  }

  /// Called by each side of a message; the second one lets it arrive.
  void note_side(int recv) {
    if (++sides_[index(recv)] == 2) possible_.push_back({recv, What::complete});
  }

  void complete(int step) {
    if (receives(step)) deliver(payloads_[index(graph_.partner(step))], step, graph_, memory_);
    compute(step, graph_, memory_, values_);
    for (const int next : waiting_[index(step)])
      if (--waits_for_[index(next)] == 0) possible_.push_back({next, What::start});
  }

  const Graph& graph_;
  Memory& memory_;
  Values& values_;
  std::mt19937_64 random_;
  std::vector<std::vector<Value>> payloads_;  ///< By send.
  std::vector<std::size_t> waits_for_;        ///< How many steps each still waits for.
  std::vector<std::vector<int>> waiting_;     ///< Which steps wait for each.
  std::vector<int> sides_;                    ///< By receive: it was posted, the message was read.
  std::vector<Possible> possible_;
};

}  // namespace

void run_at_random(std::uint64_t seed, const Graph& graph, Memory& memory, Values& values) {
  RandomRun{seed, graph, memory, values}.run();
}

std::string fault_at_random(std::uint64_t seed, const RankSchedules& schedules, const Expectation& expectation) try {
  const Graph graph{schedules};
  Values values{schedules};
  Memory memory{schedules, values};
  run_at_random(seed, graph, memory, values);
  require_results(schedules, expectation, memory, values);
  return {};
} catch (const Fault& fault) {
  return fault.text;
}

}  // namespace tutti::checker
