// `tutti show` with a registry of algorithms that are wrong, each in one way: what the author of an algorithm may
// write.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <span>

#include "apps/tutti/commands.hpp"
#include "tutti/algorithm.hpp"
#include "tutti/schedule_builder.hpp"

namespace tutti {
namespace {

int next(const Problem& problem) { return (problem.rank.value() + 1) % problem.size; }
int previous(const Problem& problem) { return (problem.rank.value() + problem.size - 1) % problem.size; }

/// All receive before they send what they got.
Schedule wait_in_a_ring(const Problem& problem) {
  ScheduleBuilder plan{problem};
  plan.recv(plan.output(), Rank{previous(problem)});
  plan.send(plan.output(), Rank{next(problem)});
  return plan.build();
}

/// Nobody takes what rank 1 sends.
Schedule send_to_nobody(const Problem& problem) {
  ScheduleBuilder plan{problem};
  plan.copy(plan.input(), plan.output());
  if (problem.rank == Rank{1}) plan.send(plan.output(), Rank{0});
  return plan.build();
}

/// Only two ranks are combined.
Schedule add_one_neighbour(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const Region theirs = plan.scratch(problem.count);
  plan.send(plan.input(), Rank{next(problem)});
  plan.recv(theirs, Rank{previous(problem)});
  plan.reduce(theirs, plan.input(), plan.output());
  return plan.build();
}

/// Sends data that were never written.
Schedule send_garbage(const Problem& problem) {
  ScheduleBuilder plan{problem};
  plan.send(plan.scratch(problem.count), Rank{next(problem)});
  plan.recv(plan.output(), Rank{previous(problem)});
  return plan.build();
}

/// Written by hand: the copy does not wait for the receive.
Schedule race(const Problem& problem) {
  const Region input{Buffer::input, Count{0}, problem.count}, output{Buffer::output, Count{0}, problem.count};
  return {{{Send{Rank{next(problem)}, {input}}, {}},
           {Recv{Rank{previous(problem)}, {output}}, {}},
           {Copy{input, output}, {}}},
          Count{0}};
}

/// Written by hand: it sends more than there is.
Schedule leave_buffer(const Problem& problem) {
  const Region region{Buffer::input, Count{0}, problem.count + Count{1}};
  return {{{Send{Rank{next(problem)}, {region}}, {}}}, Count{0}};
}

/// Right, for comparison.
Schedule send_all(const Problem& problem) {
  ScheduleBuilder plan{problem};
  plan.copy(plan.input(), plan.output());
  for (int peer = 0; peer < problem.size; ++peer)
    if (Rank{peer} != problem.rank) plan.send(plan.input(), Rank{peer});
  for (int peer = 0; peer < problem.size; ++peer) {
    if (Rank{peer} == problem.rank) continue;
    const Region theirs = plan.scratch(problem.count);
    plan.recv(theirs, Rank{peer});
    plan.reduce_in_order(Rank{peer}, theirs, plan.output(), plan.output());
  }
  return plan.build();
}

constexpr Algorithm wrong(std::string_view name, Schedule (*build)(const Problem&)) {
  return {.collective = Collective::allreduce,
          .name = name,
          .order = Order::any,
          .build = build,
          .cost = [](const Problem&) { return Cost{}; },
          .summary = "wrong",
          .source = "none"};
}

constexpr Algorithm registered[] = {wrong("deadlock", wait_in_a_ring),
                                    wrong("unreceived", send_to_nobody),
                                    wrong("incomplete", add_one_neighbour),
                                    wrong("garbage", send_garbage),
                                    wrong("race", race),
                                    wrong("outside", leave_buffer),
                                    wrong("right_for_two", send_all)};

}  // namespace

/// In place of that of the library.
std::span<const Algorithm* const> algorithms() {
  static constexpr const Algorithm* all[] = {&registered[0], &registered[1], &registered[2], &registered[3],
                                             &registered[4], &registered[5], &registered[6]};
  return all;
}

}  // namespace tutti

int main(int argc, char** argv) {
  try {
    return tutti::tool::show({argv + 1, argv + argc});
  } catch (const std::exception& error) {
    fmt::print(stderr, "tutti show: {}\n", error.what());
    return 1;
  }
}
