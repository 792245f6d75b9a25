#pragma once
// The one place where dependencies are walked: runs a compiled plan over any transport.

#include <array>
#include <cstddef>
#include <cstring>
#include <utility>
#include <vector>

#include "lib/memory/aligned_buffer.hpp"
#include "lib/plan/compiled_plan.hpp"

namespace tutti {

/// What became of a message that was given to a transport.
enum class Posted : std::uint8_t {
  busy,      ///< Not taken: ask again later.
  pending,   ///< poll() will say when it is complete.
  complete,  ///< Already; poll() will not mention it.
};

/// Where a receive-and-reduce finds its operands, one of them where the message lands, and leaves the result.
struct Operands {
  std::byte *lhs = nullptr, *rhs = nullptr, *into = nullptr;
};

/// Where a plan's buffers begin, by Buffer.
using Bases = std::array<std::byte*, 3>;

/// Runs a plan over a Port, which is what a transport supplies for the messages in flight of one execution:
///   void begin(...)                        a new run starts; what it takes is the transport's affair
///   void bind(const Bases&)                where the plan's buffers are during this run
///   std::int64_t reduced(joint)            the bytes of that joint reduction (CompiledPlan::joints) that were made as
///                                          its messages arrived
///   Posted post_send(index, step, data, answer)   starts the send of the step of that index; `answer`: where the
///                                          message step.answer belongs; nullptr: there is none
///   Posted post_recv(index, step, data)    the same for a receive
///   Posted post_recv_reduce(index, step, operands)   a receive and its reduction; where step.path is not shared
///                                          memory it receives into the operand where the message lands, and the
///                                          engine reduces
///   bool transfer(step, data, again)       of a brief plan: sends, or receives and reduces, the step's message,
///                                          looking again for as long as `again()` says; false: that is still to be
///                                          done
///   void begin_briefly(...)                instead of begin(), before transfer()
///   void transferred(index, step)          what transfer() did belongs to the run that has begun since
///   int poll(on_complete)                  never blocks; calls on_complete(index) for each message that completed;
///                                          more than 0: it is worth to look again
///
/// An Execution holds the state of one run: counters, bound buffers and scratch. It runs again and again without
/// allocating. Not thread-safe.
template <class Port>
class Execution {
 public:
  Execution(const CompiledPlan& plan, Port port)
      : plan_(plan),
        port_(std::move(port)),
        waits_(plan.waits.size()),
        ready_(plan.steps.size()),
        scratch_(static_cast<std::size_t>(plan.scratch_bytes)) {
    bases_[index(Buffer::scratch)] = scratch_.data();
  }

  void bind(const void* input, void* output) {
    // Steps never write the input; the cast only lets the three buffers share one table.
    bases_[index(Buffer::input)] = static_cast<std::byte*>(const_cast<void*>(input));
    bases_[index(Buffer::output)] = static_cast<std::byte*>(output);
  }

  /// Starts a run; the one before must be over.
  void begin() {
    completed_ = next_ = 0;
    port_.bind(bases_);
    if (!plan_.dependents.empty())  // else no step waits, none was ever counted down
      std::copy(plan_.waits.begin(), plan_.waits.end(), waits_.begin());
    find_ready(0);
  }

  /// Does what can be done now, in so many looks; true once the run is over. Never blocks.
  bool advance() {
    constexpr int most_looks = 64;  // others want to be looked at, too, while a long message is read in place
    int looks = 0;
    do {
      if (plan_.in_order)
        start_in_order();
      else
        start_ready();
      if (completed_ == plan_.steps.size()) {
        finish();
        return true;
      }
    } while (port_.poll([this](int step) { complete(static_cast<std::size_t>(step)); }) > 0 && ++looks < most_looks);
    return false;
  }

  /// A run of a brief plan, all of it if it can be: each step when the one before is over. Nothing else is noted of it,
  /// so that it takes least. `again()` says whether to look once more at what a step waits for. Returns how many steps
  /// are done; if not all, begin(), skip() and advance() go on with the run.
  template <class Again>
  std::size_t run_briefly(Again& again) {
    std::size_t done = 0;
    for (const CompiledStep& step : plan_.steps) {
      if (!step.is_message())
        work(step);
      else if (!port_.transfer(step, operands(step), again))
        return done;
      ++done;
    }
    finish();
    return done;
  }
  /// After begin(): the first steps were done by run_briefly().
  void skip(std::size_t done) {
    for (; next_ < done; ++next_) {
      if (plan_.steps[next_].is_message()) port_.transferred(static_cast<int>(next_), plan_.steps[next_]);
      complete(next_);
    }
    find_ready(done);
  }

  [[nodiscard]] const CompiledPlan& plan() const { return plan_; }
  [[nodiscard]] Port& port() { return port_; }

 private:
  static constexpr std::size_t index(Buffer buffer) { return static_cast<std::size_t>(buffer); }
  [[nodiscard]] std::byte* at(Buffer buffer, std::int64_t offset) const { return bases_[index(buffer)] + offset; }

  /// From a step on, before which all are done, and after which none is.
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

  /// False: the transport is too busy.
  bool start(std::size_t i) {
    const CompiledStep& step = plan_.steps[i];
    switch (step.verb) {
      case Verb::send:
        return posted(i, port_.post_send(static_cast<int>(i), step, at(step.lhs, step.lhs_at),
                                         step.answer < 0 ? nullptr : at(step.into, step.into_at)));
      case Verb::recv:
        return posted(i, port_.post_recv(static_cast<int>(i), step, at(step.into, step.into_at)));
      case Verb::recv_reduce:
        return posted(i, port_.post_recv_reduce(static_cast<int>(i), step, operands(step)));
      case Verb::reduce:
      case Verb::copy:
        work(step);
        complete(i);
        return true;
    }
    return true;
  }

  /// A step that is no message.
  void work(const CompiledStep& step) {
    if (step.verb == Verb::reduce)
      reduce_rest(step);
    else if (step.bytes > 0)  // else it only orders others, and buffers may be null
      std::memcpy(at(step.into, step.into_at), at(step.lhs, step.lhs_at), static_cast<std::size_t>(step.bytes));
  }

  bool posted(std::size_t i, Posted what) {
    if (what == Posted::complete) complete(i);
    return what != Posted::busy;
  }

  [[nodiscard]] Operands operands(const CompiledStep& step) const {
    return {at(step.lhs, step.lhs_at), at(step.rhs, step.rhs_at), at(step.into, step.into_at)};
  }

  void reduce(const Operands& operands, std::int64_t bytes) const {
    plan_.combine(operands.lhs, operands.rhs, operands.into, bytes);
  }

  void complete(std::size_t i) {
    ++completed_;
    const CompiledStep& step = plan_.steps[i];
    if (step.verb == Verb::recv_reduce && !is_shared_memory(step.path)) reduce(operands(step), step.bytes);
    for (int d = step.first_dependent; d < step.last_dependent; ++d) {
      const auto dependent = static_cast<std::size_t>(plan_.dependents[static_cast<std::size_t>(d)]);
      if (--waits_[dependent] == 0 && !plan_.in_order) ready_[ready_count_++] = static_cast<int>(dependent);
    }
  }

  /// What the transport has not done with others at once.
  void reduce_rest(const CompiledStep& step) const {
    const std::int64_t done = step.joint < 0 ? 0 : port_.reduced(step.joint);
    const Operands whole = operands(step);
    if (done < step.bytes) reduce({whole.lhs + done, whole.rhs + done, whole.into + done}, step.bytes - done);
  }

  /// avg and scaled sums: once per element, when everything else is done.
  void finish() {
    const auto count = static_cast<std::size_t>(plan_.count);
    void* output = bases_[index(Buffer::output)];
    if (plan_.op.kind() == Op::Kind::avg) divide_kernel(plan_.type)(output, count, plan_.ranks);
    if (plan_.op.kind() == Op::Kind::scaled_sum) scale_kernel(plan_.type)(output, count, plan_.op.scale());
  }

  const CompiledPlan& plan_;
  Port port_;
  Bases bases_{};
  std::vector<int> waits_;
  std::vector<int> ready_;
  std::size_t ready_count_ = 0;
  std::size_t next_ = 0;
  std::size_t completed_ = 0;
  AlignedBuffer scratch_;
};

}  // namespace tutti
