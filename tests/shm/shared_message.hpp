#pragma once
// One message that both its ranks work at, both of them in this process.

#include <functional>
#include <vector>

#include "tests/shm/shm_two_ends.hpp"

namespace tutti::shm {

/// Rank 1 sends rank 0 one message, and has nothing else to do.
class SharedMessage : public TwoEnds {
 protected:
  static constexpr std::int64_t bytes = 1'000'000;

  explicit SharedMessage(const std::function<CompiledPlan(int)>& plan_of)
      : TwoEnds(SingleCopyUse::always), receivers_(plan_of(0)), senders_(plan_of(1)) {}

  void receive(std::byte* into) {
    receiver_.begin(received_runs_++, 0);
    ASSERT_EQ(receiver_.post_recv(0, receivers_.steps[0], into), Posted::pending);
  }
  void receive_and_reduce(const Operands& operands) {
    receiver_.begin(received_runs_++, 0);
    ASSERT_EQ(receiver_.post_recv_reduce(0, receivers_.steps[0], operands), Posted::pending);
  }
  void send(const std::byte* data) {
    sender_.begin(sent_runs_++, 0);
    is_sent_ = sender_.post_send(0, senders_.steps[0], data, nullptr) == Posted::complete;
  }
  bool is_received() {
    bool over = false;
    receiver_.poll([&over](int /*step*/) { over = true; });
    return over;
  }
  bool is_sent() {
    sender_.poll([this](int /*step*/) { is_sent_ = true; });
    return is_sent_;
  }
  /// In turns, to the end; who is not over before.
  void end(bool received = false) {
    for (int looks = 0; looks < 40; ++looks) {
      received = received || is_received();
      static_cast<void>(is_sent());
    }
    EXPECT_TRUE(received && is_sent_);
  }
  /// As the sender sees it.
  [[nodiscard]] SharedCopy copy() { return links_[1]->open(0).sent_copy(0, bytes); }

  std::vector<std::byte> data_ = numbered(bytes), target_ = std::vector<std::byte>(bytes);
  CompiledPlan receivers_, senders_;
  ShmPort receiver_{route_of(0), receivers_}, sender_{route_of(1), senders_};

 private:
  std::uint64_t received_runs_ = 0, sent_runs_ = 0;
  bool is_sent_ = false;
};

}  // namespace tutti::shm
