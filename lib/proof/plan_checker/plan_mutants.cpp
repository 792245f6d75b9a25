#include "lib/proof/plan_checker/plan_mutants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "lib/core/plan/pair_order.hpp"
#include "lib/proof/plan_checker/plan_view.hpp"
#include "lib/proof/plan_checker/shared_accesses.hpp"

namespace tutti::checker {
namespace {

using Operand = shm::JointReduction::Operand;
using shm::JointReduction;
using shm::SharedPlan;
using shm::SideStep;

bool is_reduction(const CompiledStep& step) { return step.verb == Verb::reduce || step.verb == Verb::recv_reduce; }

class Mutants {
 public:
  Mutants(const SharedPlan& plan, const std::vector<int>& answers) : plan_(plan), view_(plan), answers_(answers) {}

  std::vector<PlanMutant> all() {
    for (int i = 0; i < view_.steps(); ++i) {
      skip_results(i);
      skip_message(i);
      move_forward(i);
      join_group(i);
      move_place(i);
      take_place(i);
    }
    for (std::size_t joint = 0; joint < plan_.joints.size(); ++joint)
      alter(joint);
    if (!plan_.in_order)
      add(PlanMutation::order_claimed, 0, "strictly in order", [](SharedPlan& plan) { plan.in_order = true; });
    return std::move(mutants_);
  }

 private:
  static CompiledStep& step_of(SharedPlan& plan, int i) { return plan.steps[static_cast<std::size_t>(i)]; }
  void add(PlanMutation mutation, int i, std::string_view how, const auto& change) {
    PlanMutant mutant{mutation, plan_, fmt::format("step {}: {}", i, how)};
    change(mutant.plan);
    mutants_.push_back(std::move(mutant));
  }

  // ---- joint reductions ----

  [[nodiscard]] std::vector<int> members(int joint) const {
    std::vector<int> found;
    for (int i = 0; i < view_.steps(); ++i)
      if (view_.side(i).joint == joint) found.push_back(i);
    return found;
  }
  [[nodiscard]] Operand operand(int reduction, Buffer buffer, std::int64_t at, bool is_left) const {
    if (view_.step(reduction).verb == Verb::recv_reduce && view_.step(reduction).lands_left == is_left)
      return {reduction, buffer, at};
    for (const int before : view_.before(reduction))
      if (view_.step(before).verb == Verb::recv && view_.step(before).into == buffer &&
          view_.step(before).into_at == at && view_.step(before).bytes == view_.step(reduction).bytes)
        return {before, buffer, at};
    return {-1, buffer, at};
  }
  /// The operands of a reduction, or of the joint one that it is the first or last of.
  [[nodiscard]] std::vector<Operand> operands(int reduction) const {
    const CompiledStep& at = view_.step(reduction);
    if (const int joint = view_.side(reduction).joint; joint >= 0)
      return plan_.joints[static_cast<std::size_t>(joint)].operands;
    return {operand(reduction, at.lhs, at.lhs_at, true), operand(reduction, at.rhs, at.rhs_at, false)};
  }
  /// The reduction, and those that it is joined with.
  [[nodiscard]] std::vector<int> chain_of(int reduction) const {
    if (view_.side(reduction).joint < 0) return {reduction};
    std::vector<int> chain = members(view_.side(reduction).joint);
    std::erase_if(chain, [this](int i) { return view_.step(i).verb == Verb::recv; });
    return chain;
  }
  /// Makes one joint reduction of all of these, into the place that `last` writes.
  static void join(SharedPlan& plan, std::vector<int> chain, const std::vector<Operand>& operands, int last) {
    const CompiledStep& end = step_of(plan, last);
    for (const Operand& each : operands)
      if (each.message >= 0) chain.push_back(each.message);
    for (const int i : chain)
      plan.side(i).joint = static_cast<int>(plan.joints.size());
    plan.joints.push_back({operands, end.into, end.into_at, end.bytes});
  }

  void skip_results(int first) {
    if (!is_reduction(view_.step(first)) || chain_of(first).back() != first) return;
    for (const int next : view_.dependents(first)) {
      const CompiledStep& at = view_.step(next);
      if (!is_reduction(at) || at.bytes != view_.step(first).bytes || chain_of(next).front() != next) continue;
      if (place_of(plan_, at.lhs, at.lhs_at) != view_.written(first) || !view_.is_needed(first, next)) continue;
      std::vector<Operand> all = operands(first);
      const std::vector<Operand> rest = operands(next);
      all.insert(all.end(), rest.begin() + 1, rest.end());
      std::vector<int> chain = chain_of(first);
      std::ranges::copy(chain_of(next), std::back_inserter(chain));
      const int last = std::ranges::max(chain);
      add(PlanMutation::result_skipped, first, fmt::format("is joined with step {}", next),
          [&](SharedPlan& plan) { join(plan, chain, all, last); });
    }
  }

  void skip_message(int recv) {
    if (view_.step(recv).verb != Verb::recv || view_.side(recv).joint >= 0 ||
        view_.step(recv).transport != Transport::shm)
      return;
    for (const int next : view_.dependents(recv)) {
      const CompiledStep& at = view_.step(next);
      if (at.verb != Verb::reduce || view_.side(next).joint >= 0 || at.bytes != view_.step(recv).bytes ||
          !view_.is_needed(recv, next))
        continue;
      const std::vector<Operand> all = operands(next);
      if (std::ranges::find(all, recv, &Operand::message) == all.end()) continue;
      add(PlanMutation::message_skipped, recv, fmt::format("is joined with step {}", next),
          [&](SharedPlan& plan) { join(plan, {next}, all, next); });
    }
  }

  void alter(std::size_t number) {
    const auto change = [&](PlanMutation mutation, std::string_view how, const auto& what) {
      add(mutation, members(static_cast<int>(number)).front(), how,
          [&](SharedPlan& plan) { what(plan.joints[number]); });
    };
    const std::vector<Operand>& operands = plan_.joints[number].operands;
    for (std::size_t k = 0; k < operands.size(); ++k)
      if (operands[k].message < 0)
        change(PlanMutation::operand_moved, "reads an element further on",
               [&](JointReduction& joint) { joint.operands[k].at += plan_.element; });
    change(PlanMutation::operands_swapped, "its first operand comes last",
           [](JointReduction& joint) { std::swap(joint.operands.front(), joint.operands.back()); });
    change(PlanMutation::operand_dropped, "without its last operand",
           [](JointReduction& joint) { joint.operands.pop_back(); });
    change(PlanMutation::sum_moved, "writes an element further on",
           [&](JointReduction& joint) { joint.into_at += plan_.element; });
  }

  // ---- messages ----

  void move_forward(int reduction) {
    const int sent = view_.side(reduction).forward;
    if (sent < 0) return;
    for (int other = 0; other < view_.steps(); ++other)
      if (view_.step(other).verb == Verb::send && view_.step(other).bytes == view_.step(sent).bytes &&
          !view_.sends_the_same(other, sent))
        add(PlanMutation::forward_moved, reduction, fmt::format("its result is forwarded by step {}", other),
            [&](SharedPlan& plan) { plan.side(reduction).forward = other; });
  }

  void join_group(int send) {
    if (view_.step(send).verb != Verb::send || view_.side(send).group < 0 || view_.has_copies(send)) return;
    for (int other = send + 1; other < view_.steps(); ++other)
      if (view_.step(other).verb == Verb::send && view_.step(other).bytes > 0 && !view_.sends_the_same(other, send)) {
        add(PlanMutation::group_joined, other, fmt::format("shares the copy of step {}", send),
            [&](SharedPlan& plan) { plan.side(other).group = view_.side(send).group; });
        return;  // one will do
      }
  }

  [[nodiscard]] int answer_to(int send) const { return answers_[static_cast<std::size_t>(send)]; }

  void move_place(int send) {
    if (view_.step(send).verb != Verb::send || answer_to(send) < 0 || view_.side(send).answer != answer_to(send))
      return;
    add(PlanMutation::place_moved, send, "offers a place an element further on",
        [&](SharedPlan& plan) { plan.side(send).answer_at += plan.element; });
  }

  /// Offers a place for an answer that another step uses, which need not be over when the data are sent.
  void take_place(int send) {
    if (view_.step(send).verb != Verb::send || answer_to(send) < 0 || view_.side(send).answer >= 0) return;
    const auto is_answer = [&](const CompiledStep& each) {
      return each.verb == Verb::recv && each.peer == view_.step(send).peer && each.message == answer_to(send);
    };
    const auto found = std::ranges::find_if(plan_.steps, is_answer);
    if (found == plan_.steps.end()) return;
    const int recv = static_cast<int>(found - plan_.steps.begin());
    const Place place = view_.written(recv);
    const auto is_in_use = [&](int i) {
      const bool touches = view_.writes(i, place, found->bytes) || view_.reads(i, place, found->bytes);
      return i != send && touches && !view_.waits_for(send, i);
    };
    if (std::ranges::none_of(view_.before(recv), is_in_use)) return;
    add(PlanMutation::place_taken, send, fmt::format("offers the place of step {}", recv), [&](SharedPlan& plan) {
      SideStep& offer = plan.side(send);
      offer.answer = found->message;
      offer.answer_into = found->into;
      offer.answer_at = found->into_at;
    });
  }

  const SharedPlan& plan_;
  PlanView view_;
  const std::vector<int>& answers_;
  std::vector<PlanMutant> mutants_;
};

}  // namespace

std::string_view to_string(PlanMutation mutation) {
  constexpr std::string_view names[] = {"result skipped",  "message skipped", "operand moved", "operands swapped",
                                        "operand dropped", "sum moved",       "forward moved", "group joined",
                                        "place moved",     "place taken",     "order claimed"};
  static_assert(std::size(names) == plan_mutation_count);
  return names[static_cast<std::size_t>(mutation)];
}

std::vector<PlanMutant> mutants_of(const SharedPlan& plan, const std::vector<int>& answers) {
  return Mutants{plan, answers}.all();
}

std::vector<int> answers_to(Rank rank, const Plans& plans) {
  const RankSchedules schedules = schedules_of(plans);
  const Graph graph{schedules};
  const int first = first_steps_of(plans)[static_cast<std::size_t>(rank.value())];
  std::vector<int> answers(plans.of(rank).steps.size(), -1);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const int reduction = answering_reduction(first + static_cast<int>(i), plans, graph);
    if (reduction == Graph::nobody) continue;
    const SharedPlan& peer = plans.of(graph.rank(reduction));
    answers[i] = peer.steps[static_cast<std::size_t>(peer.side(graph.local(reduction)).forward)].message;
  }
  return answers;
}

}  // namespace tutti::checker
