#pragma once
// PyTorch's element types and operations in Tutti's terms.

#include <ATen/ATen.h>
#include <tutti.h>

#include <memory>
#include <string>
#include <torch/csrc/distributed/c10d/Types.hpp>

namespace tutti_torch {

/// Throws what a Tutti function returned: ValueError for arguments, else DistBackendError (a RuntimeError), with
/// Tutti's own text, which names the rank, the call and the peer.
inline void check(tutti_status status) {
  if (status == TUTTI_SUCCESS) return;
  const std::string text = tutti_last_error();
  TORCH_CHECK_VALUE(status != TUTTI_ERROR_ARGUMENT, text);
  C10_THROW_ERROR(DistBackendError, text);
}

/// The type of elements that are combined.
inline tutti_type reduced_type(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kFloat:
      return TUTTI_FP32;
    case at::kDouble:
      return TUTTI_FP64;
    case at::kHalf:
      return TUTTI_FP16;
    case at::kBFloat16:
      return TUTTI_BF16;
    case at::kFloat8_e4m3fn:
      return TUTTI_FP8_E4M3;
    case at::kFloat8_e5m2:
      return TUTTI_FP8_E5M2;
    case at::kChar:
      return TUTTI_INT8;
    case at::kShort:
      return TUTTI_INT16;
    case at::kInt:
      return TUTTI_INT32;
    case at::kLong:
      return TUTTI_INT64;
    case at::kByte:
      return TUTTI_UINT8;
    case at::kUInt16:
      return TUTTI_UINT16;
    case at::kUInt32:
      return TUTTI_UINT32;
    case at::kUInt64:
      return TUTTI_UINT64;
    case at::kComplexFloat:
      return TUTTI_COMPLEX_FP32;
    case at::kComplexDouble:
      return TUTTI_COMPLEX_FP64;
    case at::kBool:
      return TUTTI_BOOL;
    default:
      TORCH_CHECK_TYPE(false, "tutti: elements of type ", tensor.scalar_type(), " cannot be combined");
  }
}

/// The type of elements that are only moved: every type of PyTorch has one of its size.
inline tutti_type moved_type(const at::Tensor& tensor) {
  switch (tensor.element_size()) {
    case 1:
      return TUTTI_UINT8;
    case 2:
      return TUTTI_UINT16;
    case 4:
      return TUTTI_UINT32;
    case 8:
      return TUTTI_UINT64;
    case 16:
      return TUTTI_COMPLEX_FP64;
    default:
      TORCH_CHECK_TYPE(false, "tutti: elements of type ", tensor.scalar_type(), " cannot be sent");
  }
}

/// An operation, and what has to be freed when the call is over.
struct Reduction {
  tutti_op op = nullptr;
  std::shared_ptr<void> owner;
};

inline double factor_of(const c10d::ReduceOp& op) {
  // Its name differs between versions of PyTorch; NCCLPreMulSumSupplement is known in all.
  const auto* supplement = dynamic_cast<const c10d::NCCLPreMulSumSupplement*>(op.supplement_.get());
  TORCH_CHECK_VALUE(supplement != nullptr, "tutti: PREMUL_SUM needs a factor");
  return supplement->tensor_factor.defined() ? supplement->tensor_factor.item<double>() : supplement->double_factor;
}

inline Reduction scaled_sum(double factor) {
  tutti_op op = nullptr;
  check(tutti_op_create_scaled_sum(factor, &op));
  return {op, std::shared_ptr<void>(op, [](void* owned) {
            auto* last = static_cast<tutti_op>(owned);
            tutti_op_free(&last);
          })};
}

inline tutti_op op_number(c10d::ReduceOp::RedOpType op) {
  switch (op) {
    case c10d::ReduceOp::SUM:
      return TUTTI_SUM;
    case c10d::ReduceOp::AVG:
      return TUTTI_AVG;
    case c10d::ReduceOp::PRODUCT:
      return TUTTI_PROD;
    case c10d::ReduceOp::MIN:
      return TUTTI_MIN;
    case c10d::ReduceOp::MAX:
      return TUTTI_MAX;
    case c10d::ReduceOp::BAND:
      return TUTTI_BAND;
    case c10d::ReduceOp::BOR:
      return TUTTI_BOR;
    case c10d::ReduceOp::BXOR:
      return TUTTI_BXOR;
    default:
      TORCH_CHECK_VALUE(false, "tutti: unknown operation ", static_cast<int>(op));
  }
}

inline Reduction reduction_of(const c10d::ReduceOp& op, const at::Tensor& tensor) {
  Reduction reduction =
      op.op_ == c10d::ReduceOp::PREMUL_SUM ? scaled_sum(factor_of(op)) : Reduction{op_number(op.op_), nullptr};
  int supported = 0;
  check(tutti_op_supports(reduction.op, reduced_type(tensor), &supported));
  const char* name = "";
  if (supported == 0) check(tutti_op_name(reduction.op, &name));
  TORCH_CHECK_VALUE(supported != 0, "tutti: operation ", name, " is not defined for elements of type ",
                    tensor.scalar_type());
  return reduction;
}

}  // namespace tutti_torch
