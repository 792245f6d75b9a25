#pragma once
// The backend "tutti" of torch.distributed.

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include "group.hpp"
#include "stream.hpp"
#include "world.hpp"

namespace tutti_torch {

using WorkPointer = c10::intrusive_ptr<c10d::Work>;
using Tensors = std::vector<at::Tensor>;
using TensorLists = std::vector<Tensors>;

/// pg_options of init_process_group and new_group. Empty texts are Tutti's defaults.
struct GroupOptions : c10d::Backend::Options {
  explicit GroupOptions(Milliseconds timeout) : c10d::Backend::Options("tutti", timeout) {}
  std::string algorithms, transport, buffers;
};

/// Collectives in the order of calls, each run by Tutti's nonblocking form, so that async_op may differ between ranks.
/// A call that waits moves its operation itself; for others a thread does. Old names of methods are overridden, to
/// which new versions of PyTorch forward.
class Backend : public c10d::Backend {
 public:
  Backend(const c10::intrusive_ptr<c10d::Store>& store, int rank, int size, const std::string& name,
          c10::intrusive_ptr<GroupOptions> options);
  Backend(const Backend&) = delete;
  Backend& operator=(const Backend&) = delete;
  ~Backend() override { shutdown(); }

  const std::string getBackendName() const override { return "tutti"; }
  c10::intrusive_ptr<c10d::Backend::Options> getBackendOptions() { return options_; }
  void setTimeout(Milliseconds timeout) { options_->timeout = timeout; }
  uint64_t getSequenceNumberForGroup() override { return group_->number(); }
  void setSequenceNumberForGroup() override {}
  void shutdown() { group_->close(); }
  void abort() { group_->abort("was aborted"); }
  bool supportsSplitting() const override { return true; }
  c10::intrusive_ptr<c10d::Backend> split(const c10::intrusive_ptr<c10d::Store>& store, const std::vector<int>& ranks,
                                          const c10::intrusive_ptr<c10d::Backend::Options>& options);
  c10::intrusive_ptr<c10d::Backend> merge(const c10::intrusive_ptr<c10d::Store>& store,
                                          const c10::intrusive_ptr<c10d::Backend::Options>& options, const int& rank,
                                          const int& size);

  WorkPointer broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override;
  WorkPointer allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override;
  WorkPointer allreduce_coalesced(Tensors& tensors, const c10d::AllreduceCoalescedOptions& options) override;
  WorkPointer reduce(Tensors& tensors, const c10d::ReduceOptions& options) override;
  WorkPointer allgather(TensorLists& outputs, Tensors& inputs, const c10d::AllgatherOptions& options) override;
  WorkPointer allgather_coalesced(TensorLists& outputs, Tensors& inputs,
                                  const c10d::AllgatherOptions& options) override;
  WorkPointer _allgather_base(at::Tensor& output, at::Tensor& input, const c10d::AllgatherOptions& options) override;
  WorkPointer allgather_into_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                              const c10d::AllgatherOptions& options) override;
  WorkPointer gather(TensorLists& outputs, Tensors& inputs, const c10d::GatherOptions& options) override;
  /// Only new versions of PyTorch have it.
  WorkPointer gather_into_tensor(at::Tensor& output, at::Tensor& input, const c10d::GatherOptions& options);
  WorkPointer scatter(Tensors& outputs, TensorLists& inputs, const c10d::ScatterOptions& options) override;
  WorkPointer reduce_scatter(Tensors& outputs, TensorLists& inputs, const c10d::ReduceScatterOptions& options) override;
  WorkPointer _reduce_scatter_base(at::Tensor& output, at::Tensor& input,
                                   const c10d::ReduceScatterOptions& options) override;
  WorkPointer reduce_scatter_tensor_coalesced(Tensors& outputs, Tensors& inputs,
                                              const c10d::ReduceScatterOptions& options) override;
  WorkPointer alltoall_base(at::Tensor& output, at::Tensor& input, std::vector<int64_t>& output_splits,
                            std::vector<int64_t>& input_splits, const c10d::AllToAllOptions& options) override;
  WorkPointer alltoall(Tensors& outputs, Tensors& inputs, const c10d::AllToAllOptions& options) override;
  WorkPointer barrier(const c10d::BarrierOptions& options) override;
  void monitoredBarrier(const c10d::BarrierOptions& options, bool wait_all_ranks) override;

  WorkPointer send(Tensors& tensors, int to, int tag) override;
  WorkPointer recv(Tensors& tensors, int from, int tag) override;
  WorkPointer recvAnysource(Tensors& tensors, int tag) override;

 private:
  /// Runs calls as one operation, in the group's order.
  template <class CallOptions>
  WorkPointer run(c10d::OpType type, const char* title, const Tensors& inputs, std::vector<Call> calls,
                  const CallOptions& options);
  WorkPointer sum_of_sparse(Tensors& tensors, const c10d::AllreduceOptions& options);
  /// The tensors of all ranks, in `parts`.
  Tensors gathered(const at::Tensor& own, Tensors parts, Milliseconds timeout);
  WorkPointer receive(c10d::OpType type, const char* title, Tensors& tensors, int from, int tag);
  [[nodiscard]] Milliseconds limit(Milliseconds timeout) const {
    return timeout == c10d::kUnsetTimeout ? options_->timeout : timeout;
  }
  Call allgather_call(Buffer in, Buffer out, const char* name) const;
  Call reduce_scatter_call(Buffer in, Buffer out, const c10d::ReduceOp& op, const char* name) const;

  c10::intrusive_ptr<c10d::Store> store_;
  c10::intrusive_ptr<GroupOptions> options_;
  std::vector<int> world_ranks_;
  std::shared_ptr<Group> group_;
  Streams streams_;
  uint64_t monitored_barriers_ = 0;
};

}  // namespace tutti_torch
