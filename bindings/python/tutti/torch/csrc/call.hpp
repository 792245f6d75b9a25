#pragma once
// One call of Tutti with the tensors that it works on.

#include <span>
#include <vector>

#include "types.hpp"

namespace tutti_torch {

/// Tensors as one range of memory: their own where there is one and it is contiguous, else a copy.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::vector<at::Tensor> tensors) : tensors_(std::move(tensors)) {
    for (const auto& tensor : tensors_) {
      TORCH_CHECK_TYPE(tensor.layout() == at::kStrided, "tutti: sparse tensors are not supported");
      TORCH_CHECK_TYPE(tensor.scalar_type() == tensors_[0].scalar_type(), "tutti: tensors of one call have types ",
                       tensors_[0].scalar_type(), " and ", tensor.scalar_type());
      TORCH_CHECK_VALUE(tensor.device() == tensors_[0].device(), "tutti: tensors of one call are on devices ",
                        tensors_[0].device(), " and ", tensor.device());
      TORCH_CHECK_VALUE(!tensor.is_conj() && !tensor.is_neg(),
                        "tutti: a tensor has its conjugate or negative bit set: call resolve_conj() and resolve_neg()");
      count_ += tensor.numel();
    }
    is_direct_ = tensors_.size() == 1 && tensors_[0].is_contiguous();
  }
  explicit Buffer(const at::Tensor& tensor) : Buffer(std::vector<at::Tensor>{tensor}) {}

  [[nodiscard]] bool is_empty() const { return tensors_.empty(); }
  [[nodiscard]] int64_t count() const { return count_; }
  [[nodiscard]] const at::Tensor& first() const { return tensors_.at(0); }
  [[nodiscard]] const std::vector<at::Tensor>& tensors() const { return tensors_; }
  [[nodiscard]] std::vector<int64_t> counts() const {
    std::vector<int64_t> counts;
    for (const auto& tensor : tensors_)
      counts.push_back(tensor.numel());
    return counts;
  }

  /// Whether some bytes are of both: then one has to be a copy.
  [[nodiscard]] bool overlaps(const Buffer& other) const {
    if (!is_direct_ || !other.is_direct_) return false;
    const auto *begin = address(), *other_begin = other.address();
    return begin < other_begin + other.bytes() && other_begin < begin + bytes();
  }
  void use_copy() { is_direct_ = false; }

  /// The memory, allocated where the tensors' own cannot be used.
  void* data() {
    if (tensors_.empty()) return nullptr;
    if (is_direct_) return tensors_[0].data_ptr();
    if (!copy_.defined()) copy_ = at::empty({count_}, tensors_[0].options().requires_grad(false));
    return copy_.data_ptr();
  }
  void pack() {
    if (is_direct_ || tensors_.empty()) return;
    data();
    each([](const at::Tensor& tensor, const at::Tensor& part) { part.copy_(tensor); });
  }
  void unpack() {
    if (is_direct_ || tensors_.empty()) return;
    each([](const at::Tensor& tensor, const at::Tensor& part) { tensor.copy_(part); });
  }

 private:
  template <class Copy>
  void each(Copy copy) {
    // Neither autograd nor the mode of the thread that runs this have a say: outputs are the caller's memory.
    const at::AutoDispatchBelowADInplaceOrView guard;
    int64_t offset = 0;
    for (const auto& tensor : tensors_) {
      copy(tensor, copy_.narrow(0, offset, tensor.numel()).view(tensor.sizes()));
      offset += tensor.numel();
    }
  }

  [[nodiscard]] const char* address() const { return static_cast<const char*>(tensors_[0].data_ptr()); }
  [[nodiscard]] int64_t bytes() const { return count_ * tensors_[0].element_size(); }

  std::vector<at::Tensor> tensors_;
  at::Tensor copy_;
  int64_t count_ = 0;
  bool is_direct_ = false;
};

/// Whether Tutti has calls of lists of it.
inline bool has_lists(tutti_collective collective) {
  return collective == TUTTI_ALLREDUCE || collective == TUTTI_BROADCAST || collective == TUTTI_ALLGATHER ||
         collective == TUTTI_REDUCE_SCATTER;
}

/// A collective of Tutti. It is made when PyTorch calls, and started when its turn in the group has come; only then are
/// inputs copied that have to be.
class Call {
 public:
  Call(tutti_collective collective, Buffer in, Buffer out, int64_t count, tutti_type type)
      : in_(std::move(in)), out_(std::move(out)) {
    call_.collective = collective;
    call_.count = count;
    call_.type = type;
  }
  Call& root(int64_t root) {
    call_.root = static_cast<int>(root);
    return *this;
  }
  Call& reduce_by(Reduction reduction) {
    reduction_ = std::move(reduction);
    call_.op = reduction_.op;
    return *this;
  }
  /// The data are in `out`, before and after.
  Call& in_place() {
    is_in_place_ = true;
    return *this;
  }
  Call& uneven(std::vector<int64_t> in_counts, std::vector<int64_t> out_counts) {
    call_.blocks = TUTTI_BLOCKS_UNEVEN;
    in_counts_ = std::move(in_counts);
    out_counts_ = std::move(out_counts);
    return *this;
  }

  [[nodiscard]] const std::vector<at::Tensor>& outputs() const { return out_.tensors(); }

  /// Whether one call of a list can do both, of which PyTorch has told the same operation and root. All ranks have to
  /// say the same, so only what they have in common counts.
  [[nodiscard]] bool joins(const Call& other) const {
    return has_lists(call_.collective) && is_even() && other.is_even() && call_.type == other.call_.type;
  }

  [[nodiscard]] c10::Device device() const {
    if (!out_.is_empty()) return out_.first().device();
    return in_.is_empty() ? c10::Device(c10::kCPU) : in_.first().device();
  }

  /// The call as Tutti takes it, with inputs packed.
  const tutti_call& bound() {
    call_.out = out_.data();
    if (is_in_place_) {
      out_.pack();
      call_.in = call_.collective == TUTTI_BROADCAST ? call_.out : TUTTI_IN_PLACE;
    } else {
      if (in_.overlaps(out_)) in_.use_copy();
      in_.pack();
      call_.in = in_.data();
    }
    if (!in_counts_.empty()) call_.in_counts = in_counts_.data();
    if (!out_counts_.empty()) call_.out_counts = out_counts_.data();
    return call_;
  }
  void finish() { out_.unpack(); }

 private:
  [[nodiscard]] bool is_even() const { return call_.blocks == TUTTI_BLOCKS_EVEN; }

  tutti_call call_ = TUTTI_CALL_INIT;
  Buffer in_, out_;
  Reduction reduction_;
  bool is_in_place_ = false;
  std::vector<int64_t> in_counts_, out_counts_;
};

/// Starts a call with each of the buffers, all else as in `call`.
inline tutti_status start_list(const tutti_call& call, const std::vector<tutti_listed_buffer>& buffers, tutti_comm comm,
                               tutti_request* request) {
  const auto* data = buffers.data();
  const auto size = static_cast<int64_t>(buffers.size());
  switch (call.collective) {
    case TUTTI_ALLREDUCE:
      return tutti_allreduce_list_async(data, size, call.type, call.op, comm, nullptr, request);
    case TUTTI_BROADCAST:
      return tutti_broadcast_list_async(data, size, call.type, call.root, comm, nullptr, request);
    case TUTTI_ALLGATHER:
      return tutti_allgather_list_async(data, size, call.type, comm, nullptr, request);
    default:
      return tutti_reduce_scatter_list_async(data, size, call.type, call.op, comm, nullptr, request);
  }
}

/// Starts calls that join.
inline tutti_request start(std::span<Call> calls, tutti_comm comm) {
  const tutti_call& first = calls.front().bound();
  tutti_request request = nullptr;
  if (calls.size() == 1) {
    check(tutti_start(&first, comm, nullptr, &request));
    return request;
  }
  std::vector<tutti_listed_buffer> buffers{{first.in, first.out, first.count}};
  for (auto& call : calls.subspan(1)) {
    const tutti_call& next = call.bound();
    buffers.push_back({next.in, next.out, next.count});
  }
  check(start_list(first, buffers, comm, &request));
  return request;
}

}  // namespace tutti_torch
