#pragma once
// Messages between two ranks, and batches of them.

#include <memory>
#include <span>
#include <vector>

#include "tutti/call.hpp"

namespace tutti {

/// Sends and receives that run as one schedule, all at once, whatever their order here: none waits for another, so
/// ranks may exchange messages in any pattern without deadlock (what NCCL calls a group). Between two ranks of a
/// communicator, the k-th message sent is the k-th received, whatever batch or call it is part of.
///
///     Batch batch{comm};
///     batch.send(std::span{mine}, right);
///     batch.recv(std::span{theirs}, left);
///     batch.run();
///
/// - As in MPI a send may return before its message is received, or not: ranks that send first and receive then, in
///   separate calls, may wait for each other for ever, on some day if not on the first one.
/// - Messages have no tags, and never mix with collectives or with the program's own.
/// - A rank may send to itself: the message goes to its receive in the same batch, which must have the same size.
/// - Receives must not overlap each other or what is sent: an ArgumentError names the two messages, counted from 0 in
///   the order in which they were added. The check sorts the receives, once for each set of messages that is run.
/// - A batch may outlive its Communicator object, but runs only while the communicator is open.
/// Errors: ArgumentError names what is not allowed, when it is added or, for messages to itself and for overlaps, when
/// the batch is run; nothing has been posted then. Error: a message failed or was not of the expected size.
class Batch {
 public:
  explicit Batch(const Communicator& comm);
  Batch(Batch&&) noexcept;
  Batch& operator=(Batch&&) noexcept;
  ~Batch();

  void send(const void* data, Count count, Type type, Rank to);
  void recv(void* data, Count count, Type type, Rank from);
  template <class T>
  requires detail::ConstElement<T>
  void send(std::span<T> data, Rank to) { send(data.data(), Count{data.size()}, type_of<std::remove_const_t<T>>, to); }
  template <Element T>
  void recv(std::span<T> data, Rank from) {
    recv(data.data(), Count{data.size()}, type_of<T>, from);
  }

  /// Blocking, nonblocking, persistent; the batch stays as it is and may be run again.
  void run() const;
  [[nodiscard]] Request start() const;
  [[nodiscard]] Plan plan() const;

 private:
  struct Messages;
  std::unique_ptr<Messages> messages_;
};

/// Sends `count` elements to rank `to`, which receives them by recv. Errors as Batch; a message to itself needs a
/// Batch.
void send(const void* data, Count count, Type type, Rank to, const Communicator& comm);
[[nodiscard]] Request send_async(const void* data, Count count, Type type, Rank to, const Communicator& comm);
[[nodiscard]] Plan plan_send(const void* data, Count count, Type type, Rank to, const Communicator& comm);
void recv(void* data, Count count, Type type, Rank from, const Communicator& comm);
[[nodiscard]] Request recv_async(void* data, Count count, Type type, Rank from, const Communicator& comm);
[[nodiscard]] Plan plan_recv(void* data, Count count, Type type, Rank from, const Communicator& comm);
/// Both at once; the ranks may differ, or be this one.
void sendrecv(const void* out, Count out_count, Rank to, void* in, Count in_count, Rank from, Type type,
              const Communicator& comm);
[[nodiscard]] Request sendrecv_async(const void* out, Count out_count, Rank to, void* in, Count in_count, Rank from,
                                     Type type, const Communicator& comm);
[[nodiscard]] Plan plan_sendrecv(const void* out, Count out_count, Rank to, void* in, Count in_count, Rank from,
                                 Type type, const Communicator& comm);

/// The same on spans.
template <class T>
requires detail::ConstElement<T>
void send(std::span<T> data, Rank to, const Communicator& comm) {
  send(data.data(), Count{data.size()}, type_of<std::remove_const_t<T>>, to, comm);
}
template <Element T>
void recv(std::span<T> data, Rank from, const Communicator& comm) {
  recv(data.data(), Count{data.size()}, type_of<T>, from, comm);
}
template <class Out, class T>
requires detail::SameElement<Out, T>
void sendrecv(std::span<Out> out, Rank to, std::span<T> in, Rank from, const Communicator& comm) {
  sendrecv(out.data(), Count{out.size()}, to, in.data(), Count{in.size()}, from, type_of<T>, comm);
}

}  // namespace tutti
