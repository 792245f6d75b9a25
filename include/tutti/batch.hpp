#pragma once
// Messages between two ranks, and batches of them.

#include <memory>
#include <span>
#include <vector>

#include "tutti/call.hpp"
#include "tutti/export.hpp"
#include "tutti/mistakes.hpp"

namespace tutti {

/// Given as the source of a receive with a tag: any rank; as its tag: any tag.
inline constexpr Rank any_source{MPI_ANY_SOURCE};
inline constexpr Tag any_tag{MPI_ANY_TAG};

/// What a receive with a tag got. Of a message from Rank{MPI_PROC_NULL}: that rank, any_tag and 0.
struct Received {
  Rank source{};
  Tag tag{};
  Count count{};  ///< Whole elements of the type of the receive.
};

/// Sends and receives that run as one schedule, all at once, in any order of adding: none waits for another, so ranks
/// may exchange messages in any pattern without deadlock (NCCL calls this a group). Between two ranks of a
/// communicator, the k-th message sent is the k-th received, in any batch or call.
///
///     Batch batch{comm};
///     batch.send(mine, right);  // ranges, spans or scalars
///     batch.recv(theirs, left);
///     batch.run();
///
/// - As in MPI, a send may return before its message is received, or not. Ranks that each send first and then receive,
///   in separate calls, may therefore wait for each other for ever, even if an earlier run did not.
/// - Messages never mix with collectives or with the program's own.
/// - **Tags.** A message with a tag meets only receives with a tag, which may be any_tag, from that rank or any_source.
///   Of two messages of one rank that fit a receive, the first one sent meets it; of two receives that fit a message,
///   the first one posted. The message may be shorter than the receive. If it is longer, that receive throws Error, the
///   message is lost, and the communicator works on. Cost: a header of 64 bytes in front, in which up to 40 bytes have
///   room; up to 8 KiB follow at once, and are copied once more if they come before their receive; more, and data on
///   devices, wait for an answer of the receiver. A receive from any_source keeps receives to all ranks posted.
/// - Which of the receives of a batch meets which message is up to the tags, so their memory is not compared. A batch
///   with tags makes no Plan.
/// - A message to or from Rank{MPI_PROC_NULL} is none: a send does nothing, a receive leaves its buffer as it is.
/// - A rank may send to itself: the message goes to its receive in the same batch, which must have the same size.
/// - Receives must not overlap each other or the data sent: an ArgumentError names the two messages, counted from 0 in
///   the order in which they were added. The check sorts the receives, once for each set of messages that is run.
/// - A batch may outlive its Communicator object, but runs only while the communicator is open.
/// Errors: ArgumentError says what is not allowed, when a message is added or, for messages to itself and for overlaps,
/// when the batch is run; nothing has been posted then. Error: a message failed or was not of the expected size.
/// StateError: the batch was moved from.
class Batch {
 public:
  TUTTI_API explicit Batch(const Communicator& comm);
  TUTTI_API Batch(Batch&&) noexcept;
  TUTTI_API Batch& operator=(Batch&&) noexcept;
  TUTTI_API ~Batch();

  TUTTI_API void send(const void* data, Count count, Type type, Rank to);
  TUTTI_API void recv(void* data, Count count, Type type, Rank from);
  TUTTI_API void send(const void* data, Count count, Type type, Rank to, Tag tag);
  /// `received` is written when the message has come, and stays until then.
  TUTTI_API void recv(void* data, Count count, Type type, Rank from, Tag tag, Received* received = nullptr);
  /// Takes buffers: scalars or contiguous ranges (tutti/ranges.hpp).
  template <LastingInputBuffer Data>
  void send(Data&& data, Rank to) {
    const std::span elements = detail::elements_of(data);
    send(elements.data(), Count{elements.size()}, type_of<detail::element_t<Data>>, to);
  }
  template <OutputBuffer Data>
  void recv(Data&& data, Rank from) {
    const std::span elements = detail::elements_of(data);
    recv(elements.data(), Count{elements.size()}, type_of<detail::element_t<Data>>, from);
  }
  template <LastingInputBuffer Data>
  void send(Data&& data, Rank to, Tag tag) {
    const std::span elements = detail::elements_of(data);
    send(elements.data(), Count{elements.size()}, type_of<detail::element_t<Data>>, to, tag);
  }
  template <OutputBuffer Data>
  void recv(Data&& data, Rank from, Tag tag, Received* received = nullptr) {
    const std::span elements = detail::elements_of(data);
    recv(elements.data(), Count{elements.size()}, type_of<detail::element_t<Data>>, from, tag, received);
  }
  // Do not compile, and say why (tutti/mistakes.hpp).
  template <class... Arguments>
  requires detail::Mistaken<detail::form_of_batches, Arguments...>
  void send(Arguments&&... /*arguments*/) {
    detail::explain<detail::mistake_in<detail::form_of_batches, Arguments...>()>();
  }
  template <class... Arguments>
  requires detail::Mistaken<detail::form_of_batches, Arguments...>
  void recv(Arguments&&... /*arguments*/) {
    detail::explain<detail::mistake_in<detail::form_of_batches, Arguments...>()>();
  }

  /// Blocking, nonblocking, persistent. The batch is not changed and may be run again.
  TUTTI_API void run() const;
  [[nodiscard]] TUTTI_API Request start() const;
  [[nodiscard]] TUTTI_API Plan plan() const;

 private:
  struct Messages;
  [[nodiscard]] Messages& messages() const;
  std::unique_ptr<Messages> messages_;
};

/// Sends `count` elements to rank `to`, which receives them by recv. Errors and Rank{MPI_PROC_NULL} as in a Batch; a
/// message to the rank itself needs a Batch.
TUTTI_API void send(const void* data, Count count, Type type, Rank to, const Communicator& comm);
[[nodiscard]] TUTTI_API Request send_async(const void* data, Count count, Type type, Rank to, const Communicator& comm);
[[nodiscard]] TUTTI_API Plan plan_send(const void* data, Count count, Type type, Rank to, const Communicator& comm);
TUTTI_API void recv(void* data, Count count, Type type, Rank from, const Communicator& comm);
[[nodiscard]] TUTTI_API Request recv_async(void* data, Count count, Type type, Rank from, const Communicator& comm);
[[nodiscard]] TUTTI_API Plan plan_recv(void* data, Count count, Type type, Rank from, const Communicator& comm);
/// Messages with a tag, as in a Batch; also to and from this rank itself.
TUTTI_API void send(const void* data, Count count, Type type, Rank to, Tag tag, const Communicator& comm);
[[nodiscard]] TUTTI_API Request send_async(const void* data, Count count, Type type, Rank to, Tag tag,
                                           const Communicator& comm);
TUTTI_API Received recv(void* data, Count count, Type type, Rank from, Tag tag, const Communicator& comm);
/// `received` is written when the request is complete, and stays until then.
[[nodiscard]] TUTTI_API Request recv_async(void* data, Count count, Type type, Rank from, Tag tag,
                                           const Communicator& comm, Received* received = nullptr);
/// Sends and receives at once; the two ranks may differ, or be this one.
TUTTI_API void sendrecv(const void* out, Count out_count, Rank to, void* in, Count in_count, Rank from, Type type,
                        const Communicator& comm);
[[nodiscard]] TUTTI_API Request sendrecv_async(const void* out, Count out_count, Rank to, void* in, Count in_count,
                                               Rank from, Type type, const Communicator& comm);
[[nodiscard]] TUTTI_API Plan plan_sendrecv(const void* out, Count out_count, Rank to, void* in, Count in_count,
                                           Rank from, Type type, const Communicator& comm);

/// Takes buffers: scalars or contiguous ranges (tutti/ranges.hpp).
template <InputBuffer Data>
void send(Data&& data, Rank to, const Communicator& comm) {
  const std::span elements = detail::elements_of(data);
  return send(elements.data(), Count{elements.size()}, type_of<detail::element_t<Data>>, to, comm);
}
template <LastingInputBuffer Data>
[[nodiscard]] Request send_async(Data&& data, Rank to, const Communicator& comm) {
  const std::span elements = detail::elements_of(data);
  return send_async(elements.data(), Count{elements.size()}, type_of<detail::element_t<Data>>, to, comm);
}
template <LastingInputBuffer Data>
[[nodiscard]] Plan plan_send(Data&& data, Rank to, const Communicator& comm) {
  const std::span elements = detail::elements_of(data);
  return plan_send(elements.data(), Count{elements.size()}, type_of<detail::element_t<Data>>, to, comm);
}
template <OutputBuffer Data>
void recv(Data&& data, Rank from, const Communicator& comm) {
  const std::span elements = detail::elements_of(data);
  return recv(elements.data(), Count{elements.size()}, type_of<detail::element_t<Data>>, from, comm);
}
template <OutputBuffer Data>
[[nodiscard]] Request recv_async(Data&& data, Rank from, const Communicator& comm) {
  const std::span elements = detail::elements_of(data);
  return recv_async(elements.data(), Count{elements.size()}, type_of<detail::element_t<Data>>, from, comm);
}
template <OutputBuffer Data>
[[nodiscard]] Plan plan_recv(Data&& data, Rank from, const Communicator& comm) {
  const std::span elements = detail::elements_of(data);
  return plan_recv(elements.data(), Count{elements.size()}, type_of<detail::element_t<Data>>, from, comm);
}
template <InputBuffer Data>
void send(Data&& data, Rank to, Tag tag, const Communicator& comm) {
  const std::span elements = detail::elements_of(data);
  return send(elements.data(), Count{elements.size()}, type_of<detail::element_t<Data>>, to, tag, comm);
}
template <LastingInputBuffer Data>
[[nodiscard]] Request send_async(Data&& data, Rank to, Tag tag, const Communicator& comm) {
  const std::span elements = detail::elements_of(data);
  return send_async(elements.data(), Count{elements.size()}, type_of<detail::element_t<Data>>, to, tag, comm);
}
template <OutputBuffer Data>
Received recv(Data&& data, Rank from, Tag tag, const Communicator& comm) {
  const std::span elements = detail::elements_of(data);
  return recv(elements.data(), Count{elements.size()}, type_of<detail::element_t<Data>>, from, tag, comm);
}
template <OutputBuffer Data>
[[nodiscard]] Request recv_async(Data&& data, Rank from, Tag tag, const Communicator& comm,
                                 Received* received = nullptr) {
  const std::span elements = detail::elements_of(data);
  return recv_async(elements.data(), Count{elements.size()}, type_of<detail::element_t<Data>>, from, tag, comm,
                    received);
}
/// `out` is sent, `in` received; they may differ in length.
template <InputBuffer Out, OutputBuffer In>
requires detail::SameElement<Out, In>
void sendrecv(Out&& out, Rank to, In&& in, Rank from, const Communicator& comm) {
  const std::span sent = detail::elements_of(out);
  const std::span received = detail::elements_of(in);
  return sendrecv(sent.data(), Count{sent.size()}, to, received.data(), Count{received.size()}, from,
                  type_of<detail::element_t<In>>, comm);
}
template <LastingInputBuffer Out, OutputBuffer In>
requires detail::SameElement<Out, In>
[[nodiscard]] Request sendrecv_async(Out&& out, Rank to, In&& in, Rank from, const Communicator& comm) {
  const std::span sent = detail::elements_of(out);
  const std::span received = detail::elements_of(in);
  return sendrecv_async(sent.data(), Count{sent.size()}, to, received.data(), Count{received.size()}, from,
                        type_of<detail::element_t<In>>, comm);
}
template <LastingInputBuffer Out, OutputBuffer In>
requires detail::SameElement<Out, In>
[[nodiscard]] Plan plan_sendrecv(Out&& out, Rank to, In&& in, Rank from, const Communicator& comm) {
  const std::span sent = detail::elements_of(out);
  const std::span received = detail::elements_of(in);
  return plan_sendrecv(sent.data(), Count{sent.size()}, to, received.data(), Count{received.size()}, from,
                       type_of<detail::element_t<In>>, comm);
}

}  // namespace tutti
