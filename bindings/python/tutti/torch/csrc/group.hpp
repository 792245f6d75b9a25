#pragma once
// The operations of one process group: collectives take turns, messages start at once.

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <deque>
#include <string>

#include "operation.hpp"
#include "progress.hpp"

namespace tutti_torch {

/// Called now and then by a thread that waits; may throw. The module sets it, so that Ctrl-C ends a wait.
inline std::function<void()>& on_long_wait() {
  static std::function<void()> function = [] {};
  return function;
}

class Group : public std::enable_shared_from_this<Group> {
 public:
  /// Owns `comm`.
  Group(tutti_comm comm, int rank, std::string name) : comm_(comm), rank_(rank), name_(std::move(name)) {}
  Group(const Group&) = delete;
  Group& operator=(const Group&) = delete;
  ~Group() { close(); }

  /// The number of collectives so far.
  [[nodiscard]] uint64_t number() const { return number_.load(); }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] const std::string& name() const { return name_; }

  /// One collective more.
  uint64_t count() { return number_.fetch_add(1) + 1; }

  OperationPointer make(Description description, bool is_collective = true) {
    const uint64_t number = is_collective ? count() : message_number_.fetch_add(1) + 1;
    return c10::make_intrusive<Operation>(shared_from_this(), rank_, number, std::move(description));
  }
  /// Puts a collective in its place. One that has nothing before it starts here and now.
  void submit(const OperationPointer& operation, bool is_async) {
    {
      const std::lock_guard lock(mutex_);
      require_open();
      if (queue_.empty()) operation->start(comm_);
      queue_.push_back(operation);
    }
    if (is_async)
      Progress::instance().watch(shared_from_this());
    else
      operation->wait();
  }
  /// Starts a message.
  void post(const OperationPointer& operation) {
    {
      const std::lock_guard lock(mutex_);
      require_open();
      operation->start(comm_);
      messages_.push_back(operation);
    }
    Progress::instance().watch(shared_from_this());
  }
  /// Calls `function` with the communicator when all collectives before it are over: for calls in a CUDA stream.
  template <class Function>
  void in_turn(Function function) {
    while (true) {
      {
        const std::lock_guard lock(mutex_);
        require_open();
        if (queue_.empty()) return function(comm_);
      }
      wait_a_moment();
    }
  }

  /// Moves everything forward once and completes what is over. False: nothing is under way.
  bool poll() {
    std::vector<Finished> finished;
    bool is_busy = true;
    {
      const std::unique_lock lock(mutex_, std::try_to_lock);
      if (!lock.owns_lock()) return true;
      is_busy = advance(finished);
    }
    // What waits for a future runs here: it may call the group.
    for (auto& [operation, error] : finished)
      operation->complete(error);
    return is_busy;
  }
  [[nodiscard]] bool is_busy() {
    const std::lock_guard lock(mutex_);
    return !queue_.empty() || !messages_.empty();
  }
  /// Somebody polls the group: the thread of Progress leaves it alone.
  [[nodiscard]] bool has_waiter() const { return waiters_.load() > 0; }
  /// Polls until it is true, or returns false at the time given.
  template <class Done>
  bool wait_until(Done done, Clock::time_point end) {
    const Waiter waiter(*this);
    Patience patience(false);
    auto long_wait = Clock::now() + std::chrono::milliseconds(100);
    while (!done()) {
      poll();
      if (Progress::instance().is_here()) Progress::instance().poll();
      if (done()) break;
      const auto now = Clock::now();
      if (now > end) return false;
      if (now > long_wait) {
        on_long_wait()();
        long_wait = now + std::chrono::milliseconds(100);
      }
      patience.pause();
    }
    return true;
  }

  /// Takes back a receive; anything else ends with the group.
  void abort(Operation& operation) {
    bool is_cancelled = false;
    {
      const std::lock_guard lock(mutex_);
      if (operation.is_done() || comm_ == nullptr) return;
      is_cancelled = operation.cancel();
    }
    if (!is_cancelled)
      abort(std::string(operation.description().name()) + " was aborted");
    else
      poll();
  }
  /// Ends all operations under way, and tells the peers.
  void abort(const std::string& why) {
    const std::lock_guard lock(mutex_);
    fail(why);
  }
  /// Waits for collectives; messages that no peer takes are given up.
  void close() noexcept {
    if (comm_ == nullptr || getpid() != process_) return;  // a child by fork leaves it to its parent
    if (failure_.empty()) wait_until([this] { return is_idle(); }, Clock::time_point::max());
    std::vector<Finished> finished;
    {
      const std::lock_guard lock(mutex_);
      if (failure_.empty()) take_back_messages(finished);
      if (!messages_.empty()) fail("the group was destroyed while messages were under way");
      advance(finished);
      tutti_comm_free(&comm_);
      comm_ = nullptr;
    }
    for (auto& [operation, error] : finished)
      operation->complete(error);
  }

 private:
  struct Finished {
    OperationPointer operation;
    std::exception_ptr error;
  };
  class Waiter {
   public:
    explicit Waiter(Group& group) : group_(group) { ++group_.waiters_; }
    Waiter(const Waiter&) = delete;
    Waiter& operator=(const Waiter&) = delete;
    ~Waiter() { --group_.waiters_; }

   private:
    Group& group_;
  };

  void require_open() const {
    if (comm_ == nullptr) C10_THROW_ERROR(DistBackendError, prefix() + "was destroyed");
    if (!failure_.empty()) C10_THROW_ERROR(DistBackendError, prefix() + "cannot be used any more: " + failure_);
  }
  [[nodiscard]] std::string prefix() const {
    return "tutti: rank " + std::to_string(rank_) + ": group " + (name_.empty() ? "" : '"' + name_ + "\" ");
  }
  void fail(const std::string& why) {
    if (comm_ == nullptr || !failure_.empty()) return;
    failure_ = why;
    tutti_comm_abort(comm_, (prefix() + why).c_str());
  }
  void wait_a_moment() {
    poll();
    std::this_thread::yield();
  }
  bool is_idle() {
    const std::lock_guard lock(mutex_);
    return queue_.empty() || !failure_.empty();
  }

  /// True when the operation is over, with its error or none.
  bool is_over(Operation& operation, Clock::time_point now, std::exception_ptr& error) {
    try {
      if (!failure_.empty()) require_open();
      if (!operation.is_started()) operation.start(comm_);
      if (operation.test()) return true;
      if (!operation.is_late(now)) return false;
      const auto& about = operation.description();
      fail(std::string(about.name()) + ": Timed out waiting " + std::to_string(about.timeout.count()) +
           "ms for other ranks");
      C10_THROW_ERROR(DistBackendError, prefix() + failure_);
    } catch (...) {
      error = std::current_exception();
      operation.release();
      return true;
    }
  }
  bool advance(std::vector<Finished>& finished) {
    if (comm_ == nullptr) return false;
    const auto now = Clock::now();
    std::exception_ptr error;
    while (!queue_.empty() && is_over(*queue_.front(), now, error)) {
      finished.push_back({std::move(queue_.front()), std::exchange(error, nullptr)});
      queue_.pop_front();
    }
    for (auto message = messages_.begin(); message != messages_.end();) {
      if (is_over(**message, now, error)) {
        finished.push_back({std::move(*message), std::exchange(error, nullptr)});
        message = messages_.erase(message);
      } else {
        ++message;
      }
    }
    return !queue_.empty() || !messages_.empty();
  }
  static bool can_cancel(Operation& message) {
    try {
      return message.cancel();
    } catch (const c10::Error&) {
      return false;
    }
  }
  void take_back_messages(std::vector<Finished>& finished) {
    for (auto message = messages_.begin(); message != messages_.end();) {
      if (!can_cancel(**message)) {
        ++message;
        continue;
      }
      auto error = std::make_exception_ptr(
          c10::DistBackendError({__func__, __FILE__, __LINE__}, prefix() + "was destroyed before a message came"));
      finished.push_back({std::move(*message), error});
      message = messages_.erase(message);
    }
  }

  tutti_comm comm_;
  const pid_t process_ = getpid();
  const int rank_;
  const std::string name_;
  std::mutex mutex_;
  std::deque<OperationPointer> queue_;
  std::vector<OperationPointer> messages_;
  std::string failure_;
  std::atomic<int> waiters_{0};
  std::atomic<uint64_t> number_{0}, message_number_{0};
};

// -----------------------------------------------------------------------------------------------------------------

inline bool Operation::isCompleted() { return is_done(); }

inline bool Operation::wait(Milliseconds timeout) {
  const auto end = timeout == kNoTimeout ? Clock::time_point::max() : Clock::now() + timeout;
  try {
    if (!is_done() && !group_->wait_until([this] { return is_done(); }, end))
      C10_THROW_ERROR(DistBackendError, "tutti: rank " + std::to_string(rank_) + ": " + description_.name() +
                                            ": Timed out waiting " + std::to_string(timeout.count()) +
                                            "ms; it goes on");
  } catch (...) {  // a time limit, or Ctrl-C
    Progress::instance().watch(group_);
    throw;
  }
  if (exception_) std::rethrow_exception(exception_);
  return true;
}

inline void Operation::abort() { group_->abort(*this); }

inline void Progress::watch(const std::shared_ptr<Group>& group) {
  {
    const std::lock_guard lock(mutex_);
    if (std::find(groups_.begin(), groups_.end(), group) == groups_.end()) groups_.push_back(group);
    ++asked_;
  }
  wake_.notify_one();
}

inline bool Progress::poll() {
  std::vector<std::shared_ptr<Group>> groups;
  {
    const std::lock_guard lock(mutex_);
    groups = groups_;
  }
  bool is_needed = false;
  for (const auto& group : groups) {
    if (group->has_waiter()) continue;
    if (group->poll()) {
      is_needed = true;
      continue;
    }
    const std::lock_guard lock(mutex_);
    if (!group->is_busy()) groups_.erase(std::remove(groups_.begin(), groups_.end(), group), groups_.end());
  }
  return is_needed;
}

inline void Progress::loop() {
  id_ = std::this_thread::get_id();
  prctl(PR_SET_TIMERSLACK, 1000UL);  // short sleeps are short: by default they take 50 us more
  Patience patience(true);
  uint64_t seen = 0;
  while (true) {
    {
      std::unique_lock lock(mutex_);
      if (groups_.empty()) wake_.wait(lock, [this] { return !groups_.empty(); });
      if (asked_ != seen) patience.reset();
      seen = asked_;
    }
    if (poll())
      patience.pause();
    else if (has_groups())
      std::this_thread::sleep_for(std::chrono::microseconds(200));  // others wait for them
  }
}

}  // namespace tutti_torch
