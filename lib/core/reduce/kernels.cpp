#include "lib/core/reduce/kernels.hpp"

namespace tutti {
namespace {

const KernelTable& chosen() {
  static const KernelTable& table = *runnable_kernel_tables().back();
  return table;
}

}  // namespace

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
