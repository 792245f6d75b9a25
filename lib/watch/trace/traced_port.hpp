#pragma once
// A port that records the messages of its execution.

#include <cstddef>
#include <utility>

#include "lib/core/exec/port.hpp"
#include "lib/watch/trace/steps.hpp"

namespace tutti::trace {

/// Takes the place of `Mover` in an execution whose steps are recorded: plain executions do not know of it.
template <class Mover>
class TracedPort : public Mover {
 public:
  /// The steps have to outlive it.
  TracedPort(Steps& steps, Mover mover) : Mover(std::move(mover)), steps_(&steps) {}

  void bind(const Bases& bases) {
    steps_->begin();
    Mover::bind(bases);
  }
  Posted post_send(int index, const CompiledStep& step, const std::byte* data) {
    if (Mover::has_begun(index)) steps_->has_begun(index);
    return posted(index, [&] { return Mover::post_send(index, step, data); });
  }
  Posted post_recv(int index, const CompiledStep& step, std::byte* into) {
    return posted(index, [&] { return Mover::post_recv(index, step, into); });
  }
  Posted post_recv_reduce(int index, const CompiledStep& step, const Operands& operands) {
    return posted(index, [&] { return Mover::post_recv_reduce(index, step, operands); });
  }
  template <class OnComplete>
  int poll(OnComplete on_complete) {
    steps_->poll();
    const int moved = Mover::poll([&](int index) {
      steps_->arrived(index);
      on_complete(index);
    });
    steps_->polled(moved);
    return moved;
  }

 private:
  template <class Post>
  Posted posted(int index, const Post& post) {
    steps_->post(index);
    const Posted how = post();
    steps_->posted(index, how);
    return how;
  }
  Steps* steps_;
};

}  // namespace tutti::trace
