#include "lib/core/plan/shm_compile.hpp"

namespace tutti::shm {
namespace {

class Answers {
 public:
  Answers(SharedPlan& plan, const Messages& pairs, const Dependencies& after)
      : plan_(plan), pairs_(pairs), after_(after) {}

  void find() {
    for (const auto& [pair, messages] : pairs_) {
      const auto& [peer, receives] = pair;
      if (receives || step(messages[0]).transport != Transport::shm) continue;
      for (const int send : messages)
        find_result(send);
      const auto back = pairs_.find({peer, true});
      if (back != pairs_.end()) find_places(messages, back->second);
    }
  }

 private:
  [[nodiscard]] const CompiledStep& step(int i) const { return plan_.steps[static_cast<std::size_t>(i)]; }
  [[nodiscard]] const std::vector<int>& after(int i) const { return after_[static_cast<std::size_t>(i)]; }

  void find_result(int send) {
    if (!is_result(send)) return;
    plan_.side(after(send)[0]).forward = send;
    plan_.forwards = true;
  }
  /// Whether the send waits for nothing but a receive-and-reduce whose result it sends.
  [[nodiscard]] bool is_result(int send) {
    if (after(send).size() != 1) return false;
    const CompiledStep &sent = step(send), &made = step(after(send)[0]);
    return made.verb == Verb::recv_reduce && made.transport == Transport::shm && made.bytes == sent.bytes &&
           made.into == sent.lhs && made.into_at == sent.lhs_at;
  }

  /// For each send of other data the next receive whose place is free from the start, or is that of the data sent.
  void find_places(const std::vector<int>& sends, const std::vector<int>& recvs) {
    std::size_t next = 0;
    for (const int send : sends) {
      if (is_result(send)) continue;
      std::size_t at = next;
      while (at < recvs.size() && !fits(send, recvs[at]))
        ++at;
      if (at == recvs.size()) return;
      next = at + 1;
      const CompiledStep& recv = step(recvs[at]);
      SideStep& sent = plan_.side(send);
      sent.answer = recv.message;
      sent.answer_into = recv.into;
      sent.answer_at = recv.into_at;
    }
  }
  [[nodiscard]] bool fits(int send, int recv) {
    const CompiledStep &to = step(recv), &from = step(send);
    if (to.verb != Verb::recv || to.bytes != from.bytes || to.bytes == 0) return false;
    if (after(recv).empty()) return true;
    return after(recv).size() == 1 && after(recv)[0] == send &&
           place_of(plan_, to.into, to.into_at) == place_of(plan_, from.lhs, from.lhs_at);
  }

  SharedPlan& plan_;
  const Messages& pairs_;
  const Dependencies& after_;
};

}  // namespace

void find_answers(SharedPlan& plan, const Messages& pairs, const Dependencies& after) {
  Answers{plan, pairs, after}.find();
}

}  // namespace tutti::shm
