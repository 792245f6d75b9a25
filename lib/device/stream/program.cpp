#include "lib/device/stream/program.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "lib/core/plan/pair_order.hpp"
#include "tutti/error.hpp"

namespace tutti::stream {
namespace {

using shm::JointReduction;
using shm::SharedPlan;

constexpr std::int64_t alignment = 256;  // of messages in a landing area
constexpr std::size_t most_outputs = 32;

/// The steps that become one command: a joint reduction with its messages, or one step.
struct Unit {
  std::vector<int> steps{};
  int joint = -1;
  bool receives = false;
  int waits = 0;
  std::vector<int> dependents{};
};

class Writer {
 public:
  Writer(const SharedPlan& plan, const Deliveries& deliveries, bool joins)
      : plan_(plan), deliveries_(deliveries), unit_of_(plan.steps.size(), -1) {
    place_messages();
    make_units(joins);
    order_units();
  }

  /// False: no order of the units keeps all dependencies.
  [[nodiscard]] bool write() {
    for (int i = 0; i < static_cast<int>(units_.size()); ++i)
      if (units_[at(i)].waits == 0) ready_of(i).insert(i);
    std::size_t written = 0;
    while (!free_.empty() || !receiving_.empty()) {
      std::set<int>& from = free_.empty() ? receiving_ : free_;
      const int next = *from.begin();
      from.erase(from.begin());
      written += write(next);
    }
    for (const int peer : received_)
      add({.does = Does::release, .peer = peer});
    return written == units_.size();
  }
  [[nodiscard]] Program program() && { return std::move(program_); }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  [[nodiscard]] const CompiledStep& step(int i) const { return plan_.steps[at(i)]; }
  [[nodiscard]] int only_step(int unit) const { return units_[at(unit)].steps.front(); }
  [[nodiscard]] bool is_pulled(int unit) const { return delivery(only_step(unit)) == Delivery::Of::pulled; }
  [[nodiscard]] bool is_send(int unit) const {
    return units_[at(unit)].joint < 0 && step(only_step(unit)).verb == Verb::send;
  }
  /// A message without data only orders, which is the purpose of a barrier alone.
  [[nodiscard]] bool is_empty(const CompiledStep& message) const {
    return message.bytes == 0 && plan_.problem.collective != Collective::barrier;
  }
  std::set<int>& ready_of(int unit) { return units_[at(unit)].receives ? receiving_ : free_; }

  [[nodiscard]] Delivery::Of delivery(int message) const {
    return deliveries_.empty() ? Delivery::Of::landing : deliveries_[at(message)].of;
  }
  /// The buffer of the peer that holds a message which does not land.
  [[nodiscard]] Spot lent(int message) const {
    const Delivery& its = deliveries_[at(message)];
    return {.of = Spot::Of::lent, .buffer = its.buffer, .peer = step(message).peer, .at = its.at};
  }

  /// Both ends know the sizes of a pair's messages, and so where each lies, and its number.
  void place_messages() {
    for (const auto& [pair, steps] : by_pair(plan_.steps)) {
      std::int64_t end = 0;
      std::uint32_t number = 0;
      for (const int i : steps) {
        if (step(i).transport != Transport::shm) throw Error("a message leaves the node");
        if (is_empty(step(i))) continue;
        messages_[i] = {end, ++number};
        if (delivery(i) != Delivery::Of::landing) continue;
        end += (step(i).bytes + alignment - 1) / alignment * alignment;
      }
      program_.part_bytes = std::max(program_.part_bytes, end);
    }
  }

  void make_units(bool joins) {
    std::map<int, int> of_joint;
    for (int i = 0; i < static_cast<int>(plan_.steps.size()); ++i) {
      const int joint = joins ? plan_.side(i).joint : -1;
      const auto found = of_joint.find(joint);
      if (joint >= 0 && found != of_joint.end()) {
        unit_of_[at(i)] = found->second;
      } else {
        unit_of_[at(i)] = static_cast<int>(units_.size());
        if (joint >= 0) of_joint[joint] = unit_of_[at(i)];
        units_.push_back({.joint = joint});
      }
      Unit& unit = units_[at(unit_of_[at(i)])];
      unit.steps.push_back(i);
      unit.receives |= step(i).receives() && !is_empty(step(i));
    }
  }

  void order_units() {
    std::set<std::pair<int, int>> edges;
    const auto order = [&](int before, int after) {
      const int first = unit_of_[at(before)], second = unit_of_[at(after)];
      if (first == second || !edges.emplace(first, second).second) return;
      units_[at(first)].dependents.push_back(second);
      ++units_[at(second)].waits;
    };
    const Dependencies after = dependencies_of(plan_);
    for (int i = 0; i < static_cast<int>(after.size()); ++i)
      for (const int before : after[at(i)])
        order(before, i);
    for (const auto& [pair, steps] : by_pair(plan_.steps))  // a flag tells of messages in their order
      for (std::size_t k = 1; !pair.second && k < steps.size(); ++k)
        order(steps[k - 1], steps[k]);
  }

  /// Returns how many units it wrote: the sends of what a unit makes go with it.
  std::size_t write(int unit) {
    const Unit& what = units_[at(unit)];
    if (is_send(unit)) return send(unit);
    Command command = what.joint >= 0 ? joint_reduction(what) : command_of(step(only_step(unit)));
    for (const int i : what.steps)
      if (step(i).receives() && !is_empty(step(i))) wait_for(i);
    free_dependents(unit);
    if (command.bytes == 0) return 1;
    const std::vector<int> sends = can_write_to_many() ? take_sends_of(command) : std::vector<int>{};
    finish(std::move(command), sends);
    return 1 + sends.size();
  }

  /// Sends data of a unit, which may go to several peers.
  std::size_t send(int unit) {
    const CompiledStep& sent = step(only_step(unit));
    if (is_empty(sent) || is_pulled(unit)) {
      free_dependents(unit);
      if (!is_empty(sent)) finish({}, {unit});
      return 1;
    }
    Command command{.does = Does::copy, .inputs = {own(sent.lhs, sent.lhs_at)}, .bytes = sent.bytes};
    std::vector<int> sends = take_sends_of(sent.lhs, sent.lhs_at, sent.bytes, most_outputs - 1);
    sends.insert(sends.begin(), unit);
    free_dependents(unit);
    finish(std::move(command), sends);
    return sends.size();
  }

  /// Adds a command that also writes the messages of these units, and tells their receivers.
  void finish(Command command, const std::vector<int>& sends) {
    for (const int unit : sends) {
      const CompiledStep& sent = step(only_step(unit));
      // A peer that has sent something has left its program before.
      if (sent_to_.insert(sent.peer).second && !received_.contains(sent.peer))
        add({.does = Does::wait_until_free, .peer = sent.peer});
      if (sent.bytes > 0) command.outputs.push_back(place_of_message(only_step(unit)));
    }
    if (command.bytes > 0) add(std::move(command));
    for (const int unit : sends)
      add({.does = Does::tell, .peer = step(only_step(unit)).peer, .number = messages_.at(only_step(unit)).second});
  }

  [[nodiscard]] Spot place_of_message(int send) const {
    if (delivery(send) == Delivery::Of::pushed) return lent(send);
    return {.of = Spot::Of::remote, .peer = step(send).peer, .at = messages_.at(send).first};
  }

  void wait_for(int recv) {
    const auto& [place, number] = messages_.at(recv);
    received_.insert(step(recv).peer);
    add({.does = Does::wait_for_message, .peer = step(recv).peer, .number = number});
  }

  [[nodiscard]] bool can_write_to_many() const { return plan_.op.kind() != Op::Kind::user; }
  /// The sends that are ready, and send what a command has just made.
  [[nodiscard]] std::vector<int> take_sends_of(const Command& made) {
    const Spot& result = made.outputs.front();
    return take_sends_of(result.buffer, result.at, made.bytes, most_outputs - 1);
  }
  [[nodiscard]] std::vector<int> take_sends_of(Buffer buffer, std::int64_t where, std::int64_t bytes,
                                               std::size_t most) {
    std::vector<int> taken;
    for (auto next = free_.begin(); next != free_.end() && taken.size() < most;) {
      const int unit = *next;
      const CompiledStep& other = step(only_step(unit));
      if (!is_send(unit) || is_empty(other) || is_pulled(unit) || other.bytes != bytes ||
          place_of(plan_, other.lhs, other.lhs_at) != place_of(plan_, buffer, where)) {
        ++next;
        continue;
      }
      taken.push_back(unit);
      next = free_.erase(next);
    }
    for (const int unit : taken)
      free_dependents(unit);
    return taken;
  }
  void free_dependents(int unit) {
    for (const int dependent : units_[at(unit)].dependents)
      if (--units_[at(dependent)].waits == 0) ready_of(dependent).insert(dependent);
  }

  static Spot own(Buffer buffer, std::int64_t where) { return {.buffer = buffer, .at = where}; }
  /// Where a receiver finds a message.
  [[nodiscard]] Spot message(int recv) const {
    if (delivery(recv) == Delivery::Of::pulled) return lent(recv);
    return {.of = Spot::Of::landing, .peer = step(recv).peer, .at = messages_.at(recv).first};
  }
  [[nodiscard]] Command joint_reduction(const Unit& unit) const {
    const JointReduction& joint = plan_.joints[at(unit.joint)];
    Command command{.does = Does::reduce, .outputs = {own(joint.into, joint.into_at)}, .bytes = joint.bytes};
    for (const JointReduction::Operand& operand : joint.operands)
      command.inputs.push_back(operand.message >= 0 ? message(operand.message) : own(operand.buffer, operand.at));
    return command;
  }
  [[nodiscard]] Command command_of(const CompiledStep& what) const {
    const int number = static_cast<int>(&what - plan_.steps.data());
    if (what.bytes == 0 || (what.is_message() && delivery(number) == Delivery::Of::pushed)) return {};
    Command command{.outputs = {own(what.into, what.into_at)}, .bytes = what.bytes};
    const Spot lhs = own(what.lhs, what.lhs_at), rhs = own(what.rhs, what.rhs_at);
    command.does = what.verb == Verb::copy || what.verb == Verb::recv ? Does::copy : Does::reduce;
    if (what.verb == Verb::copy)
      command.inputs = {lhs};
    else if (what.verb == Verb::recv)
      command.inputs = {message(number)};
    else if (what.verb == Verb::reduce)
      command.inputs = {lhs, rhs};
    else
      command.inputs = what.lands_left ? std::vector{message(number), rhs} : std::vector{lhs, message(number)};
    return command;
  }
  void add(Command command) { program_.commands.push_back(std::move(command)); }

  const SharedPlan& plan_;
  const Deliveries& deliveries_;
  std::vector<int> unit_of_;
  std::vector<Unit> units_;
  std::map<int, std::pair<std::int64_t, std::uint32_t>>
      messages_;                    ///< By step: the place and the number of its message.
  std::set<int> free_, receiving_;  ///< Units that are ready.
  std::set<int> sent_to_, received_;

  Program program_;
};

}  // namespace

Program program_of(const SharedPlan& plan, const Deliveries& deliveries) {
  for (const bool joins : {true, false}) {
    Writer writer{plan, deliveries, joins};
    if (writer.write()) return std::move(writer).program();
  }
  throw Error("a plan whose steps wait for each other");
}

Counts counts_of(const Program& program) {
  Counts counts;
  for (const Command& command : program.commands) {
    if (command.does == Does::wait_until_free || command.does == Does::wait_for_message)
      ++counts.waits;
    else if (command.is_of_flag())
      ++counts.writes;
    else if (command.does == Does::copy && command.outputs.size() == 1)
      ++counts.copies;
    else
      ++counts.kernels;
  }
  return counts;
}

}  // namespace tutti::stream
