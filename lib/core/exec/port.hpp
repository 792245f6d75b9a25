#pragma once
// The interface of transports: what an execution needs from one, and the verbs that all of them have.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "lib/core/plan/compiled_plan.hpp"
#include "tutti/error.hpp"

namespace tutti {

/// The operands and the result of a reduction. If it is part of a receive, the message lands in one of the operands.
struct Operands {
  std::byte *lhs = nullptr, *rhs = nullptr, *into = nullptr;
};

/// The beginning of each buffer.
class Bases {
 public:
  explicit Bases(std::byte* scratch) : begins_{nullptr, nullptr, scratch, nullptr} {}

  void bind(const void* input, void* output) {
    // Steps never write the input; the cast only lets the three buffers share one table.
    begins_[0] = static_cast<std::byte*>(const_cast<void*>(input));
    begins_[1] = static_cast<std::byte*>(output);
  }
  /// Memory that the run has until it is over.
  void lend(Buffer buffer, std::byte* memory) { begins_[static_cast<std::size_t>(buffer)] = memory; }
  [[nodiscard]] std::byte* at(Buffer buffer, std::int64_t offset) const {
    return begins_[static_cast<std::size_t>(buffer)] + offset;
  }
  [[nodiscard]] Operands operands(const CompiledStep& step) const {
    return {at(step.lhs, step.lhs_at), at(step.rhs, step.rhs_at), at(step.into, step.into_at)};
  }
  /// The operand where a message lands that is reduced once it is there.
  [[nodiscard]] std::byte* landing(const CompiledStep& step) const {
    return step.lands_left ? at(step.lhs, step.lhs_at) : at(step.rhs, step.rhs_at);
  }

 private:
  std::array<std::byte*, 4> begins_;  ///< By Buffer; the last is the staging buffer.
};

/// A message shows that its other end made another call. The text says how; who catches it knows the calls.
class WrongMessage : public MismatchError {
 public:
  WrongMessage(int peer, const std::string& why)
      : MismatchError("receive from rank " + std::to_string(peer) + ": " + why), peer_(peer) {}
  /// It has another length than expected, in bytes.
  static WrongMessage of_length(int peer, std::int64_t came, std::int64_t expected) {
    return {peer, std::to_string(came) + " bytes arrived where " + std::to_string(expected) + " were expected"};
  }
  [[nodiscard]] int peer() const { return peer_; }

 private:
  int peer_;
};

/// A peer has ended, or is out of reach, as its transport says.
class LostPeer : public Error {
 public:
  using Error::Error;
};

/// The state of a message, a copy or a reduction that was given to a transport or an executor.
enum class Posted : std::uint8_t {
  busy,      ///< Not taken: ask again later.
  pending,   ///< poll() will say when it is complete.
  complete,  ///< Already; poll() will not mention it.
};

/// Moves the messages of one execution, run after run.
///   bind(bases)                             where the plan's buffers are during this run
///   post_send(index, step, data)            starts the send of the step of that index; it reads `data`
///   post_recv(index, step, into)            starts a receive
///   post_recv_reduce(index, step, operands) starts a receive, and reduces its data as they arrive
///   reduced(step)                           the bytes of a reduction with a place in the side table that were made as
///                                           the messages of others arrived
///   poll(on_complete)                       never blocks; calls on_complete(index) for each message that completed;
///                                           more than 0: it is worth to look again
/// Ports of plans that may run on the fast path (Execution::run_fast_path) have two functions more:
///   transfer(step, operands, again)         sends, or receives and reduces, the step's message, looking again for as
///                                           long as `again()` says; false: that is still to be done
///   transferred(index, step)                the message of transfer() belongs to the run that has begun since
template <class T>
concept Port = requires(T port, const T& seen, int index, const CompiledStep& step, const std::byte* data,
                        std::byte* into, const Operands& operands, const Bases& bases, void (*on_complete)(int)) {
  port.bind(bases);
  { port.post_send(index, step, data) } -> std::same_as<Posted>;
  { port.post_recv(index, step, into) } -> std::same_as<Posted>;
  { port.post_recv_reduce(index, step, operands) } -> std::same_as<Posted>;
  { seen.reduced(step) } -> std::same_as<std::int64_t>;
  { port.poll(on_complete) } -> std::convertible_to<int>;
};

/// The place of a run among the operations of its communicator.
struct RunNumber {
  std::uint64_t sequence = 0;
  int lane = 0;  ///< The lane of shared memory.
  int tag = 0;   ///< The tag of message 0 over MPI.
};

/// The messages of one execution over one transport, run after run: the base of all transports but shared memory, which
/// has the same functions without virtual calls (lib/core/transport/shm/shm_port.hpp). The Mux gives each step to the
/// port of its CompiledStep::transport, and nothing else; docs/transports.md says how to write one.
class TransportPort {
 public:
  TransportPort() = default;
  TransportPort(const TransportPort&) = delete;
  TransportPort& operator=(const TransportPort&) = delete;
  virtual ~TransportPort() = default;

  /// A run begins; the one before is over, or was abandoned.
  virtual void begin(const RunNumber& run) = 0;
  /// Where the plan's buffers are during this run; `bases` lives as long as the run. For ports that touch more of a
  /// buffer than the data of a message.
  virtual void bind(const Bases& /*bases*/) {}
  /// Starts the send of the step of that index, which reads `data`. Throws Error.
  virtual Posted post_send(int index, const CompiledStep& step, const std::byte* data) = 0;
  virtual Posted post_recv(int index, const CompiledStep& step, std::byte* into) = 0;
  /// Plans have these only for transports inside a node.
  virtual Posted post_recv_reduce(int /*index*/, const CompiledStep& step, const Operands& /*operands*/) {
    throw Error("receive from rank " + std::to_string(step.peer) + ": its transport does not reduce");
  }
  /// The bytes of a reduction that were made as the messages of others arrived.
  [[nodiscard]] virtual std::int64_t reduced(const CompiledStep& /*step*/) const { return 0; }
  /// Never blocks; calls on_complete(index) for each message that completed. More than 0: it is worth to look again.
  template <class OnComplete>
  int poll(OnComplete on_complete) {
    completed_.clear();
    const int moved = look();
    for (const int index : completed_)
      on_complete(index);
    return moved;
  }
  /// The step of a message that is not over, a receive rather than a send; -1: there is none.
  [[nodiscard]] virtual int unfinished() const = 0;
  /// Throws Error if a message that is waited for has come in another lane: another kind of call.
  virtual void require_same_kind() const {}
  /// The step of a receive for which a message of another call has come, as the fingerprint in its tag shows; -1: there
  /// is none. It may be that of a later call, if the right one has come since poll(). Of many receives, each call may
  /// look at some others.
  [[nodiscard]] virtual int with_message_of_another_call() { return -1; }
  /// After a failure: withdraws the messages. False: some may still write to their buffers.
  virtual bool abandon() noexcept = 0;

 protected:
  /// Notes the messages that are over in `completed_`, and returns how many moved.
  virtual int look() = 0;
  std::vector<int> completed_{};
};

}  // namespace tutti
