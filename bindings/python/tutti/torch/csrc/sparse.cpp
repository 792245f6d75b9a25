// Sums of sparse tensors, as of embeddings' gradients: the elements of all ranks are gathered and added by PyTorch.
#include <ATen/core/grad_mode.h>

#include "backend.hpp"
#include "checks.hpp"

namespace tutti_torch {
namespace {

/// What a rank tells of its tensor: the number of elements, and what must be the same on all ranks.
at::Tensor facts_of(const at::Tensor& tensor) {
  int64_t shape = tensor.dim();
  for (const int64_t size : tensor.sizes())
    shape = shape * 1000003 + size;
  const std::vector<int64_t> facts{tensor._nnz(), tensor.sparse_dim(), static_cast<int64_t>(tensor.scalar_type()),
                                   shape};
  return at::tensor(facts, at::TensorOptions(at::kLong)).to(tensor.device());
}

void require_alike(const Tensors& facts, int rank) {
  const auto own = facts[rank].slice(0, 1);
  for (size_t other = 0; other < facts.size(); ++other)
    TORCH_CHECK_VALUE(facts[other].slice(0, 1).equal(own), "tutti: all_reduce: the sparse tensor of rank ", other,
                      " differs in type, shape or number of sparse dimensions");
}

}  // namespace

Tensors Backend::gathered(const at::Tensor& own, Tensors parts, Milliseconds timeout) {
  TensorLists outputs{std::move(parts)};
  Tensors inputs{own};
  c10d::AllgatherOptions options;
  options.timeout = timeout;
  allgather(outputs, inputs, options)->wait();
  return outputs[0];
}

/// Returns when it is over.
WorkPointer Backend::sum_of_sparse(Tensors& tensors, const c10d::AllreduceOptions& options) {
  const at::NoGradGuard guard;
  for (auto& tensor : tensors) {
    TORCH_CHECK_TYPE(tensor.layout() == at::kSparse, "tutti: tensors of layout ", tensor.layout(),
                     " are not supported");
    TORCH_CHECK_VALUE(options.reduceOp == c10d::ReduceOp::SUM, "tutti: all_reduce: sparse tensors can be summed only");
    const auto own = tensor.coalesce();
    const auto facts = facts_of(own);
    Tensors all_facts, indices, values;
    for (int rank = 0; rank < getSize(); ++rank)
      all_facts.push_back(at::empty_like(facts));
    all_facts = gathered(facts, std::move(all_facts), options.timeout);
    require_alike(all_facts, getRank());
    for (const auto& fact : all_facts) {
      const auto count = fact[0].item<int64_t>();
      auto shape = own.values().sizes().vec();
      shape[0] = count;
      indices.push_back(at::empty({own.sparse_dim(), count}, own.indices().options()));
      values.push_back(at::empty(shape, own.values().options()));
    }
    indices = gathered(own.indices(), std::move(indices), options.timeout);
    values = gathered(own.values(), std::move(values), options.timeout);
    tensor.copy_(at::sparse_coo_tensor(at::cat(indices, 1), at::cat(values, 0), own.sizes()).coalesce());
  }
  auto future = c10::make_intrusive<c10::ivalue::Future>(
      c10::ListType::create(c10::TensorType::get()),
      tensors[0].is_cpu() ? std::vector<c10::Device>{} : std::vector{tensors[0].device()});
  future->markCompleted(c10::IValue(tensors));
  return c10d::Work::create_from_future(future);
}

}  // namespace tutti_torch
