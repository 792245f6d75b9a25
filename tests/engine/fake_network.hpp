#pragma once
// A network inside one process, as unfriendly as the rules allow: messages are moved in random order, late, and posts
// are refused at random.

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <random>
#include <stdexcept>
#include <vector>

#include "lib/core/exec/port.hpp"

namespace tutti::test {

class FakeNetwork {
 public:
  struct Message {
    int from = 0, to = 0, number = 0;
    const std::byte* source = nullptr;
    std::vector<std::byte> copy;  ///< The data sent, if buffered.
    bool buffered = false;
    std::byte* destination = nullptr;
    std::int64_t sent = -1, expected = -1;  ///< -1: that side was not posted yet.
    int send_step = -1, recv_step = -1;
  };

  /// Moves bytes that the host may not be able to read. Over when it returns.
  using Copy = void (*)(std::byte* to, const std::byte* from, std::size_t bytes);
  static void host_copy(std::byte* to, const std::byte* from, std::size_t bytes) { std::memcpy(to, from, bytes); }

  explicit FakeNetwork(unsigned seed, Copy copy = host_copy) : random_(seed), copy_(copy) {}

  void copy(std::byte* to, const std::byte* from, std::size_t bytes) const {
    if (bytes > 0) copy_(to, from, bytes);
  }

  [[nodiscard]] bool busy() { return random_() % 4 == 0; }
  /// Whether the next send is copied and complete at once (eager) rather than read when it is moved (rendezvous).
  [[nodiscard]] bool buffers() { return random_() % 2 == 0; }
  Message& find(int from, int to, int number) {
    for (Message& message : messages_)
      if (message.from == from && message.to == to && message.number == number) return message;
    Message& fresh = messages_.emplace_back();
    fresh.from = from;
    fresh.to = to;
    fresh.number = number;
    return fresh;
  }

  struct Done {
    int rank, step;
  };
  /// Moves one randomly chosen message that both sides have posted, if there is any.
  void move_one() {
    std::vector<std::size_t> both;
    for (std::size_t i = 0; i < messages_.size(); ++i)
      if (messages_[i].send_step >= 0 && messages_[i].recv_step >= 0) both.push_back(i);
    if (both.empty()) return;
    const std::size_t chosen = both[random_() % both.size()];
    const Message message = messages_[chosen];
    messages_.erase(messages_.begin() + static_cast<std::ptrdiff_t>(chosen));
    if (message.sent != message.expected) throw std::logic_error("sizes of a message differ");
    const std::byte* const source = message.buffered ? message.copy.data() : message.source;
    copy(message.destination, source, static_cast<std::size_t>(message.sent));
    if (!message.buffered) done_.push_back({message.from, message.send_step});
    done_.push_back({message.to, message.recv_step});
    ++moved_;
  }

  /// Receives a message that was sent and copied; false if there is none.
  bool take(int from, int to, int number, std::int64_t expected, std::byte* into) {
    const auto found = std::ranges::find_if(messages_, [&](const Message& message) {
      return message.from == from && message.to == to && message.number == number && message.buffered;
    });
    if (found == messages_.end()) return false;
    if (found->sent != expected) throw std::logic_error("sizes of a message differ");
    copy(into, found->copy.data(), found->copy.size());
    messages_.erase(found);
    ++moved_;
    return true;
  }

  template <class OnComplete>
  int collect(int rank, OnComplete on_complete) {
    int found = 0;
    for (std::size_t i = 0; i < done_.size();) {
      if (done_[i].rank != rank) {
        ++i;
        continue;
      }
      const int step = done_[i].step;
      done_.erase(done_.begin() + static_cast<std::ptrdiff_t>(i));
      on_complete(step);
      ++found;
    }
    return found;
  }
  [[nodiscard]] bool quiet() const { return messages_.empty() && done_.empty(); }
  [[nodiscard]] int moved() const { return moved_; }

 private:
  std::mt19937 random_;
  Copy copy_;
  std::vector<Message> messages_;
  std::vector<Done> done_;
  int moved_ = 0;
};

/// The transport of one rank (see lib/core/exec/port.hpp).
class FakePort {
 public:
  /// With a plan, the port does its part of shared memory: receive-and-reduce steps, and runs on the fast path.
  FakePort(FakeNetwork& network, int rank, const CompiledPlan* plan = nullptr)
      : network_(&network), rank_(rank), plan_(plan), operands_(plan == nullptr ? 0 : plan->steps.size()) {}

  void bind(const Bases& /*bases*/) {}
  [[nodiscard]] std::int64_t reduced(const CompiledStep& /*step*/) const { return 0; }
  [[nodiscard]] static bool has_begun(int /*index*/) { return false; }
  Posted post_send(int index, const CompiledStep& step, const std::byte* data) {
    if (network_->busy()) return Posted::busy;
    FakeNetwork::Message& message = network_->find(rank_, step.peer, step.message);
    message.sent = step.bytes;
    message.send_step = index;
    message.buffered = network_->buffers();
    if (message.buffered) {
      message.copy.resize(static_cast<std::size_t>(step.bytes));
      network_->copy(message.copy.data(), data, message.copy.size());
    } else {
      message.source = data;
    }
    return message.buffered ? Posted::complete : Posted::pending;
  }
  Posted post_recv(int index, const CompiledStep& step, std::byte* data) {
    if (network_->busy()) return Posted::busy;
    FakeNetwork::Message& message = network_->find(step.peer, rank_, step.message);
    message.destination = data;
    message.expected = step.bytes;
    message.recv_step = index;
    return Posted::pending;
  }
  Posted post_recv_reduce(int index, const CompiledStep& step, const Operands& operands) {
    if (plan_ != nullptr) operands_[static_cast<std::size_t>(index)] = operands;
    return post_recv(index, step, step.lands_left ? operands.lhs : operands.rhs);
  }
  /// A send can be taken at once, a receive once its message has been sent.
  template <class Again>
  bool transfer(const CompiledStep& step, const Operands& data, Again& again) {
    while (!(step.verb == Verb::send ? send_now(step, data.lhs) : receive_now(step, data)))
      if (!again()) return false;
    return true;
  }
  void transferred(int /*index*/, const CompiledStep& /*step*/) {}
  template <class OnComplete>
  int poll(OnComplete on_complete) {
    return network_->collect(rank_, [&](int index) {
      if (plan_ != nullptr)
        reduce(plan_->steps[static_cast<std::size_t>(index)], operands_[static_cast<std::size_t>(index)]);
      on_complete(index);
    });
  }

 private:
  bool send_now(const CompiledStep& step, const std::byte* data) {
    if (network_->busy()) return false;
    FakeNetwork::Message& message = network_->find(rank_, step.peer, step.message);
    message.copy.assign(data, data + step.bytes);
    message.buffered = true;
    message.sent = step.bytes;
    message.send_step = 0;
    return true;
  }
  bool receive_now(const CompiledStep& step, const Operands& operands) {
    std::byte* const into = step.verb == Verb::recv ? operands.into : step.lands_left ? operands.lhs : operands.rhs;
    if (!network_->take(step.peer, rank_, step.message, step.bytes, into)) return false;
    reduce(step, operands);
    return true;
  }
  void reduce(const CompiledStep& step, const Operands& operands) const {
    if (step.verb == Verb::recv_reduce) plan_->combine(operands.lhs, operands.rhs, operands.into, step.bytes);
  }

  FakeNetwork* network_;
  int rank_;
  const CompiledPlan* plan_;
  std::vector<Operands> operands_;  ///< By step.
};

}  // namespace tutti::test
