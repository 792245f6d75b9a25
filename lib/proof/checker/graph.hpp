#pragma once
// The order in which events have to happen, over all ranks. Two events a step: it starts, it completes.

#include <vector>

#include "fault.hpp"
#include "rank_schedules.hpp"

namespace tutti::checker {

/// The flow control of a transport: the events that a message waits for. Each kind includes the ones before.
enum class Flow {
  eager,       ///< Nothing: a send completes by itself.
  rendezvous,  ///< A send completes only once its message was received.
  one_credit,  ///< Messages of a pair are transferred one at a time, in the order of their numbers.
};
[[nodiscard]] std::string_view to_string(Flow flow);

/// All events in an order that keeps every edge or, if there is none, a cycle: each event waits for the next.
struct Ordering {
  std::vector<int> events;
  std::vector<int> cycle;
};

/// The steps of all ranks, numbered through, with each send joined to its receive. Edges, from the event that has to
/// come first:
///
///     start(i)        -> complete(i)       of every step
///     complete(j)     -> start(i)          if i waits for j
///     start(send)     -> complete(recv)
///     complete(recv)  -> complete(send)    from rendezvous on
///     complete(recv)  -> start(next send), start(next recv) of the pair    under one credit
///
/// Rendezvous is often written start(recv) -> complete(send). That has the same cycles, as only the starts of the two
/// lead to complete(recv), and both come before complete(send) anyway; but in an order that keeps the edge above, a
/// message may be copied straight from the sender's buffer when it is received.
class Graph {
 public:
  static constexpr int nobody = -1;

  /// Refutes schedules whose messages do not match: numbers that do not count up, a message that is sent but not
  /// received (or the other way round), different counts. The schedules must have their form and outlive the graph.
  explicit Graph(const RankSchedules& schedules);

  [[nodiscard]] int steps() const { return static_cast<int>(nodes_.size()); }
  [[nodiscard]] Rank rank(int step) const { return Rank{at(step).rank}; }
  [[nodiscard]] const Step& step(int step) const { return *at(step).step; }
  /// The number of the step on its own rank.
  [[nodiscard]] int local(int step) const { return step - at(step).first; }
  /// The receive of a send and the send of a receive; nobody for other steps.
  [[nodiscard]] int partner(int step) const { return at(step).partner; }
  /// "rank 3, step 7 (recv scratch[0..4) from 2)"
  [[nodiscard]] std::string describe(int step) const;
  [[nodiscard]] Fault::Position position(int step) const { return {rank(step), local(step)}; }
  /// Throws the fault of a step: "rank 3, step 7 (recv scratch[0..4) from 2): WHY".
  [[noreturn]] void refute(int step, std::string_view why) const;

  [[nodiscard]] static int start(int step) { return 2 * step; }
  [[nodiscard]] static int completion(int step) { return 2 * step + 1; }
  [[nodiscard]] static int step_of(int event) { return event / 2; }
  [[nodiscard]] static bool is_start(int event) { return event % 2 == 0; }

  /// The k-th event that `event` waits for, from 0; nobody if there are not that many.
  [[nodiscard]] int predecessor(int event, std::size_t k, Flow flow) const;
  [[nodiscard]] Ordering order(Flow flow) const;

 private:
  struct Node {
    const Step* step = nullptr;
    int rank = 0;
    int first = 0;  ///< The number here of the first step of its rank.
    int partner = nobody;
    int before = nobody;  ///< The receive of the message before this one on the pair.
    bool receives = false;
  };
  struct Message {
    int from = 0, to = 0, number = 0, step = 0;
    Count count;
  };
  struct Messages {
    std::vector<Message> sent, received;
  };
  [[nodiscard]] const Node& at(int step) const { return nodes_[static_cast<std::size_t>(step)]; }
  [[nodiscard]] Messages number_steps(const RankSchedules& schedules);
  void match(const Messages& messages);
  void require_counting_up(const std::vector<Message>& messages) const;

  std::vector<Node> nodes_;
};

}  // namespace tutti::checker
