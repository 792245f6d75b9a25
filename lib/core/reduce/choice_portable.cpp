// Processors for which there is one table only.

#include "lib/core/reduce/kernels.hpp"

namespace tutti {

std::span<const KernelTable* const> runnable_kernel_tables() {
  static constexpr const KernelTable* tables[] = {&kernels_baseline};
  return tables;
}

}  // namespace tutti
