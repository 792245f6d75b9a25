#include "lib/proof/plan_checker/shared_accesses.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "lib/core/schedule/text.hpp"
#include "lib/proof/checker/fault.hpp"
#include "lib/proof/checker/races.hpp"

namespace tutti::checker {
namespace {

/// An access from the start of any of some steps to the completion of all, or any, of some.
struct Access {
  Region region{};
  bool writes = false;
  std::vector<int> starts{}, ends{};
  bool ends_with_any = false;
  std::vector<int> exempt{};  ///< Steps that do not conflict with it.
  std::string what{};
};

class SharedAccesses {
 public:
  SharedAccesses(Rank rank, const shm::SharedPlan& plan, const RankSchedule& own)
      : rank_(rank), plan_(plan), own_(own), order_(own.schedule) {
    for (int joint = 0; joint < static_cast<int>(plan.joints.size()); ++joint)
      add_joint(joint);
  }

  void add_answer(int offer, int receive, Count count) {
    const CompiledStep& send = step(offer);
    const Region place =
        region_of(plan_, plan_.side(offer).answer_into, plan_.side(offer).answer_at, count.value() * plan_.element);
    Access access{.region = inside(place, "an offered place"), .writes = true, .starts = {offer}, .ends = {receive}};
    access.what = fmt::format("the answer to step {}", offer);
    access.exempt = {receive};
    const Region sent = region_of(plan_, send.lhs, send.lhs_at, send.bytes);
    if (located(own_, sent) == access.region) access.exempt.push_back(offer);
    accesses_.push_back(std::move(access));
  }

  void require_none() {
    for (std::size_t i = 0; i < accesses_.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j)
        if (accesses_[i].what != accesses_[j].what) require_apart(accesses_[i], accesses_[j]);
      for (int other = 0; other < static_cast<int>(plan_.steps.size()); ++other)
        if (std::ranges::find(accesses_[i].exempt, other) == accesses_[i].exempt.end()) compare(accesses_[i], other);
    }
  }

 private:
  [[nodiscard]] const CompiledStep& step(int i) const { return plan_.steps[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const Action& action(int i) const { return own_.schedule.steps[static_cast<std::size_t>(i)].action; }

  [[nodiscard]] Region inside(const Region& region, std::string_view what) const {
    if (region.offset < Count{0} || region.offset + region.count > size_of(own_, region.buffer))
      throw Fault{fmt::format("rank {}: {} leaves its buffer: {}", rank_.value(), what, to_text(region))};
    return located(own_, region);
  }

  void add_joint(int number) {
    const shm::JointReduction& joint = plan_.joints[static_cast<std::size_t>(number)];
    Access access{.ends_with_any = true, .what = fmt::format("joint reduction {}", number)};
    for (int i = 0; i < static_cast<int>(plan_.steps.size()); ++i) {
      if (plan_.side(i).joint != number) continue;
      access.ends.push_back(i);
      if (!step(i).is_message()) continue;
      access.starts.push_back(i);
      if (!step(i).is_local()) refute(rank_, i, action(i), "is joined, but not in shared memory");
    }
    if (access.ends.empty()) return;
    access.exempt = access.ends;
    access.region = inside(region_of(plan_, joint.into, joint.into_at, joint.bytes), "a joint result");
    access.writes = true;
    accesses_.push_back(access);
    const Region into = access.region;
    access.writes = false;
    for (const shm::JointReduction::Operand& operand : joint.operands) {
      if (operand.message >= 0) continue;
      access.region = inside(region_of(plan_, operand.buffer, operand.at, joint.bytes), "a joint operand");
      if (access.region != into && overlap(access.region, into))
        throw Fault{fmt::format("rank {}: joint reduction {} writes a part of its own operand", rank_.value(), number)};
      accesses_.push_back(access);
    }
  }

  void compare(const Access& access, int other) {
    const auto visit = [&](bool writes) {
      return [this, &access, other, writes](const Region& region) {
        const Access its{.region = located(own_, region),
                         .writes = writes,
                         .starts = {other},
                         .ends = {other},
                         .what = where(rank_, other, action(other))};
        require_apart(access, its);
      };
    };
    for_each_read(action(other), visit(false));
    for_each_write(action(other), visit(true));
  }

  void require_apart(const Access& a, const Access& b) {
    if ((!a.writes && !b.writes) || !overlap(a.region, b.region) || precedes(a, b) || precedes(b, a)) return;
    throw Fault{fmt::format("rank {}: race of {} with {} at {}", rank_.value(), a.what, b.what, to_text(b.region))};
  }

  [[nodiscard]] bool precedes(const Access& earlier, const Access& later) {
    const auto is_before_all = [&](int end) {
      return std::ranges::all_of(later.starts, [&](int start) { return end < start && order_.ordered(end, start); });
    };
    return earlier.ends_with_any ? std::ranges::any_of(earlier.ends, is_before_all)
                                 : std::ranges::all_of(earlier.ends, is_before_all);
  }

  Rank rank_;
  const shm::SharedPlan& plan_;
  const RankSchedule& own_;
  LocalOrder order_;
  std::vector<Access> accesses_;
};

}  // namespace

std::vector<int> first_steps_of(const Plans& plans) {
  std::vector<int> first{0};
  for (int rank = 0; rank + 1 < plans.size(); ++rank)
    first.push_back(first.back() + static_cast<int>(plans.of(Rank{rank}).steps.size()));
  return first;
}

namespace {

/// The answer that the kernel of a peer writes, which takes the data of `send` on a device.
Answer answer_on_device(int send, const Plans& plans, const Graph& graph) {
  const int sender = graph.rank(send).value(), taken = graph.partner(send);
  const int first = taken - graph.local(taken);
  const shm::SharedPlan& peer = plans.of(graph.rank(taken));
  const int offered = plans.of(Rank{sender}).side(graph.local(send)).answer;
  int reduction = graph.local(taken);
  if (const int joint = peer.side(reduction).joint; joint >= 0)
    for (int i = 0; i < static_cast<int>(peer.steps.size()); ++i)
      if (peer.side(i).joint == joint && peer.steps[static_cast<std::size_t>(i)].verb != Verb::recv) reduction = i;
  for (int i = 0; i < static_cast<int>(peer.steps.size()); ++i) {
    const CompiledStep& result = peer.steps[static_cast<std::size_t>(i)];
    if (offered >= 0 && result.verb == Verb::send && peer.side(i).result_of == reduction && result.peer == sender &&
        result.message == offered)
      return {send, graph.partner(first + i), first + reduction, first + i};
  }
  return {};
}

bool goes_by_ipc(int step, const Plans& plans, const Graph& graph) {
  const CompiledStep& compiled = plans.of(graph.rank(step)).steps[static_cast<std::size_t>(graph.local(step))];
  return compiled.is_message() && compiled.transport == Transport::ipc;
}

}  // namespace

int answering_reduction(int send, const Plans& plans, const Graph& graph) {
  const int sender = graph.rank(send).value();
  const CompiledStep& offer = plans.of(Rank{sender}).steps[static_cast<std::size_t>(graph.local(send))];
  if (offer.verb != Verb::send || offer.transport != Transport::shm) return Graph::nobody;
  const shm::SharedPlan& peer = plans.of(Rank{offer.peer});
  const int reduction = graph.partner(send);
  const CompiledStep& made = peer.steps[static_cast<std::size_t>(graph.local(reduction))];
  const int forward = peer.side(made).forward;
  if (made.verb != Verb::recv_reduce || forward < 0) return Graph::nobody;
  const CompiledStep& sent = peer.steps[static_cast<std::size_t>(forward)];
  return sent.verb == Verb::send && sent.peer == sender ? reduction : Graph::nobody;
}

std::vector<Answer> answers_of(const Plans& plans, const Graph& graph) {
  std::vector<Answer> answers(static_cast<std::size_t>(graph.steps()));
  for (int i = 0; i < graph.steps(); ++i) {
    if (std::holds_alternative<Send>(graph.step(i).action) && goes_by_ipc(i, plans, graph) &&
        goes_by_ipc(graph.partner(i), plans, graph)) {
      answers[static_cast<std::size_t>(i)] = answer_on_device(i, plans, graph);
      continue;
    }
    const int reduction = answering_reduction(i, plans, graph);
    if (reduction == Graph::nobody) continue;
    const shm::SharedPlan& peer = plans.of(graph.rank(reduction));
    const int first = reduction - graph.local(reduction);
    const int send = first + peer.side(graph.local(reduction)).forward;
    if (plans.of(graph.rank(i)).side(graph.local(i)).answer ==
        peer.steps[static_cast<std::size_t>(graph.local(send))].message)
      answers[static_cast<std::size_t>(i)] = {i, graph.partner(send), reduction, send};
  }
  return answers;
}

void require_no_shared_races(const Plans& plans, const RankSchedules& schedules, const Graph& graph) {
  const std::vector<int> first = first_steps_of(plans);
  const std::vector<Answer> answers = answers_of(plans, graph);
  for (Rank rank; rank.value() < plans.size(); rank = Rank{rank.value() + 1}) {
    const auto place = static_cast<std::size_t>(rank.value());
    SharedAccesses accesses{rank, plans.of(rank), schedules[place]};
    for (const Answer& answer : answers)
      if (answer.offer >= 0 && graph.rank(answer.offer) == rank) {
        const shm::SharedPlan& plan = plans.of(rank);
        const CompiledStep& receive = plan.steps[static_cast<std::size_t>(graph.local(answer.receive))];
        accesses.add_answer(answer.offer - first[place], answer.receive - first[place],
                            Count{receive.bytes / plan.element});
      }
    accesses.require_none();
  }
}

}  // namespace tutti::checker
