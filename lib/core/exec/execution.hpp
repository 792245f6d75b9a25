#pragma once
// The one place where dependencies are walked: runs a compiled plan over any transport, with any executor.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "lib/core/exec/executor.hpp"
#include "lib/core/exec/port.hpp"
#include "lib/core/plan/compiled_plan.hpp"

namespace tutti {

/// The state of one run of a plan: counters and bound buffers. Runs again and again without allocating. The
/// port carries its messages, the executor makes its copies and reductions. Not thread-safe.
template <Port Mover, Executor Worker = HostExecutor>
class Execution {
 public:
  Execution(const CompiledPlan& plan, Mover port) : Execution(plan, std::move(port), Worker{plan}) {}
  Execution(const CompiledPlan& plan, Mover port, Worker executor)
      : plan_(plan),
        port_(std::move(port)),
        executor_(std::move(executor)),
        waits_(plan.waits.size()),
        ready_(plan.steps.size()) {
    for (const auto& each : plan.operands)
      operands_.reserve(std::max(operands_.capacity(), each.size()));
  }

  void bind(const void* input, void* output) { bases_.bind(input, output); }
  /// Scratch that the executor does not have itself, or the staging buffer: for the runs until it is lent again.
  void lend(Buffer buffer, std::byte* memory) { bases_.lend(buffer, memory); }

  /// Starts a run; the one before must be over.
  void begin() {
    completed_ = next_ = 0;
    port_.bind(bases_);
    if (!plan_.dependents.empty())  // else no step waits, none was ever counted down
      std::copy(plan_.waits.begin(), plan_.waits.end(), waits_.begin());
    find_ready(0);
  }

  /// Makes all progress that is possible now, in a bounded number of polls; true once the run is over. Never blocks.
  bool advance() {
    constexpr int most_looks = 64;  // others want to be looked at, too, while a long message is read in place
    const auto complete_message = [this](int step) { arrived(static_cast<std::size_t>(step)); };
    const auto complete_work = [this](int step) { complete(static_cast<std::size_t>(step)); };
    for (int looks = 0; looks < most_looks; ++looks) {
      if (plan_.in_order)
        start_in_order();
      else
        start_ready();
      if (completed_ == plan_.steps.size()) finish();
      int moved = executor_.poll(complete_work);
      if (completed_ == plan_.steps.size() + 2) return true;
      moved += port_.poll(complete_message);
      if (moved == 0) return false;
    }
    return false;
  }

  /// The fast path: runs a plan whose sends are over as soon as they are made, each step when the one before is over,
  /// and all of the plan if that is possible. It notes nothing else of the run, so that it costs least. `again()` says
  /// whether to poll once more while a step waits. Returns how many steps are done; if not all, a call with that number
  /// goes on with the run, or begin(), skip() and advance() do. For executors that complete at once.
  template <class Again>
  std::size_t run_fast_path(Again& again, std::size_t done = 0) {
    for (; done < plan_.steps.size(); ++done) {
      const CompiledStep& step = plan_.steps[done];
      if (!step.is_message())
        work(static_cast<int>(done), step);
      else if (!port_.transfer(step, bases_.operands(step), again))
        return done;
    }
    static_cast<void>(executor_.post_finish(static_cast<int>(plan_.steps.size()), bases_.at(Buffer::output, 0)));
    return done;
  }
  /// After begin(): the first steps were done by run_fast_path().
  void skip(std::size_t done) {
    for (; next_ < done; ++next_) {
      if (plan_.steps[next_].is_message()) port_.transferred(static_cast<int>(next_), plan_.steps[next_]);
      complete(next_);
    }
    find_ready(done);
  }

  /// After a failure: withdraws the messages, and waits for the work under way.
  void abandon() noexcept {
    port_.abandon();
    executor_.abandon();
  }

  /// A number that changes whenever steps end or bytes of a message move, as far as the transport sees that.
  [[nodiscard]] std::uint64_t progress() const {
    constexpr std::uint64_t each_step = 0x9e3779b97f4a7c15U;  // not the size of any message
    return completed_ * each_step + port_.progress();
  }
  [[nodiscard]] const CompiledPlan& plan() const { return plan_; }
  [[nodiscard]] Mover& port() { return port_; }
  [[nodiscard]] const Mover& port() const { return port_; }

 private:
  /// Starts the last pass over the output, once all steps are done.
  void finish() {
    const std::size_t number = plan_.steps.size();
    ++completed_;
    if (executor_.post_finish(static_cast<int>(number), bases_.at(Buffer::output, 0)) == Posted::complete)
      complete(number);
  }

  /// Finds the steps that are ready, from a step on before which all are done, and after which none is.
  void find_ready(std::size_t first) {
    ready_count_ = 0;
    if (plan_.in_order) return;
    for (std::size_t i = first; i < waits_.size(); ++i)
      if (waits_[i] == 0) ready_[ready_count_++] = static_cast<int>(i);
  }

  void start_in_order() {
    while (next_ < plan_.steps.size() && waits_[next_] == 0 && start(next_))
      ++next_;
  }

  /// Starts every ready step, those that become ready meanwhile too; keeps the ones that the transport is too busy for.
  void start_ready() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < ready_count_; ++i)
      if (!start(static_cast<std::size_t>(ready_[i]))) ready_[kept++] = ready_[i];
    ready_count_ = kept;
  }

  /// False: the transport, or the executor, is too busy.
  bool start(std::size_t i) {
    const CompiledStep& step = plan_.steps[i];
    const int number = static_cast<int>(i);
    switch (step.verb) {
      case Verb::send:
        return posted(i, port_.post_send(number, step, bases_.at(step.lhs, step.lhs_at)));
      case Verb::recv:
        return posted(i, port_.post_recv(number, step, bases_.at(step.into, step.into_at)));
      case Verb::recv_reduce:
        return posted(i, port_.post_recv_reduce(number, step, bases_.operands(step)));
      case Verb::recv_then_reduce: {
        const Posted what = port_.post_recv(number, step, bases_.landing(step));
        if (what == Posted::complete) arrived(i);
        return what != Posted::busy;
      }
      case Verb::reduce:
      case Verb::combine:
      case Verb::copy:
        return posted(i, work(number, step));
    }
    return true;
  }
  bool posted(std::size_t i, Posted what) {
    if (what == Posted::complete) complete(i);
    return what != Posted::busy;
  }

  /// A step that is no message.
  Posted work(int i, const CompiledStep& step) {
    if (step.verb == Verb::copy)
      return executor_.post_copy(i, bases_.at(step.lhs, step.lhs_at), bases_.at(step.into, step.into_at), step.bytes);
    const std::int64_t done = step.side < 0 ? 0 : port_.reduced(step);  // by the transport
    if (done == step.bytes) return Posted::complete;
    if (step.verb == Verb::combine) return combine(i, step, done);
    const Operands whole = bases_.operands(step);
    return executor_.post_reduce(i, {whole.lhs + done, whole.rhs + done, whole.into + done}, step.bytes - done);
  }

  Posted combine(int i, const CompiledStep& step, std::int64_t done) {
    operands_.clear();
    for (const auto& [buffer, at] : plan_.operands[static_cast<std::size_t>(step.operands)])
      operands_.push_back(bases_.at(buffer, at + done));
    return executor_.post_combine(i, operands_, bases_.at(step.into, step.into_at + done), step.bytes - done);
  }

  /// A message is there.
  void arrived(std::size_t i) {
    const CompiledStep& step = plan_.steps[i];
    if (step.verb == Verb::recv_then_reduce &&
        executor_.post_reduce(static_cast<int>(i), bases_.operands(step), step.bytes) != Posted::complete)
      return;
    complete(i);
  }

  void complete(std::size_t i) {
    ++completed_;
    if (i == plan_.steps.size()) return;
    const CompiledStep& step = plan_.steps[i];
    for (int d = step.first_dependent; d < step.last_dependent; ++d) {
      const auto dependent = static_cast<std::size_t>(plan_.dependents[static_cast<std::size_t>(d)]);
      if (--waits_[dependent] == 0 && !plan_.in_order) ready_[ready_count_++] = static_cast<int>(dependent);
    }
  }

  const CompiledPlan& plan_;
  Mover port_;
  Worker executor_;
  std::vector<int> waits_;
  std::vector<int> ready_;
  std::size_t ready_count_ = 0;
  std::vector<const void*> operands_;  ///< Of the last step that combined many.
  std::size_t next_ = 0;
  std::size_t completed_ = 0;  ///< One more than steps: the last pass over the output is under way; two more: over.
  Bases bases_{executor_.scratch()};
};

}  // namespace tutti
