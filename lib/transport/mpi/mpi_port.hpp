#pragma once
// The MPI transport: nonblocking point-to-point messages on a private communicator.

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/cuda/scoped_device.hpp"
#include "lib/exec/port.hpp"
#include "lib/transport/mpi/check.hpp"
#include "lib/transport/mpi/tag_layout.hpp"

namespace tutti::mpi {

/// Where an execution's messages go: the same for all executions of a communicator.
struct Route {
  MPI_Comm comm = MPI_COMM_NULL;
  TagLayout tags{};
  std::int64_t message_limit = 0;  ///< Larger messages are split into pieces of this many bytes, on both sides alike.
  std::span<const int> ranks;      ///< Rank in `comm` of each rank of the communicator.
};

/// The messages in flight of one execution (the concept Port of lib/exec/port.hpp).
class MpiPort {
 public:
  MpiPort(const Route& route, const CompiledPlan& plan);

  /// `tag` is that of message 0.
  void begin(int tag) { tag_ = tag; }
  Posted post_send(int index, const CompiledStep& step, const std::byte* data);
  Posted post_recv(int index, const CompiledStep& step, std::byte* data);

  template <class OnComplete>
  int poll(OnComplete on_complete) {
    const int finished = test();
    for (int i = 0; i < finished; ++i) {
      const Pending& pending = pending_[static_cast<std::size_t>(finished_[static_cast<std::size_t>(i)])];
      if (pending.device >= 0) cuda::FarData::end();
      if (--pieces_[static_cast<std::size_t>(pending.index)] == 0) on_complete(pending.index);
    }
    if (finished > 0) forget(finished);
    return finished;
  }

  [[nodiscard]] bool in_flight() const { return in_flight_ > 0; }

  /// The step of a message that is not over, a receive rather than a send; -1: there is none.
  [[nodiscard]] int unfinished() const;
  /// The step of a receive for which a message of another call has come, as the fingerprint in its tag shows; -1: there
  /// is none. It may be that of a later call, if the right one has come since poll(). Of many receives, each call looks
  /// at some others.
  [[nodiscard]] int with_message_of_another_call();

  /// After a failure: cancels the receives that have not been matched, and waits for the others, but not for long.
  /// False: some may still write to their buffers.
  bool abandon() noexcept;

 private:
  struct Pending {
    int index;     ///< Of the step.
    int expected;  ///< Bytes of a receive; -1: a send.
    int peer;
    int device;  ///< That holds its data; -1: the host does.
    int tag;
  };
  [[nodiscard]] bool has_come_with_another_fingerprint(const Pending& receive) const;
  void make_room(std::size_t messages);
  int test();
  int test_only_one();
  void forget(int finished);
  [[nodiscard]] bool end_receives() noexcept;
  void add(MPI_Request request, const Pending& pending);
  [[noreturn]] static void throw_failed(const Pending& pending, int code);
  void require_complete(const Pending& pending, const MPI_Status& status) const;

  Route route_;
  int tag_ = 0;
  int in_flight_ = 0;
  int looked_at_ = 0;                  ///< The last request that with_message_of_another_call() looked at.
  std::vector<MPI_Request> requests_;  ///< The first in_flight_ are pending; the rest is capacity.
  std::vector<Pending> pending_;
  std::vector<int> finished_;
  std::vector<MPI_Status> statuses_;
  std::vector<int> pieces_;  ///< Per step: pieces that have not completed.
};

}  // namespace tutti::mpi
