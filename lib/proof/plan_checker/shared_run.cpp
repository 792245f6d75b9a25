#include "lib/proof/plan_checker/shared_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "lib/proof/checker/fault.hpp"
#include "lib/proof/checker/memory.hpp"
#include "lib/proof/plan_checker/shared_accesses.hpp"

namespace tutti::checker {
namespace {

using Payload = std::vector<Value>;

class SharedRun {
 public:
  SharedRun(const Plans& plans, const RankSchedules& schedules, const Graph& graph, Values& values)
      : plans_(plans),
        graph_(graph),
        values_(values),
        plain_(schedules, values),
        shared_(schedules, values),
        first_(first_steps_of(plans)),
        answers_(answers_of(plans, graph)),
        arrived_(static_cast<std::size_t>(graph.steps())) {
    for (const Answer& answer : answers_)
      if (answer.offer >= 0) offers_of_.emplace(answer.reduction, answer);
  }

  void run() {
    for (const int event : graph_.order(Flow::one_credit).events) {
      const int step = Graph::step_of(event);
      if (Graph::is_start(event))
        start(step);
      else
        complete(step);
    }
    for (Rank rank; rank.value() < plans_.size(); rank = Rank{rank.value() + 1})
      require_same(rank);
  }
  [[nodiscard]] int delivered() const { return static_cast<int>(delivered_.size()); }

 private:
  using Key = std::pair<int, int>;  // rank, and number of a group or joint reduction there

  [[nodiscard]] const shm::SharedPlan& plan(int step) const { return plans_.of(graph_.rank(step)); }
  [[nodiscard]] const CompiledStep& compiled(int step) const {
    return plan(step).steps[static_cast<std::size_t>(graph_.local(step))];
  }
  [[nodiscard]] const shm::SideStep& side(int step) const { return plan(step).side(graph_.local(step)); }
  [[nodiscard]] const shm::JointReduction& joint(int step) const {
    return plan(step).joints[static_cast<std::size_t>(side(step).joint)];
  }
  [[nodiscard]] Key key(int step, int number) const { return {graph_.rank(step).value(), number}; }
  [[nodiscard]] std::span<Value> memory(int step, Buffer buffer, std::int64_t at, std::int64_t bytes) {
    return shared_.at(graph_.rank(step), region_of(plan(step), buffer, at, bytes));
  }
  [[nodiscard]] Payload copied(int step, Buffer buffer, std::int64_t at, std::int64_t bytes) {
    const std::span<Value> found = memory(step, buffer, at, bytes);
    return {found.begin(), found.end()};
  }

  void start(int step) {
    const shm::SideStep& at = side(step);
    if (at.group >= 0 && compiled(step).verb == Verb::send) {
      const auto [group, is_first] = groups_.try_emplace(key(step, at.group));
      if (is_first) group->second = payload_of(step, graph_, shared_);
    }
    if (at.joint < 0) return;
    const auto [operands, is_first] = operands_.try_emplace(key(step, at.joint));
    if (!is_first) return;
    for (const shm::JointReduction::Operand& operand : joint(step).operands)
      operands->second.push_back(operand.message >= 0 ? Payload{}
                                                      : copied(step, operand.buffer, operand.at, joint(step).bytes));
  }

  void complete(int step) {
    const bool receives = std::holds_alternative<Recv>(graph_.step(step).action);
    if (receives) receive(step);
    compute(step, graph_, plain_, values_);
    if (side(step).joint >= 0) {
      join(step);
      return put(step);
    }
    if (receives && delivered_.contains(graph_.partner(step))) return require_delivered(step);
    if (receives) deliver(arrived_[static_cast<std::size_t>(step)], step, graph_, shared_);
    compute(step, graph_, shared_, values_);
    if (side(step).forward >= 0 && compiled(step).transport != Transport::ipc) forward(step);
    put(step);
  }
  /// Writes a result made on a device to where peers offered a place for it.
  void put(int step) {
    const auto [first, last] = offers_of_.equal_range(step);
    for (auto offered = first; offered != last; ++offered) {
      if (compiled(offered->second.offer).transport != Transport::ipc) continue;
      const CompiledStep& made = compiled(step);
      const Payload result = copied(step, made.into, made.into_at, made.bytes);
      const shm::SideStep& place = side(offered->second.offer);
      std::ranges::copy(result, memory(offered->second.offer, place.answer_into, place.answer_at, made.bytes).begin());
      delivered_.emplace(offered->second.send, result);
    }
  }

  /// The data of a message are the same in both runs, no matter how it is sent.
  void receive(int step) {
    const int send = graph_.partner(step);
    Payload& came = arrived_[static_cast<std::size_t>(step)];
    came = payload_of(send, graph_, plain_);
    deliver(came, step, graph_, plain_);
    require_same(came, payload_of(send, graph_, shared_), send);
    if (const auto made = forwarded_.find(send); made != forwarded_.end()) require_same(came, made->second, send);
    if (side(send).group >= 0) require_same(came, groups_.at(key(send, side(send).group)), send);
  }
  void require_same(const Payload& plain, const Payload& shared, int send) const {
    if (shared != plain)
      throw Fault{graph_.describe(send) + ": sends something else where steps are joined, forwarded or shared"};
  }

  /// A step of a joint reduction. The last does it all; the results of the others may be written or not.
  void join(int step) {
    const CompiledStep& at = compiled(step);
    const shm::JointReduction& all = joint(step);
    const auto& steps = plan(step).steps;
    const auto is_member = [&](const CompiledStep& other) {
      return plan(step).side(other).joint == side(step).joint && other.verb != Verb::recv;
    };
    const auto last = std::find_if(steps.rbegin(), steps.rend(), is_member);
    if (at.verb == Verb::recv_reduce) {  // where the message would have landed
      const auto [landing, landing_at] = at.lands_left ? std::pair{at.lhs, at.lhs_at} : std::pair{at.rhs, at.rhs_at};
      std::ranges::fill(memory(step, landing, landing_at, at.bytes), Value::garbage);
    }
    if (last == steps.rend() || &*last != &at) {
      std::ranges::fill(memory(step, at.into, at.into_at, at.bytes), Value::garbage);
      return;
    }
    Payload sum;
    for (std::size_t k = 0; k < all.operands.size(); ++k)
      add(sum, operand(step, k), step);
    std::ranges::copy(sum, memory(step, all.into, all.into_at, all.bytes).begin());
  }

  [[nodiscard]] const Payload& operand(int step, std::size_t k) const {
    const int message = joint(step).operands[k].message;
    if (message < 0) return operands_.at(key(step, side(step).joint))[k];
    const int received = first_[static_cast<std::size_t>(graph_.rank(step).value())] + message;
    return arrived_[static_cast<std::size_t>(received)];
  }

  void add(Payload& sum, const Payload& operand, int step) {
    if (static_cast<std::int64_t>(operand.size()) * plan(step).element != joint(step).bytes)
      throw Fault{graph_.describe(step) + ": is joined with a message of another size"};
    if (std::ranges::find(operand, Value::garbage) != operand.end())
      throw Fault{graph_.describe(step) + ": is joined with garbage"};
    if (sum.empty()) {
      sum = operand;
      return;
    }
    std::ranges::transform(sum, operand, sum.begin(), [&](Value lhs, Value rhs) { return values_.reduced(lhs, rhs); });
  }

  /// Sends a result as it is made, and writes it where it belongs if the sender of its operand said where.
  void forward(int step) {
    const CompiledStep& made = compiled(step);
    const int send = first_[static_cast<std::size_t>(graph_.rank(step).value())] + side(step).forward;
    Payload result = copied(step, made.into, made.into_at, made.bytes);
    const auto offered = offers_of_.find(step);
    if (offered != offers_of_.end()) {
      const int offer = offered->second.offer;
      const shm::SideStep& place = side(offer);
      std::ranges::copy(result, memory(offer, place.answer_into, place.answer_at, made.bytes).begin());
      delivered_.emplace(send, result);
    }
    forwarded_.emplace(send, std::move(result));
  }

  void require_delivered(int step) {
    const CompiledStep& at = compiled(step);
    const std::span<const Value> found = memory(step, at.into, at.into_at, at.bytes);
    if (at.verb != Verb::recv || !std::ranges::equal(found, arrived_[static_cast<std::size_t>(step)]))
      throw Fault{graph_.describe(step) + ": finds something else where its message was to be written"};
  }

  void require_same(Rank rank) {
    const std::span<Value> plain = plain_.output(rank), shared = shared_.output(rank);
    const auto [expected, found] = std::ranges::mismatch(plain, shared);
    if (expected == plain.end()) return;
    throw Fault{fmt::format("rank {}: output[{}] is {}, not {}, where steps are joined, forwarded or shared",
                            rank.value(), expected - plain.begin(), values_.text(*found), values_.text(*expected))};
  }

  const Plans& plans_;
  const Graph& graph_;
  Values& values_;
  Memory plain_, shared_;
  std::vector<int> first_;
  std::vector<Answer> answers_;
  std::multimap<int, Answer> offers_of_;  ///< By the reduction that makes the answer.
  std::vector<Payload> arrived_;          ///< By receive, in the shared run.
  std::map<int, Payload> forwarded_;      ///< By send.
  std::map<int, Payload> delivered_;      ///< By send.
  std::map<Key, Payload> groups_;
  std::map<Key, std::vector<Payload>> operands_;  ///< This rank's operands of joint reductions.
};

}  // namespace

int require_same_when_shared(const Plans& plans, const RankSchedules& schedules, const Graph& graph) {
  Values values{schedules};
  SharedRun run{plans, schedules, graph, values};
  run.run();
  return run.delivered();
}

}  // namespace tutti::checker
