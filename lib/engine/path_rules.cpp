#include "lib/engine/path_rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "lib/engine/message_paths.hpp"

namespace tutti {
namespace {

class PathRules {
 public:
  PathRules(const CompiledPlan& plan, const SharedMemory& memory)
      : plan_(plan), memory_(memory), pairs_(by_pair(plan.steps)) {}

  std::string broken() {
    for (const CompiledStep& each : plan_.steps)
      if (each.verb == Verb::send && each.group >= 0) ++left_[each.group];
    for (const auto& [pair, messages] : pairs_) {
      keeps_order(messages);
      if (step(messages[0]).path == Path::swap) keeps_parity(pair.first, !pair.second, messages);
    }
    for (int i = 0; i < static_cast<int>(plan_.steps.size()); ++i) {
      if (step(i).verb == Verb::send && step(i).group >= 0) shares(i);
      if (step(i).forward >= 0) forwards(i);
      if (step(i).verb == Verb::send && step(i).answer >= 0) offers(i);
      if (!step(i).is_message() || step(i).verb != Verb::send) writes(step(i));
    }
    return broken_;
  }

 private:
  struct Group {
    const CompiledStep* first = nullptr;
    std::set<int> readers{};
    bool is_overwritten = false;
  };

  [[nodiscard]] const CompiledStep& step(int i) const { return plan_.steps[static_cast<std::size_t>(i)]; }
  void require(bool holds, const CompiledStep& at, const char* rule) {
    if (!holds && broken_.empty())
      broken_ = fmt::format("step {}, with rank {}: {}", &at - plan_.steps.data(), at.peer, rule);
  }
  [[nodiscard]] std::int64_t pieces(const CompiledStep& message) const {
    const std::int64_t piece = plan_.piece_of(memory_.piece_bytes);
    return std::max<std::int64_t>(1, (message.bytes + piece - 1) / piece);
  }
  [[nodiscard]] std::int64_t pieces(const std::vector<int>& messages) const {
    std::int64_t sum = 0;
    for (const int message : messages)
      sum += pieces(step(message));
    return sum;
  }

  void keeps_order(const std::vector<int>& messages) {
    int before = -1;
    for (const int i : messages) {
      require(step(i).previous == before, step(i), "a message does not follow the one before it");
      if (plan_.takes_turns)  // else they have no numbers of their own
        require(before < 0 || step(before).message < step(i).message, step(i), "messages are not in order");
      require(step(i).path == step(messages[0]).path, step(i), "messages of a pair go different ways");
      before = i;
    }
  }

  void keeps_parity(int peer, bool sends, const std::vector<int>& messages) {
    const auto back = pairs_.find({peer, sends});
    const std::int64_t all = pieces(messages);
    const CompiledStep& first = step(messages[0]);
    require(plan_.takes_turns, first, "swapped slots in a plan that takes no turns");
    require(back != pairs_.end() && pieces(back->second) == all, first, "swapped slots, but not as many pieces back");
    require(all <= memory_.swap_slots, first, "more pieces than swapped slots");
    std::int64_t slot = 0;
    for (const int i : messages) {
      require(step(i).slot == slot, step(i), "a swapped slot out of turn");
      slot += pieces(step(i));
    }
  }

  void shares(int i) {
    const CompiledStep& send = step(i);
    Group& group = groups_[send.group];
    if (group.first == nullptr) group.first = &send;
    const bool is_same =
        place_of(plan_, group.first->lhs, group.first->lhs_at) == place_of(plan_, send.lhs, send.lhs_at);
    require(is_same && group.first->bytes == send.bytes, send, "other data than its group's");
    require(!group.is_overwritten, send, "its group's data are overwritten before");
    require(group.readers.insert(send.peer).second, send, "a rank reads a shared copy twice");
    require(is_shared_memory(send.path), send, "a shared copy that is not in shared memory");
    if (--left_[send.group] == 0) groups_.erase(send.group);
  }

  void writes(const CompiledStep& writer) {
    const auto [buffer, at] = place_of(plan_, writer.into, writer.into_at);
    for (auto& [number, group] : groups_) {
      const auto [read, begin] = place_of(plan_, group.first->lhs, group.first->lhs_at);
      group.is_overwritten |= buffer == read && at < begin + group.first->bytes && begin < at + writer.bytes;
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
    const CompiledStep &made = step(i), &sent = step(made.forward);
    require(made.verb == Verb::recv_reduce && sent.verb == Verb::send, made, "forwards what is no result");
    require(waits_only_for(made.forward, i), made, "forwards what is not finished");
    const bool is_same = made.into == sent.lhs && made.into_at == sent.lhs_at && made.bytes == sent.bytes;
    require(is_same, made, "forwards other data than its result");
  }

  void offers(int i) {
    const CompiledStep& send = step(i);
    const auto back = pairs_.find({send.peer, true});
    if (back == pairs_.end()) return require(false, send, "offers a place for a message that does not come");
    const auto found = std::ranges::find_if(back->second, [&](int recv) { return step(recv).message == send.answer; });
    if (found == back->second.end()) return require(false, send, "offers a place for a message that does not come");
    const CompiledStep& recv = step(*found);
    const bool is_place = recv.verb == Verb::recv && recv.into == send.into && recv.into_at == send.into_at;
    require(is_place && recv.bytes == send.bytes, send, "offers another place than the receive's");
    const bool is_own =
        waits_only_for(*found, i) && place_of(plan_, recv.into, recv.into_at) == place_of(plan_, send.lhs, send.lhs_at);
    require(plan_.waits[static_cast<std::size_t>(*found)] == 0 || is_own, send, "offers a place that is not free");
    require(offered_.insert(*found).second, send, "offers a place twice");
  }

  const CompiledPlan& plan_;
  const SharedMemory& memory_;
  Messages pairs_;
  std::map<int, Group> groups_;  ///< Those of which not all sends were seen.
  std::map<int, int> left_;      ///< Sends by group.
  std::set<int> offered_;        ///< Receives.
  std::string broken_;
};

}  // namespace

std::string broken_path_rule(const CompiledPlan& plan, const SharedMemory& memory) {
  if (memory.reaches.empty()) return {};
  return PathRules{plan, memory}.broken();
}

}  // namespace tutti
