#include "lib/core/reduce/kernels.hpp"

#include "lib/core/reduce/low_precision_kernels.hpp"

namespace tutti {
namespace {

const KernelTable& chosen() {
  static const KernelTable& table = *runnable_kernel_tables().back();
  return table;
}

/// The kernels of an operation that adds in a wider type; nullptr: it has none for these elements.
const AccumulatingKernels* accumulating(const Op& op, Type type) {
  if (op.kind() >= Op::Kind::user || !is_type(type)) return nullptr;
  return chosen().low_precision->find(op, type);
}

}  // namespace

const LowPrecisionKernels& low_precision_kernels() { return *chosen().low_precision; }

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

ReduceKernel reduce_kernel(Op::Kind kind, Type type) {
  if (kind >= Op::Kind::user || !is_type(type)) return nullptr;
  return chosen().reduce[static_cast<int>(kind)][static_cast<int>(type)];
}

ReduceManyKernel reduce_many_kernel(Op::Kind kind, Type type) {
  if (kind >= Op::Kind::user || !is_type(type)) return nullptr;
  return chosen().reduce_many[static_cast<int>(kind)][static_cast<int>(type)];
}

DivideKernel divide_kernel(Type type) { return chosen().divide[static_cast<int>(type)]; }

ScaleKernel scale_kernel(Type type) { return chosen().scale[static_cast<int>(type)]; }

}  // namespace tutti
