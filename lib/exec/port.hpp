#pragma once
// The interface that an execution needs from a transport.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string>

#include "lib/exec/bases.hpp"
#include "lib/plan/compiled_plan.hpp"
#include "tutti/error.hpp"

namespace tutti {

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

}  // namespace tutti
