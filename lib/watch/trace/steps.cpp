#include "lib/watch/trace/steps.hpp"

#include <algorithm>

namespace tutti::trace {
namespace {

Way way_of(Transport transport) {
  switch (transport) {
    case Transport::shm:
      return Way::shm;
    case Transport::ipc:
      return Way::ipc;
    case Transport::mpi:
      return Way::mpi;
    case Transport::network:
      return Way::network;
    case Transport::device:
      break;
  }
  return Way::device;
}

/// The action of a message. A reduction that is made once the message is there has a record of its own.
Action action_of(const CompiledStep& step) {
  if (step.transport == Transport::device) return step.verb == Verb::send ? Action::store : Action::fetch;
  if (step.verb == Verb::send) return Action::send;
  return step.verb == Verb::recv_reduce ? Action::recv_reduce : Action::recv;
}

}  // namespace

void Steps::begin() {
  std::ranges::fill(begun_, 0);
  polled_at_ = now();
  wait_begin_ = idle_since_ = idle_ = 0;
}

void Steps::taken(int index, Posted how) {
  const auto i = static_cast<std::size_t>(index);
  const CompiledStep& step = plan_->steps[i];
  accepted_[i] = now();
  if (!plan_->takes_turns && step.transport != Transport::device) {
    PairCounts& pair = call_->pairs[static_cast<std::size_t>(step.peer)];
    numbers_[i] = step.verb == Verb::send ? pair.sent++ : pair.received++;
  }
  if (waits() && begun_[i] <= wait_begin()) end_wait(step.peer, index, accepted_[i]);  // there was no room for it
  if (how == Posted::complete) record_message(index, accepted_[i]);
}

void Steps::arrived(int index) {
  const std::int64_t end = now();
  const CompiledStep& step = plan_->steps[static_cast<std::size_t>(index)];
  if (waits()) end_wait(step.transport == Transport::device ? -1 : step.peer, index, end);
  record_message(index, end);
}

void Steps::record_message(int index, std::int64_t end) {
  const auto i = static_cast<std::size_t>(index);
  const CompiledStep& step = plan_->steps[i];
  const bool is_pairwise = !plan_->takes_turns && step.transport != Transport::device;
  call_->writer->add(StepRecord{.action = action_of(step),
                                .way = way_of(step.transport),
                                .is_pairwise = is_pairwise ? std::uint8_t{1} : std::uint8_t{0},
                                .peer = step.peer,
                                .operation = call_->operation,
                                .begin = begun_[i],
                                .end = end,
                                .bytes = step.bytes,
                                .message = step.message,
                                .step = index,
                                .sequence = is_pairwise ? numbers_[i] : call_->sequence,
                                .accepted = std::min(accepted_[i], end)});
  begun_[i] = 0;
}

void Steps::worked(int index, Action action, std::int64_t bytes) {
  const std::int64_t end = now();
  const auto i = static_cast<std::size_t>(index);
  if (waits()) end_wait(-1, index, end);
  call_->writer->add(StepRecord{.action = action,
                                .operation = call_->operation,
                                .begin = begun_[i],
                                .end = end,
                                .bytes = bytes,
                                .step = index,
                                .sequence = call_->sequence,
                                .accepted = begun_[i]});
  begun_[i] = 0;
}

void Steps::pause_wait(std::int64_t end) {
  if (wait_begin_ == 0) wait_begin_ = idle_since_;
  idle_ += end - idle_since_;
  idle_since_ = 0;
}

void Steps::end_wait(int peer, int index, std::int64_t end) {
  if (idle_since_ != 0) pause_wait(end);
  call_->writer->add(WaitRecord{
      .peer = peer, .operation = call_->operation, .begin = wait_begin_, .end = end, .idle = idle_, .step = index});
  wait_begin_ = idle_ = 0;
}

}  // namespace tutti::trace
