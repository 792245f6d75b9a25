#include <algorithm>
#include <map>

#include "lib/core/plan/shm_compile.hpp"

namespace tutti::shm {
namespace {

class JointReductions {
 public:
  JointReductions(SharedPlan& plan, const Dependencies& after, std::int64_t joined_bytes)
      : plan_(plan), after_(after), dependents_(dependents_of(after)), joined_bytes_(joined_bytes) {
    for (int i = 0; i < static_cast<int>(plan.steps.size()); ++i)
      if (step(i).verb != Verb::send) last_writes_[place_of(plan, step(i).into, step(i).into_at)] = i;
  }

  void find() {
    for (int i = 0; i < static_cast<int>(plan_.steps.size()); ++i) {
      if (reduces(i) && !continues_another(i)) join(chain_from(i));
      if (step(i).verb == Verb::combine && step(i).bytes > joined_bytes_) join_operands(i);
    }
  }

 private:
  using Operand = JointReduction::Operand;
  using Chain = std::vector<int>;

  static std::size_t index(int step) { return static_cast<std::size_t>(step); }
  [[nodiscard]] const CompiledStep& step(int i) const { return plan_.steps[index(i)]; }
  [[nodiscard]] bool reduces(int i) const {
    const CompiledStep& at = step(i);
    return at.bytes > joined_bytes_ &&
           (at.verb == Verb::reduce || (at.verb == Verb::recv_reduce && at.transport == Transport::shm));
  }

  /// Whether `later` goes on with the result of `earlier`, which nothing else reads: no other step, and not the caller.
  [[nodiscard]] bool continues(int earlier, int later) const {
    const CompiledStep &made = step(earlier), &next = step(later);
    return reduces(later) && dependents_[index(earlier)].size() == 1 && made.bytes == next.bytes &&
           place_of(plan_, made.into, made.into_at) == place_of(plan_, next.lhs, next.lhs_at) &&
           !(next.verb == Verb::recv_reduce && next.lands_left) && !is_result(earlier);
  }
  /// Whether the data that a step writes may be part of the call's output: no later step writes that place again.
  [[nodiscard]] bool is_result(int i) const {
    const CompiledStep& made = step(i);
    const Place place = place_of(plan_, made.into, made.into_at);
    if (place.first == Buffer::scratch) return false;
    const int last = last_writes_.at(place);
    return last == i || step(last).bytes < made.bytes;
  }
  [[nodiscard]] bool continues_another(int i) const {
    return std::ranges::any_of(after_[index(i)], [&](int before) { return reduces(before) && continues(before, i); });
  }
  [[nodiscard]] Chain chain_from(int first) const {
    Chain chain{first};
    while (!dependents_[index(chain.back())].empty()) {
      const int next = dependents_[index(chain.back())][0];
      if (!continues(chain.back(), next)) break;
      chain.push_back(next);
    }
    return chain;
  }

  /// The operand that a reduction reads there: the message that it receives itself, the message of a receive for it
  /// alone, or data of this rank.
  [[nodiscard]] Operand operand(int reduction, Buffer buffer, std::int64_t at, bool is_left) const {
    const CompiledStep& reducing = step(reduction);
    if (reducing.verb == Verb::recv_reduce && reducing.lands_left == is_left) return {reduction, buffer, at};
    return received(reduction, buffer, at);
  }
  /// Data of this rank, unless they are the message of a receive for that step alone.
  [[nodiscard]] Operand received(int reader, Buffer buffer, std::int64_t at) const {
    for (const int before : after_[index(reader)]) {
      const CompiledStep& recv = step(before);
      if (recv.verb == Verb::recv && after_[index(before)].empty() && recv.transport == Transport::shm &&
          recv.bytes == step(reader).bytes && recv.into == buffer && recv.into_at == at &&
          dependents_[index(before)].size() == 1 && !is_result(before))
        return {before, buffer, at};
    }
    return {-1, buffer, at};
  }
  [[nodiscard]] std::vector<Operand> operands(const Chain& chain) const {
    const CompiledStep& first = step(chain[0]);
    std::vector<Operand> all{operand(chain[0], first.lhs, first.lhs_at, true)};
    for (const int i : chain)
      all.push_back(operand(i, step(i).rhs, step(i).rhs_at, false));
    return all;
  }

  /// Whether each reduction but the first waits only for the one before it and for receives of `operands`. The first
  /// may wait for more if no message can be taken before it starts, as the others' are received by later reductions.
  [[nodiscard]] bool wait_for_nothing_else(const Chain& chain, const std::vector<Operand>& operands) const {
    const auto receives = [&](int i) { return std::ranges::find(operands, i, &Operand::message) != operands.end(); };
    for (std::size_t k = 1; k < chain.size(); ++k)
      if (!std::ranges::all_of(after_[index(chain[k])], [&](int i) { return i == chain[k - 1] || receives(i); }))
        return false;
    if (std::ranges::all_of(after_[index(chain[0])], receives)) return true;
    return std::ranges::all_of(operands, [&](const Operand& each) {
      return each.message < 0 || std::ranges::find(chain, each.message) != chain.end();
    });
  }

  /// Whether the operands of this rank stay as they are until the last of the messages is there, and the result may be
  /// written element by element while they are read.
  [[nodiscard]] bool are_left_alone(const Chain& chain, const std::vector<Operand>& operands) const {
    const std::int64_t bytes = step(chain[0]).bytes;
    for (std::size_t k = 0; k < operands.size(); ++k) {
      if (operands[k].message >= 0) continue;
      const Place place = place_of(plan_, operands[k].buffer, operands[k].at);
      const auto is_apart = [&](int i) {
        const Place written = place_of(plan_, step(i).into, step(i).into_at);
        return written.first != place.first || written.second + bytes <= place.second ||
               place.second + bytes <= written.second;
      };
      const auto reader = chain.begin() + static_cast<std::ptrdiff_t>(k > 1 ? k - 1 : 0);  // the first reads two
      const CompiledStep& last = step(chain.back());
      const bool is_result = place == place_of(plan_, last.into, last.into_at);
      if (!std::all_of(chain.begin(), reader, is_apart) || !(is_result || is_apart(chain.back()))) return false;
    }
    return true;
  }

  void join(const Chain& chain) {
    const std::vector<Operand> all = operands(chain);
    if (!is_worth_it(all)) return;
    if (all[0].message < 0 && all[1].message < 0) return;  // its first reduction would not wait for any message
    if (wait_for_nothing_else(chain, all) && are_left_alone(chain, all)) add(chain, all);
  }
  /// Its operands are left alone until it is done (combine_at_once). It must wait for nothing but messages.
  void join_operands(int combine) {
    std::vector<Operand> all;
    for (const auto& [buffer, at] : plan_.operands[index(step(combine).operands)])
      all.push_back(received(combine, buffer, at));
    if (is_worth_it(all) && wait_for_nothing_else({combine}, all)) add({combine}, all);
  }
  [[nodiscard]] bool is_worth_it(const std::vector<Operand>& operands) const {
    const auto messages = std::ranges::count_if(operands, [](const Operand& each) { return each.message >= 0; });
    return operands.size() >= 3 && operands.size() <= JointReduction::most_operands && messages >= 2 &&
           !passes_on_between(operands);
  }
  /// Whether this rank sends between two of the messages what it had to wait for: the later one may come only after
  /// that, and is not to be waited for with the earlier one.
  [[nodiscard]] bool passes_on_between(const std::vector<Operand>& operands) const {
    int first = static_cast<int>(plan_.steps.size()), last = -1;
    for (const Operand& each : operands) {
      if (each.message >= 0) first = std::min(first, each.message);
      last = std::max(last, each.message);
    }
    const auto waits = [&](int i) {
      return std::ranges::any_of(after_[index(i)], [&](int before) { return step(before).verb != Verb::send; });
    };
    for (int i = first + 1; i < last; ++i)
      if (step(i).verb == Verb::send && waits(i)) return true;
    return false;
  }
  void add(const Chain& chain, const std::vector<Operand>& all) {
    const CompiledStep& last = step(chain.back());
    const int number = static_cast<int>(plan_.joints.size());
    plan_.joints.push_back({all, last.into, last.into_at, last.bytes});
    for (const int i : chain)
      plan_.side(i).joint = number;
    for (const Operand& each : all)
      if (each.message >= 0) plan_.side(each.message).joint = number;
  }

  SharedPlan& plan_;
  const Dependencies& after_;
  Dependencies dependents_;
  std::map<Place, int> last_writes_;  ///< The last step that writes from there on.
  std::int64_t joined_bytes_;
};

}  // namespace

void find_joint_reductions(SharedPlan& plan, const Dependencies& after, const SharedMemory& memory) {
  if (plan.reduce_many != nullptr) JointReductions{plan, after, memory.joined_bytes}.find();
}

}  // namespace tutti::shm
