#pragma once
// Accesses to a rank's buffers that are no step's own: made by joint reductions, and by peers that write an answer.

#include "lib/proof/checker/graph.hpp"
#include "lib/proof/plan_checker/plans.hpp"

namespace tutti::checker {

/// The send of a rank that says where an answer belongs, the receive of the answer, and the send of it; on the peer,
/// the receive-and-reduce of which it is the result. Numbers of steps in the graph; -1: the answer is never written.
struct Answer {
  int offer = -1, receive = -1, reduction = -1, send = -1;
};
/// The receive-and-reduce, at the receiver of a send, whose result is forwarded back to the sender; -1: there is none.
[[nodiscard]] int answering_reduction(int send, const Plans& plans, const Graph& graph);
/// The answer to each send that says where one belongs, by number of the send in the graph.
[[nodiscard]] std::vector<Answer> answers_of(const Plans& plans, const Graph& graph);
/// The number in the graph of a rank's first step.
[[nodiscard]] std::vector<int> first_steps_of(const Plans& plans);

/// Refutes plans in which one of these accesses may meet another access to the same element, one of them a write:
/// - A joint reduction reads this rank's operands and writes its result from the start of any of its receives until the
///   first of its steps completes. Its own steps either take part in that or work alone.
/// - An answer is written from the start of the send that offers the place until its receive completes. The data sent
///   may lie in the same place: they are read element by element before that.
/// As in races.hpp, only the order counts that the rank itself keeps. Data that groups of sends share, and results that
/// are forwarded, add no access: they are read, or made, earlier by a step whose own access is ordered.
void require_no_shared_races(const Plans& plans, const RankSchedules& schedules, const Graph& graph);

}  // namespace tutti::checker
