#pragma once
// The MPI transport: nonblocking point-to-point messages on a private communicator.

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "lib/core/exec/port.hpp"
#include "lib/core/transport/mpi/check.hpp"
#include "lib/core/transport/mpi/tag_layout.hpp"
#include "lib/device/driver/scoped_device.hpp"

namespace tutti::mpi {

/// Where an execution's messages go: the same for all executions of a communicator.
struct Route {
  MPI_Comm comm = MPI_COMM_NULL;
  TagLayout tags{};
  std::int64_t message_limit = 0;  ///< Larger messages are split into pieces of this many bytes, on both sides alike.
  std::span<const int> ranks;      ///< Rank in `comm` of each rank of the communicator.
};

class MpiPort final : public TransportPort {
 public:
  MpiPort(const Route& route, const CompiledPlan& plan);

  void begin(const RunNumber& run) override { tag_ = run.tag; }
  Posted post_send(int index, const CompiledStep& step, const std::byte* data) override;
  Posted post_recv(int index, const CompiledStep& step, std::byte* into) override;
  [[nodiscard]] bool in_flight() const { return in_flight_ > 0; }
  [[nodiscard]] int unfinished() const override;
  [[nodiscard]] int with_message_of_another_call() override;
  /// Cancels the receives that have not been matched, and waits for the others, but not for long.
  bool abandon() noexcept override;

 private:
  int look() override;
  struct Pending {
    int index;     ///< The index of the step.
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
