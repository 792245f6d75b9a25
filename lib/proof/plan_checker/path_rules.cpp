#include "lib/proof/plan_checker/path_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "lib/core/plan/pair_order.hpp"

namespace tutti::checker {
namespace {

using shm::JointReduction;
using shm::SharedMemory;
using shm::SharedPlan;
using shm::SideStep;

class PathRules {
 public:
  PathRules(const SharedPlan& plan, const SharedMemory& memory)
      : plan_(plan), memory_(memory), pairs_(by_pair(plan.steps)) {}

  std::string broken() {
    for (const CompiledStep& each : plan_.steps)
      if (each.verb == Verb::send && plan_.side(each).group >= 0) ++left_[plan_.side(each).group];
    for (const auto& [pair, messages] : pairs_)
      keeps_order(messages);
    for (int i = 0; i < static_cast<int>(plan_.steps.size()); ++i) {
      if (step(i).verb == Verb::send && side(i).group >= 0) shares(i);
      if (side(i).forward >= 0) forwards(i);
      if (step(i).verb == Verb::send && side(i).answer >= 0) offers(i);
      if (step(i).verb != Verb::send) writes(step(i));
    }
    std::vector<std::vector<int>> chains(plan_.joints.size());
    for (int i = 0; i < static_cast<int>(plan_.steps.size()); ++i)
      if (side(i).joint >= 0) {
        if (step(i).verb != Verb::recv) chains[static_cast<std::size_t>(side(i).joint)].push_back(i);
        const auto& operands = plan_.joints[static_cast<std::size_t>(side(i).joint)].operands;
        const bool is_one = std::ranges::find(operands, i, &JointReduction::Operand::message) != operands.end();
        require(is_one || step(i).verb == Verb::reduce, step(i), "a message that no joint reduction takes");
      }
    if (plan_.takes_fast_path) fast_path();
    for (std::size_t joint = 0; joint < chains.size(); ++joint)
      joins(plan_.joints[joint], chains[joint]);
    return broken_;
  }

 private:
  struct Group {
    const CompiledStep* first = nullptr;
    std::set<int> readers{};
    bool is_overwritten = false;
    std::multimap<Place, int>::iterator data{};  ///< In shared_.
  };

  [[nodiscard]] const SideStep& side(int i) const { return plan_.side(i); }
  [[nodiscard]] const CompiledStep& step(int i) const { return plan_.steps[static_cast<std::size_t>(i)]; }
  void require(bool holds, const CompiledStep& at, const char* rule) {
    if (!holds && broken_.empty())
      broken_ = fmt::format("step {}, with rank {}: {}", &at - plan_.steps.data(), at.peer, rule);
  }
  [[nodiscard]] std::int64_t pieces(const CompiledStep& message) const {
    const std::int64_t piece = plan_.piece_of(memory_.piece_bytes);
    return std::max<std::int64_t>(1, (message.bytes + piece - 1) / piece);
  }

  void keeps_order(const std::vector<int>& messages) {
    int before = -1;
    for (const int i : messages) {
      require(step(i).previous == before, step(i), "a message does not follow the one before it");
      if (plan_.takes_turns)  // else they have no numbers of their own
        require(before < 0 || step(before).message < step(i).message, step(i), "messages are not in order");
      require(step(i).transport == step(messages[0]).transport, step(i), "messages of a pair go different ways");
      if (before >= 0) require(step(before).next == i, step(before), "a message does not know the one after it");
      before = i;
    }
    require(step(before).next < 0, step(before), "the last message knows one after it");
  }

  /// One step after the other, each message whole and by itself.
  void fast_path() {
    for (const auto& [pair, messages] : pairs_)
      require(static_cast<int>(messages.size()) <= memory_.eager_messages, step(messages[0]),
              "more messages of a fast-path plan than there is room for");
    for (int i = 0; i < static_cast<int>(plan_.steps.size()); ++i) {
      for (int d = step(i).first_dependent; d < step(i).last_dependent; ++d)
        require(plan_.dependents[static_cast<std::size_t>(d)] > i, step(i),
                "a step of a fast-path plan waits for a later one");
      require(side(i).joint < 0 && side(i).group < 0, step(i), "a step of a fast-path plan that is shared or joined");
      if (!step(i).is_message()) continue;
      require(step(i).transport == Transport::shm, step(i),
              "a message of a fast-path plan that is not in shared memory");
      require(pieces(step(i)) == 1, step(i), "a message of a fast-path plan in pieces");
    }
  }

  void shares(int i) {
    const CompiledStep& send = step(i);
    const int number = side(i).group;
    Group& group = groups_[number];
    const Place data = place_of(plan_, send.lhs, send.lhs_at);
    if (group.first == nullptr) {
      group.first = &send;
      group.data = shared_.emplace(data, number);
      longest_shared_ = std::max(longest_shared_, send.bytes);
    }
    const bool is_same = place_of(plan_, group.first->lhs, group.first->lhs_at) == data;
    require(is_same && group.first->bytes == send.bytes, send, "other data than its group's");
    require(!group.is_overwritten, send, "its group's data are overwritten before");
    require(group.readers.insert(send.peer).second, send, "a rank reads a shared copy twice");
    require(send.transport == Transport::shm, send, "a shared copy that is not in shared memory");
    require(number < plan_.groups, send, "a group that does not count");
    if (--left_[number] > 0) return;
    shared_.erase(group.data);
    groups_.erase(number);
  }

  void writes(const CompiledStep& writer) {
    const auto [buffer, at] = place_of(plan_, writer.into, writer.into_at);
    auto each = shared_.lower_bound({buffer, at - longest_shared_});
    for (; each != shared_.end() && each->first < Place{buffer, at + writer.bytes}; ++each) {
      Group& group = groups_.at(each->second);
      group.is_overwritten |= at < each->first.second + group.first->bytes;
    }
  }

  [[nodiscard]] bool waits_only_for(int later, int earlier) const {
    const CompiledStep& before = step(earlier);
    const auto begin = plan_.dependents.begin();
    const bool waits = std::find(begin + before.first_dependent, begin + before.last_dependent, later) !=
                       begin + before.last_dependent;
    return waits && plan_.waits[static_cast<std::size_t>(later)] == 1;
  }

  void forwards(int i) {
    const CompiledStep &made = step(i), &sent = step(side(i).forward);
    require(made.verb == Verb::recv_reduce && sent.verb == Verb::send, made, "forwards what is no result");
    require(waits_only_for(side(i).forward, i), made, "forwards what is not finished");
    const bool is_same = made.into == sent.lhs && made.into_at == sent.lhs_at && made.bytes == sent.bytes;
    require(is_same, made, "forwards other data than its result");
  }

  void offers(int i) {
    const CompiledStep& send = step(i);
    const SideStep& offer = side(i);
    const auto back = pairs_.find({send.peer, true});
    if (back == pairs_.end()) return require(false, send, "offers a place for a message that does not come");
    const auto number = [&](int recv) { return step(recv).message; };  // they ascend, see keeps_order()
    const auto found = std::ranges::lower_bound(back->second, offer.answer, {}, number);
    if (found == back->second.end() || number(*found) != offer.answer)
      return require(false, send, "offers a place for a message that does not come");
    const CompiledStep& recv = step(*found);
    const bool is_place = recv.verb == Verb::recv && recv.into == offer.answer_into && recv.into_at == offer.answer_at;
    require(is_place && recv.bytes == send.bytes, send, "offers another place than the receive's");
    const bool is_own =
        waits_only_for(*found, i) && place_of(plan_, recv.into, recv.into_at) == place_of(plan_, send.lhs, send.lhs_at);
    require(plan_.waits[static_cast<std::size_t>(*found)] == 0 || is_own, send, "offers a place that is not free");
    require(offered_.insert(*found).second, send, "offers a place twice");
  }

  [[nodiscard]] bool is_alone_before(int earlier, int later) const {
    const CompiledStep& before = step(earlier);
    return before.last_dependent - before.first_dependent == 1 &&
           plan_.dependents[static_cast<std::size_t>(before.first_dependent)] == later;
  }
  /// Whether the step need not write its result: nobody sees scratch, and other places are overwritten by a later step.
  [[nodiscard]] bool is_written_later(int i) const {
    const Place place = place_of(plan_, step(i).into, step(i).into_at);
    return place.first == Buffer::scratch ||
           std::any_of(plan_.steps.begin() + i + 1, plan_.steps.end(), [&](const CompiledStep& later) {
             return later.verb != Verb::send && later.bytes >= step(i).bytes &&
                    place_of(plan_, later.into, later.into_at) == place;
           });
  }
  [[nodiscard]] static bool share(const Place& a, const Place& b, std::int64_t bytes) {
    return a.first == b.first && a.second < b.second + bytes && b.second < a.second + bytes;
  }

  /// Checks a joint reduction: its steps, made one by one, have to come to the same result.
  void joins(const JointReduction& joint, const std::vector<int>& chain) {
    if (chain.empty() || joint.operands.size() != chain.size() + 1)
      return require(false, plan_.steps[0], "a joint reduction of other operands than its steps'");
    Place sum = place_of(plan_, step(chain[0]).lhs, step(chain[0]).lhs_at);
    joins_operand(joint, chain, 0, sum);
    require(joint.operands[0].message >= 0 || joint.operands[1].message >= 0, step(chain[0]),
            "a joint reduction that begins before a message is there");
    for (std::size_t k = 0; k < chain.size(); ++k) {
      const CompiledStep& at = step(chain[k]);
      require(at.bytes == joint.bytes, at, "a joint reduction of other sizes than its steps'");
      require(place_of(plan_, at.lhs, at.lhs_at) == sum, at, "a joint reduction that does not go on with its sum");
      require(k == 0 || is_alone_before(chain[k - 1], chain[k]), at, "a sum on the way that others may read");
      require(k == 0 || is_written_later(chain[k - 1]), at, "a sum on the way that is part of the output");
      joins_operand(joint, chain, k + 1, place_of(plan_, at.rhs, at.rhs_at));
      sum = place_of(plan_, at.into, at.into_at);
    }
    require(sum == place_of(plan_, joint.into, joint.into_at), step(chain.back()), "a joint reduction into elsewhere");
    waits_for_its_messages(joint, chain);
  }

  /// Checks operand k of a joint reduction: it is the operand of its step, and unchanged until all messages have come.
  void joins_operand(const JointReduction& joint, const std::vector<int>& chain, std::size_t k, const Place& place) {
    const JointReduction::Operand& operand = joint.operands[k];
    const std::size_t reader = k == 0 ? 0 : k - 1;
    const CompiledStep& at = step(chain[reader]);
    if (operand.message == chain[reader])
      return require(at.verb == Verb::recv_reduce && at.lands_left == (k == 0), at, "a message as the other operand");
    require(at.verb != Verb::recv_reduce || at.lands_left != (k == 0), at, "a message that is not waited for");
    if (operand.message >= 0) {
      const CompiledStep& recv = step(operand.message);
      require(recv.bytes == joint.bytes && recv.transport == Transport::shm, at, "a message that cannot be joined");
      require(plan_.waits[static_cast<std::size_t>(operand.message)] == 0, at, "a receive that has to wait");
      const bool is_it = recv.verb == Verb::recv && place_of(plan_, recv.into, recv.into_at) == place;
      require(is_written_later(operand.message), at, "a joined message that is part of the output");
      return require(is_it && is_alone_before(operand.message, chain[reader]), at, "a message that others may read");
    }
    require(place_of(plan_, operand.buffer, operand.at) == place, at, "another operand than its step's");
    for (std::size_t i = 0; i < chain.size(); ++i) {
      const Place written = place_of(plan_, step(chain[i]).into, step(chain[i]).into_at);
      const bool is_last = i + 1 == chain.size();
      if (i < reader || (is_last && written != place))
        require(!share(written, place, joint.bytes), at, "an operand that is written before it is read");
    }
  }

  /// None of its steps waits for more, but the first where no message is received before that starts.
  void waits_for_its_messages(const JointReduction& joint, const std::vector<int>& chain) {
    std::map<int, int> received;  // by the step that waits
    for (std::size_t k = 0; k < joint.operands.size(); ++k) {
      const std::size_t reader = k == 0 ? 0 : k - 1;
      if (joint.operands[k].message >= 0 && joint.operands[k].message != chain[reader]) ++received[chain[reader]];
    }
    for (std::size_t k = received.empty() ? 1 : 0; k < chain.size(); ++k)
      require(plan_.waits[static_cast<std::size_t>(chain[k])] == received[chain[k]] + (k > 0 ? 1 : 0), step(chain[k]),
              "a joint reduction that waits for something else");
  }

  const SharedPlan& plan_;
  const SharedMemory& memory_;
  Messages pairs_;
  std::map<int, Group> groups_;       ///< Those of which not all sends were seen.
  std::multimap<Place, int> shared_;  ///< Where their data are.
  std::int64_t longest_shared_ = 0;   ///< Of any group.
  std::map<int, int> left_;           ///< Sends by group.
  std::set<int> offered_;             ///< Receives.
  std::string broken_;
};

}  // namespace

std::string broken_path_rule(const SharedPlan& plan, const SharedMemory& memory) {
  if (memory.reaches.empty()) return {};
  return PathRules{plan, memory}.broken();
}

}  // namespace tutti::checker
