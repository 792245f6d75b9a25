#pragma once
// The UCX transport: the messages in flight of one execution.

#include <ucp/api/ucp.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "lib/core/transport/network.hpp"
#include "ucx/network.hpp"
#include "ucx/worker.hpp"

namespace tutti::ucx {

/// Every message is one tagged message, of any size. A rank that leaves the library, to wait in MPI, moves UCX no more,
/// and others may wait for data that lie in UCX's queues here: so a message is complete when UCX has let go of it
/// (docs/ucx.md).
class UcxPort final : public TransportPort {
 public:
  /// Makes the endpoints that the plan needs. Throws Error if that fails.
  UcxPort(Worker& worker, UcxNetwork& network, const mpi::NetworkRoute& route, const CompiledPlan& plan);
  ~UcxPort() override { UcxPort::abandon(); }

  void begin(const RunNumber& run) override {
    turn_ = plan_.takes_turns ? turn_of(run.sequence, plan_.fingerprint) : pairwise_turn_of(plan_.fingerprint);
  }
  Posted post_send(int index, const CompiledStep& step, const std::byte* data) override;
  Posted post_recv(int index, const CompiledStep& step, std::byte* into) override;
  [[nodiscard]] int unfinished() const override;
  [[nodiscard]] int with_message_of_another_call() override;
  bool abandon() noexcept override;

 private:
  int look() override;
  /// The message of a step; used again in each run.
  struct Message {
    UcxPort* port = nullptr;  ///< nullptr: nobody waits for it.
    ucp_ep_h endpoint = nullptr;
    const Worker::Connection* connection = nullptr;
    ucp_tag_t tag = 0;  ///< The tag, but for the turn and the message.
    void* request = nullptr;
    std::size_t bytes = 0, received = 0;
    int index = 0;
    int peer = 0;
    int device = -1;  ///< That holds its data; -1: the host does.
    bool is_received = false;
    ucs_status_t status = UCS_OK;
    bool ended_at_once = false;   ///< Within the call that started it.
    int patience = 0;             ///< Looks that it waits for UCX to let go of it.
    ucp_request_param_t param{};  ///< The parameters of its call of UCX, the same in every run.
    /// Fills in the parameters.
    void describe();
    /// Throws if it has failed, or has another length than planned.
    void require_success() const;
  };
  struct Messages final : Orphan {
    std::vector<Message> of_step;
  };
  struct Settling {
    Message* message;
    void* request;
    int looks;
  };

  [[nodiscard]] ucp_tag_t tag_of(const Message& message, const CompiledStep& step) const {
    return message.tag | turn_ | ucx::tag_of(0, 0, 0, step.message);
  }
  static void on_sent(void* request, ucs_status_t status, void* message);
  static void on_received(void* request, ucs_status_t status, const ucp_tag_recv_info_t* info, void* message);
  [[nodiscard]] Message& message(int index) { return messages_->of_step[static_cast<std::size_t>(index)]; }
  [[nodiscard]] Posted started(Message& message, void* request);
  static bool ended(Message& message, void* request);
  /// Whether UCX has let go of it; else poll() will see.
  [[nodiscard]] bool settles(Message& message);
  void look_at_settling();
  void note_end_of_finished() const;
  [[nodiscard]] bool sends_off() const noexcept;
  void require_peers() const;

  Worker& worker_;
  const Library& ucx_;
  const CompiledPlan& plan_;
  bool has_device_data_ = false;
  ucp_tag_t turn_ = 0;
  std::unique_ptr<Messages> messages_;  ///< Per step.
  int in_flight_ = 0;
  std::vector<Message*> moved_;  ///< Messages that callbacks have reported.
  std::vector<Settling> settling_;
};

}  // namespace tutti::ucx
