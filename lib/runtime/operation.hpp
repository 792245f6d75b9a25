#pragma once
// One run of a plan on a communicator: takes its turn, runs, and keeps the error if it fails.

#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lib/runtime/borrowed_memory.hpp"
#include "lib/runtime/lanes.hpp"
#include "lib/runtime/operation_record.hpp"
#include "lib/runtime/operation_trace.hpp"
#include "lib/runtime/progress.hpp"
#include "lib/runtime/run.hpp"
#include "lib/runtime/watch.hpp"
#include "lib/transport/stream/gate.hpp"
#include "tutti/request.hpp"

namespace tutti::detail {

class CommunicatorState;
class CachedPlan;

/// Since when looks have seen the same number. All times are coarse_now().
class Stillness {
 public:
  Stillness() = default;
  explicit Stillness(std::int64_t begin) : since_(begin) {}
  /// The first look finds what has been there since the beginning.
  void note(std::uint64_t seen, std::int64_t now) {
    if (last_ && *last_ != seen) {
      since_ = now;
      ++changes_;
    }
    last_ = seen;
  }
  [[nodiscard]] std::int64_t since() const { return since_; }
  [[nodiscard]] unsigned changes() const { return changes_; }

 private:
  std::optional<std::uint64_t> last_{};
  std::int64_t since_ = 0;
  unsigned changes_ = 0;
};

/// Belongs to a CachedPlan and is used again and again. All members need an Entry (lib/runtime/progress.hpp).
class Operation {
 public:
  Operation(CommunicatorState& communicator, CachedPlan& plan);
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;
  ~Operation();

  /// Borrows memory, if the buffers are on a device. Throws as BorrowedMemory::lend().
  void bind(const void* input, void* output) {
    input_ = input;
    output_ = output;
    if (fast_ != nullptr) return fast_->bind(input, output);
    bind_slowly();
  }
  /// Nobody uses it any more: gives back the memory that it borrowed.
  void unbind() noexcept {
    if (memory_.is_lent()) give_memory_back();
  }
  /// How reports name the call: records::Call::mpi.
  void name_call(std::uint8_t mpi) { record_.name(mpi); }
  /// Takes the communicator's next sequence number and runs as far as it can; the one before must be over.
  void start(Kind kind);
  /// Starts a nonblocking operation that nobody waits for: it begins when the gate is open, leaves the gate when it is
  /// over, and gives itself back to its plan.
  void start_behind(stream::Gate& gate);
  /// Starts a blocking call. True: it is over already, if its plan took the fast path to its end.
  bool run_or_start();
  /// If a start has left it on the fast path and it is alone: waits on that path. True: it is over.
  bool wait_on_fast_path();
  /// Makes all progress that is possible now; never blocks.
  void advance();
  /// To be called now and then while it is waited for: looks for signs that it will never be over.
  void check();
  // For reports: the call, its time as records have it, and the message that it waits for.
  [[nodiscard]] records::Call call() const;
  [[nodiscard]] std::int64_t since() const { return since_; }
  // What looks have seen move of it, on this rank and on others.
  [[nodiscard]] const Stillness& own_bytes() const { return own_bytes_; }
  [[nodiscard]] Stillness& others_bytes() { return others_bytes_; }
  /// Since when pending work of this rank has not moved on its device, for a call in a stream; nothing: none is known.
  [[nodiscard]] std::optional<std::int64_t> device_still_since() const {
    return device_work_ ? std::optional{device_work_->since()} : std::nullopt;
  }
  /// Nobody waits for it but a stream, and it runs.
  [[nodiscard]] bool runs_for_stream() const { return gate_ != nullptr && state_ == State::running; }
  [[nodiscard]] const Stillness& others_bytes() const { return others_bytes_; }
  [[nodiscard]] records::Wait wait() const;
  /// Whether shared memory carries the message that it waits for.
  [[nodiscard]] bool waits_for_shared_memory() const;
  /// How the run was started.
  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] bool over() const { return state_ == State::idle; }
  [[nodiscard]] bool is_on_fast_path() const { return state_ == State::on_fast_path; }
  /// Ends it with an error: its messages are withdrawn.
  void fail(std::exception_ptr why) noexcept;
  /// Ends it without an error, as if it had not been started: of a receive that no message has met.
  void withdraw() noexcept;
  /// Throws the error of the last run, once.
  void rethrow();
  /// Whether waiting for it has to give the processor away: there are more ranks than processors, and no message is
  /// pending over an MPI that does it already.
  [[nodiscard]] bool yields() const;
  /// Whether a look at it moves MPI forward too.
  [[nodiscard]] bool polls_mpi() const { return current_->port().waits_for_mpi(); }

  [[nodiscard]] const void* input() const { return input_; }
  [[nodiscard]] void* output() const { return output_; }
  [[nodiscard]] CommunicatorState& communicator() const { return communicator_; }
  [[nodiscard]] CachedPlan& plan() const { return plan_; }
  /// The plan of the current run: once sizes were exchanged, the one that moves the data.
  [[nodiscard]] const shm::SharedPlan& current_plan() const;
  /// nullptr: it is not observed.
  [[nodiscard]] OperationTrace* trace() const { return trace_.get(); }

  // Lists: under way (Progress), unused (CachedPlan).
  Operation* previous = nullptr;
  Operation* next = nullptr;
  Operation* next_unused = nullptr;
  /// Set while a Request or Plan refers to it, so that the communicator's state outlives them.
  std::shared_ptr<CommunicatorState> keep_alive;
  /// Why the algorithm was chosen; set by the caller of CachedPlan::acquire().
  bool has_reported_hang = false;  ///< In this run.
  bool is_unasked = false;         ///< Nobody waits for it: no look finds that it hangs.
  std::string_view why;

 private:
  enum class State : std::uint8_t { idle, on_fast_path, checking, queued, running };
  /// The schedule proper of a plan that exchanges sizes first; kept as long as the sizes stay the same.
  struct Learned {
    std::vector<Count> sizes;
    shm::SharedPlan plan;
    std::unique_ptr<Run> run;
    Learned(const Operation& operation, std::vector<Count> learned);
  };
  void bind_slowly();
  [[gnu::noinline]] void give_memory_back() noexcept;  // of the few that borrow
  [[nodiscard]] bool checks_arguments() const;
  /// Unless its record has it already.
  void record_entry();
  void start_slowly(Kind kind);
  /// Takes its number and its lane.
  void take_place(Kind kind);
  /// It is among the operations that are under way from now on.
  void enter();
  // The fast path: steps one after the other, while no other operation is under way.
  [[nodiscard]] bool may_take_fast_path() const;
  template <class Again>
  [[nodiscard]] bool run_fast(Again& again);
  [[nodiscard]] auto patience();
  void leave_fast_path();
  /// False: the arguments of others have not come. Throws MismatchError.
  bool has_been_checked();
  /// False: it is not its turn.
  bool begin();
  void begin_learned();
  void look_around();
  void require_right_messages(std::int64_t now);
  [[nodiscard]] records::Wait awaited() const;
  [[nodiscard]] std::string failure_in_words(std::string_view cause) const;
  template <class Kind>
  void fail_because(std::string_view cause, records::FailureKind kind);
  void fail_by_peer(const PeerError& error);
  /// After an exception, which is rethrown here.
  void fail_by_exception();
  void end();
  void leave_order();
  void leave_gate();
  void note_device_work(std::int64_t now);

  /// What its runs are recorded for.
  [[nodiscard]] trace::Call* recorded() const { return trace_ == nullptr ? nullptr : trace_->call(); }

  CommunicatorState& communicator_;
  CachedPlan& plan_;
  std::unique_ptr<OperationTrace> trace_;
  std::unique_ptr<Run> run_;
  std::vector<Count> sizes_;  ///< Where an exchange writes.
  std::unique_ptr<Learned> learned_;
  BorrowedMemory memory_{};  ///< Of the run that moves the data.
  Run* current_;             ///< The current run: `run_`, or that of `learned_`.
  HostRun* fast_ = nullptr;  ///< `run_`, if it may take the fast path.
  const void* input_ = nullptr;
  void* output_ = nullptr;
  State state_ = State::idle;
  std::size_t done_ = 0;  ///< Steps that the fast path has made of this run.
  Kind kind_ = Kind::blocking;
  std::uint64_t sequence_ = 0;
  std::uint64_t check_ = 0;  ///< Its number in the communicator's ArgumentCheck.
  Place place_{};
  OperationRecord record_;
  std::int64_t since_ = 0, next_look_ = 0;  ///< coarse_now(); of calls that are not over at once.
  Stillness own_bytes_{}, others_bytes_{};
  std::optional<Stillness> device_work_{};  ///< Nothing: none is pending, as far as is known.
  int mistaken_ = -1;                       ///< The step of which the last look saw a message of another call.
  bool keeps_scratch_ = false;              ///< After a failure: its runs are never destroyed.
  std::exception_ptr failure_;
  stream::Gate* gate_ = nullptr;  ///< nullptr: none.
};

/// A blocking call: starts the operation, waits for it and gives it back to its plan. Throws its error if it failed.
void run_to_end(Operation& operation, Progress::Entry& entry);
/// For a Request or a Plan, with which the communicator's state lives.
[[nodiscard]] OwnedOperation owned(Operation& operation, std::shared_ptr<CommunicatorState> state);

}  // namespace tutti::detail
