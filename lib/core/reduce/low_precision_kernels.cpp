#include "lib/core/reduce/low_precision_kernels.hpp"

namespace tutti {

const LowPrecisionKernels& low_precision_kernels() {
  static const LowPrecisionKernels& kernels = *runnable_kernel_tables().back()->low_precision;
  return kernels;
}

namespace {

/// The kernels of an operation that adds in a wider type; nullptr: it has none for these elements.
const AccumulatingKernels* accumulating(const Op& op, Type type) {
  if (op.kind() >= Op::Kind::user || !is_type(type)) return nullptr;
  return low_precision_kernels().find(op, type);
}

}  // namespace

ReduceKernel reduce_kernel(const Op& op, Type type) {
  if (!op.accumulate()) return reduce_kernel(op.kind(), type);
  const AccumulatingKernels* const its = accumulating(op, type);
  return its == nullptr ? nullptr : its->two;
}

ReduceManyKernel reduce_many_kernel(const Op& op, Type type) {
  if (!op.accumulate()) return reduce_many_kernel(op.kind(), type);
  const AccumulatingKernels* const its = accumulating(op, type);
  return its == nullptr ? nullptr : its->many;
}

}  // namespace tutti
