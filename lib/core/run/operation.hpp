#pragma once
// One run of a plan on a communicator: takes its turn, runs, and keeps the error if it fails.

#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/core/run/operation_order.hpp"
#include "lib/core/run/plan_run.hpp"
#include "lib/core/run/progress.hpp"
#include "lib/device/stream/gate.hpp"
#include "lib/watch/observers.hpp"
#include "tutti/request.hpp"

namespace tutti::detail {

class OperationPool;

/// One operation of a plan. It belongs to an OperationPool, which uses it again and again. All members need an Entry
/// (lib/core/run/progress.hpp).
class Operation final : public Task {
 public:
  Operation(Workspace& workspace, OperationPool& pool);

  /// Sets the buffers of the next run. Throws what RunMemory::take() throws, if they are on a device.
  void bind(const void* input, void* output) {
    input_ = input;
    output_ = output;
    if (fast_ != nullptr) return fast_->bind(input, output);
    run_.bind(input, output);
  }
  /// What MPI's type of the elements adds: how reports name the call, and whether elements have bytes that hold
  /// nothing.
  void name_call(std::uint8_t mpi, bool has_gaps) { observers_.name(mpi, has_gaps); }
  /// Starts a run: takes the communicator's next sequence number, and goes as far as it can. The last run must be over.
  void start(records::Manner manner);
  /// Starts a nonblocking operation that nobody waits for: it begins when the gate is open, leaves the gate when it is
  /// over, and gives itself back to its pool.
  void start_behind(stream::Gate& gate);
  /// Starts a blocking call. True: it is over already, because the fast path took it to its end.
  bool run_or_start();
  /// Ends a receive that no message has met, without an error, as if it had not been started.
  void withdraw() noexcept;
  /// Throws the error of the last run, once.
  void rethrow();
  /// Gives the operation back to its pool, and the memory that it took.
  void release() noexcept;

  // The functions of Task.
  void advance() override;
  void check() override;
  [[nodiscard]] bool over() const override { return state_ == State::idle; }
  [[nodiscard]] bool is_on_fast_path() const override { return state_ == State::on_fast_path; }
  bool wait_on_fast_path() override;
  [[nodiscard]] bool yields() const override;
  [[nodiscard]] bool polls_mpi() const override { return run_->port().waits_for_mpi(); }
  [[nodiscard]] bool moves_in_background(Reach reach) const override;
  [[nodiscard]] bool runs_for_stream() const override { return gate_ != nullptr && state_ == State::running; }

  [[nodiscard]] const void* input() const { return input_; }
  [[nodiscard]] void* output() const { return output_; }
  [[nodiscard]] Workspace& communicator() const { return workspace_; }
  [[nodiscard]] OperationPool& pool() const { return pool_; }
  [[nodiscard]] PreparedPlan& plan() const { return plan_; }
  /// The plan of the current run; once sizes were exchanged, the plan that moves the data.
  [[nodiscard]] const shm::SharedPlan& current_plan() const { return run_.plan(); }

  Operation* next_unused = nullptr;  ///< The next one in the list of its pool.
  /// The communicator's state; set while a Request or Plan refers to the operation, so that the state outlives them.
  std::shared_ptr<Workspace> keep_alive;
  bool is_unasked = false;  ///< Nobody waits for it: it is never reported as a hang.
  /// Why the algorithm was chosen; set by the caller of OperationPool::acquire().
  std::string_view why;

 private:
  enum class State : std::uint8_t { idle, on_fast_path, delayed, queued, running };

  void start_slowly(records::Manner manner);
  /// Takes its sequence number and its lane.
  void take_place(records::Manner manner);
  /// Adds it to the operations that are under way.
  void enter();
  // The fast path: steps one after the other, while no other operation is under way.
  [[nodiscard]] bool may_take_fast_path() const;
  template <class Again>
  [[nodiscard]] bool run_fast(Again& again);
  [[nodiscard]] auto patience();
  void leave_fast_path();
  /// Begins the run; false: it is not its turn.
  bool begin();
  void begin_learned();
  [[nodiscard]] Look look(std::int64_t now) const;
  [[nodiscard]] records::Wait awaited() const;
  /// Ends the run with the exception that is being handled.
  void fail();
  void end();
  void leave_order();
  void leave_gate();

  Workspace& workspace_;
  OperationPool& pool_;
  PreparedPlan& plan_;
  Observers observers_;
  PlanRun run_;
  HostRun* fast_ = nullptr;  ///< The run, if it may take the fast path.
  const void* input_ = nullptr;
  void* output_ = nullptr;
  State state_ = State::idle;
  records::Manner manner_ = records::Manner::blocking;
  std::size_t done_ = 0;  ///< How many steps of this run the fast path has made.
  std::uint64_t sequence_ = 0;
  LaneTicket ticket_{};
  records::Wait delay_{};  ///< What an observer makes it wait for.
  std::exception_ptr failure_;
  stream::Gate* gate_ = nullptr;  ///< The gate that it was started behind; nullptr: none.
};

/// The operations of a plan: several are under way if the program starts several.
class OperationPool {
 public:
  explicit OperationPool(PreparedPlan& plan) : plan_(plan) {}

  [[nodiscard]] PreparedPlan& plan() const { return plan_; }
  /// An operation that nobody uses, bound to these buffers; makes one if there is none. Throws what Operation::bind()
  /// throws.
  [[nodiscard]] Operation& acquire(Workspace& workspace, const void* input, void* output) {
    Operation& operation = unused_ == nullptr ? make_operation(workspace) : *unused_;
    unused_ = std::exchange(operation.next_unused, nullptr);
    ++in_use;
    try {
      operation.bind(input, output);
    } catch (...) {
      operation.release();
      throw;
    }
    return operation;
  }
  void release(Operation& operation) noexcept {
    operation.next_unused = unused_;
    unused_ = &operation;
    --in_use;
  }

  int in_use = 0;  ///< Counts operations, and calls in streams, of its plan.

 private:
  Operation& make_operation(Workspace& workspace);

  PreparedPlan& plan_;
  std::vector<std::unique_ptr<Operation>> operations_{};
  Operation* unused_ = nullptr;
};

inline void Operation::release() noexcept {
  if (run_.has_memory()) run_.give_memory_back();
  pool_.release(*this);
}

/// A blocking call: starts the operation, waits for it and gives it back to its pool. Throws its error if it failed.
void run_to_end(Operation& operation, Progress::Entry& entry);
/// Of a Request or a Plan: returns once the operation is over, after one look, or at `end` on records::coarse_now().
/// Throws its error if it failed. Whether it is over.
void wait_on(Operation& operation);
[[nodiscard]] bool test_on(Operation& operation);
[[nodiscard]] bool wait_until(Operation& operation, std::int64_t end);
/// The operation as a Request or a Plan owns it, with which the communicator's state lives.
[[nodiscard]] OwnedOperation owned(Operation& operation, std::shared_ptr<Workspace> state);

}  // namespace tutti::detail
