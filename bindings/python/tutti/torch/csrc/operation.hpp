#pragma once
// What PyTorch waits for: one collective, or several that were given together, or a message.

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <torch/csrc/distributed/c10d/Work.hpp>

#include "call.hpp"

namespace tutti_torch {

using Clock = std::chrono::steady_clock;
using Milliseconds = std::chrono::milliseconds;

class Group;
class Operation;
using OperationPointer = c10::intrusive_ptr<Operation>;

/// What an operation does, and what PyTorch is told about it.
struct Description {
  c10d::OpType type;
  const char* title;  ///< "tutti:all_reduce": as profilers show it.
  Milliseconds timeout;
  std::vector<at::Tensor> inputs{}, outputs{};
  std::function<void(tutti_comm, std::vector<tutti_request>&)> start{};
  std::function<void()> finish = [] {};  ///< Copies results out of buffers.
  /// "all_reduce".
  [[nodiscard]] const char* name() const { return title + sizeof("tutti:") - 1; }
};

class Operation : public c10d::Work {
 public:
  Operation(std::shared_ptr<Group> group, int rank, uint64_t number, Description description)
      : Work(rank, description.type, description.title, description.inputs),
        group_(std::move(group)),
        number_(number),
        deadline_(Clock::now() + description.timeout),
        description_(std::move(description)) {}

  // What a group calls, under its lock. ---------------------------------------------------------------------------

  /// Throws what Tutti refuses; then nothing is under way.
  void start(tutti_comm comm) {
    is_started_ = true;
    try {
      description_.start(comm, requests_);
    } catch (...) {
      release();
      throw;
    }
  }
  /// True when it is over; throws if it failed.
  bool test() {
    while (!requests_.empty()) {
      int is_complete = 0;
      check(tutti_request_test(&requests_.back(), &is_complete));
      if (is_complete == 0) return false;
      requests_.pop_back();
    }
    description_.finish();
    return true;
  }
  /// Takes a message back that no other has met.
  bool cancel() {
    int is_cancelled = 0;
    for (auto& request : requests_)
      check(tutti_request_cancel(&request, &is_cancelled));
    if (is_cancelled != 0) requests_.clear();
    return is_cancelled != 0;
  }
  /// Frees what is left of a failed operation.
  void release() noexcept {
    for (auto& request : requests_)
      tutti_request_free(&request);
    requests_.clear();
  }
  [[nodiscard]] bool is_started() const { return is_started_; }
  [[nodiscard]] bool is_late(Clock::time_point now) const { return now > deadline_; }
  [[nodiscard]] const Description& description() const { return description_; }
  tutti_message& message() { return message_; }

  // Without it. ---------------------------------------------------------------------------------------------------

  /// Wakes those who wait, and runs what they left to be run.
  void complete(std::exception_ptr error) {
    auto future = known_future(error);
    if (future) settle(*future, error);
    finish(error);
    is_done_.store(true, std::memory_order_release);
  }
  [[nodiscard]] bool is_done() const { return is_done_.load(std::memory_order_acquire); }

  // PyTorch's face. -----------------------------------------------------------------------------------------------

  bool isCompleted() override;
  bool wait(Milliseconds timeout = kNoTimeout) override;
  void abort() override;
  std::vector<at::Tensor> result() override { return description_.outputs; }
  int sourceRank() const override { return message_.source; }
  uint64_t getSequencenumber() const { return number_; }
  Milliseconds getTimeout() const { return description_.timeout; }

  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override {
    const std::lock_guard lock(future_mutex_);
    if (!future_) {
      future_ = c10::make_intrusive<c10::ivalue::Future>(c10::ListType::create(c10::TensorType::get()));
      if (is_settled_) settle(*future_, error_);
    }
    return future_;
  }

 private:
  c10::intrusive_ptr<c10::ivalue::Future> known_future(std::exception_ptr error) {
    const std::lock_guard lock(future_mutex_);
    is_settled_ = true;
    error_ = std::move(error);
    return future_;
  }
  void settle(c10::ivalue::Future& future, const std::exception_ptr& error) {
    if (error)
      future.setError(error);
    else
      future.markCompleted(c10::IValue(description_.outputs));
  }

  std::shared_ptr<Group> group_;
  const uint64_t number_;
  const Clock::time_point deadline_;
  Description description_;
  std::vector<tutti_request> requests_;
  tutti_message message_{};
  bool is_started_ = false;
  std::atomic<bool> is_done_{false};
  std::mutex future_mutex_;
  bool is_settled_ = false;
  std::exception_ptr error_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

/// Starts calls one after the other, those in a row that join at once, as one operation, and copies what they have
/// written.
inline void run_calls(Description& description, std::vector<Call> given) {
  auto calls = std::make_shared<std::vector<Call>>(std::move(given));
  for (const auto& call : *calls)
    description.outputs.insert(description.outputs.end(), call.outputs().begin(), call.outputs().end());
  description.start = [calls](tutti_comm comm, std::vector<tutti_request>& requests) {
    for (auto first = calls->begin(); first != calls->end();) {
      const auto last = std::find_if(first + 1, calls->end(), [&](const Call& call) { return !call.joins(*first); });
      requests.push_back(start({first, last}, comm));
      first = last;
    }
  };
  description.finish = [calls] {
    for (auto& call : *calls)
      call.finish();
  };
}

}  // namespace tutti_torch
