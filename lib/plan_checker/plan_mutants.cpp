#include "lib/plan_checker/plan_mutants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "lib/plan/pair_order.hpp"
#include "lib/plan_checker/shared_accesses.hpp"

namespace tutti::checker {
namespace {

using Operand = shm::JointReduction::Operand;
using shm::JointReduction;
using shm::SharedPlan;
using shm::SideStep;

bool is_reduction(const CompiledStep& step) { return step.verb == Verb::reduce || step.verb == Verb::recv_reduce; }

class Mutants {
 public:
  Mutants(const SharedPlan& plan, const std::vector<int>& answers)
      : plan_(plan), answers_(answers), after_(plan.steps.size()) {
    for (int i = 0; i < steps(); ++i)
      for (const int d : dependents(i))
        after_[static_cast<std::size_t>(d)].push_back(i);
  }

  std::vector<PlanMutant> all() {
    for (int i = 0; i < steps(); ++i) {
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
  [[nodiscard]] int steps() const { return static_cast<int>(plan_.steps.size()); }
  [[nodiscard]] const CompiledStep& step(int i) const { return plan_.steps[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const SideStep& side(int i) const { return plan_.side(i); }
  static CompiledStep& step_of(SharedPlan& plan, int i) { return plan.steps[static_cast<std::size_t>(i)]; }
  [[nodiscard]] std::span<const int> dependents(int i) const {
    return std::span{plan_.dependents}.subspan(
        static_cast<std::size_t>(step(i).first_dependent),
        static_cast<std::size_t>(step(i).last_dependent - step(i).first_dependent));
  }
  [[nodiscard]] Place written(int i) const { return place_of(plan_, step(i).into, step(i).into_at); }
  [[nodiscard]] bool touches(const Place& place, std::int64_t bytes, Buffer buffer, std::int64_t at,
                             std::int64_t its_bytes) const {
    const Place its = place_of(plan_, buffer, at);
    return its.first == place.first && its.second < place.second + bytes && place.second < its.second + its_bytes;
  }
  [[nodiscard]] bool reads(int i, const Place& place, std::int64_t bytes) const {
    const CompiledStep& at = step(i);
    const bool lands = at.verb == Verb::recv_reduce ||
                       at.verb == Verb::recv_then_reduce;  // in one of the operands, which is not read then
    const bool has_left = at.verb != Verb::recv && !(lands && at.lands_left);
    const bool has_right = at.verb == Verb::reduce || (lands && !at.lands_left);
    return (has_left && touches(place, bytes, at.lhs, at.lhs_at, at.bytes)) ||
           (has_right && touches(place, bytes, at.rhs, at.rhs_at, at.bytes));
  }
  [[nodiscard]] bool writes(int i, const Place& place, std::int64_t bytes) const {
    const CompiledStep& at = step(i);
    return at.verb != Verb::send && touches(place, bytes, at.into, at.into_at, at.bytes);
  }

  /// Whether others than `reader` need the result of step i before it is written again: another step, or the caller.
  [[nodiscard]] bool is_needed(int i, int reader) const {
    const Place place = written(i);
    const std::int64_t bytes = step(i).bytes;
    for (int later = i + 1; later < steps(); ++later) {
      if (later != reader && reads(later, place, bytes)) return true;
      if (writes(later, place, bytes)) return false;
    }
    return place.first == Buffer::output;
  }

  void add(PlanMutation mutation, int i, std::string_view how, const auto& change) {
    PlanMutant mutant{mutation, plan_, fmt::format("step {}: {}", i, how)};
    change(mutant.plan);
    mutants_.push_back(std::move(mutant));
  }

  // ---- joint reductions ----

  [[nodiscard]] std::vector<int> members(int joint) const {
    std::vector<int> found;
    for (int i = 0; i < steps(); ++i)
      if (side(i).joint == joint) found.push_back(i);
    return found;
  }
  [[nodiscard]] Operand operand(int reduction, Buffer buffer, std::int64_t at, bool is_left) const {
    if (step(reduction).verb == Verb::recv_reduce && step(reduction).lands_left == is_left)
      return {reduction, buffer, at};
    for (const int before : after_[static_cast<std::size_t>(reduction)])
      if (step(before).verb == Verb::recv && step(before).into == buffer && step(before).into_at == at &&
          step(before).bytes == step(reduction).bytes)
        return {before, buffer, at};
    return {-1, buffer, at};
  }
  /// The operands of a reduction, or of the joint one that it is the first or last of.
  [[nodiscard]] std::vector<Operand> operands(int reduction) const {
    const CompiledStep& at = step(reduction);
    if (const int joint = side(reduction).joint; joint >= 0)
      return plan_.joints[static_cast<std::size_t>(joint)].operands;
    return {operand(reduction, at.lhs, at.lhs_at, true), operand(reduction, at.rhs, at.rhs_at, false)};
  }
  /// The reduction, and those that it is joined with.
  [[nodiscard]] std::vector<int> chain_of(int reduction) const {
    if (side(reduction).joint < 0) return {reduction};
    std::vector<int> chain = members(side(reduction).joint);
    std::erase_if(chain, [this](int i) { return step(i).verb == Verb::recv; });
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
    if (!is_reduction(step(first)) || chain_of(first).back() != first) return;
    for (const int next : dependents(first)) {
      const CompiledStep& at = step(next);
      if (!is_reduction(at) || at.bytes != step(first).bytes || chain_of(next).front() != next) continue;
      if (place_of(plan_, at.lhs, at.lhs_at) != written(first) || !is_needed(first, next)) continue;
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
    if (step(recv).verb != Verb::recv || side(recv).joint >= 0 || step(recv).transport != Transport::shm) return;
    for (const int next : dependents(recv)) {
      const CompiledStep& at = step(next);
      if (at.verb != Verb::reduce || side(next).joint >= 0 || at.bytes != step(recv).bytes || !is_needed(recv, next))
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

  [[nodiscard]] bool sends_the_same(int a, int b) const {
    return place_of(plan_, step(a).lhs, step(a).lhs_at) == place_of(plan_, step(b).lhs, step(b).lhs_at);
  }

  void move_forward(int reduction) {
    const int sent = side(reduction).forward;
    if (sent < 0) return;
    for (int other = 0; other < steps(); ++other)
      if (step(other).verb == Verb::send && step(other).bytes == step(sent).bytes && !sends_the_same(other, sent))
        add(PlanMutation::forward_moved, reduction, fmt::format("its result is forwarded by step {}", other),
            [&](SharedPlan& plan) { plan.side(reduction).forward = other; });
  }

  /// Whether the data sent were copied, or are a copy: the same data may then be in another place.
  [[nodiscard]] bool has_copies(int send) const {
    const CompiledStep& at = step(send);
    const Place place = place_of(plan_, at.lhs, at.lhs_at);
    return std::ranges::any_of(plan_.steps, [&](const CompiledStep& copy) {
      return copy.verb == Verb::copy && (touches(place, at.bytes, copy.lhs, copy.lhs_at, copy.bytes) ||
                                         touches(place, at.bytes, copy.into, copy.into_at, copy.bytes));
    });
  }

  void join_group(int send) {
    if (step(send).verb != Verb::send || side(send).group < 0 || has_copies(send)) return;
    for (int other = send + 1; other < steps(); ++other)
      if (step(other).verb == Verb::send && step(other).bytes > 0 && !sends_the_same(other, send)) {
        add(PlanMutation::group_joined, other, fmt::format("shares the copy of step {}", send),
            [&](SharedPlan& plan) { plan.side(other).group = side(send).group; });
        return;  // one will do
      }
  }

  [[nodiscard]] int answer_to(int send) const { return answers_[static_cast<std::size_t>(send)]; }

  void move_place(int send) {
    if (step(send).verb != Verb::send || answer_to(send) < 0 || side(send).answer != answer_to(send)) return;
    add(PlanMutation::place_moved, send, "offers a place an element further on",
        [&](SharedPlan& plan) { plan.side(send).answer_at += plan.element; });
  }

  /// Whether `later` waits for `earlier`, if only by way of other steps.
  [[nodiscard]] bool waits_for(int later, int earlier) const {
    const std::vector<int>& before = after_[static_cast<std::size_t>(later)];
    return std::ranges::any_of(before, [&](int i) { return i == earlier || (i > earlier && waits_for(i, earlier)); });
  }

  /// Of an answer whose place another step uses that need not be over when the data are sent.
  void take_place(int send) {
    if (step(send).verb != Verb::send || answer_to(send) < 0 || side(send).answer >= 0) return;
    const auto is_answer = [&](const CompiledStep& each) {
      return each.verb == Verb::recv && each.peer == step(send).peer && each.message == answer_to(send);
    };
    const auto found = std::ranges::find_if(plan_.steps, is_answer);
    if (found == plan_.steps.end()) return;
    const int recv = static_cast<int>(found - plan_.steps.begin());
    const Place place = written(recv);
    const auto is_in_use = [&](int i) {
      const bool touches = writes(i, place, found->bytes) || reads(i, place, found->bytes);
      return i != send && touches && !waits_for(send, i);
    };
    if (std::ranges::none_of(after_[static_cast<std::size_t>(recv)], is_in_use)) return;
    add(PlanMutation::place_taken, send, fmt::format("offers the place of step {}", recv), [&](SharedPlan& plan) {
      SideStep& offer = plan.side(send);
      offer.answer = found->message;
      offer.answer_into = found->into;
      offer.answer_at = found->into_at;
    });
  }

  const SharedPlan& plan_;
  const std::vector<int>& answers_;
  Dependencies after_;
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
  const Parts parts = parts_of(plans);
  const Graph graph{parts};
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
