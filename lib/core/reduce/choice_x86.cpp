// The kernel tables that this x86 processor can run.

#include <cpuid.h>

#include <array>

#include "lib/core/reduce/kernels.hpp"

namespace tutti {
namespace {

// Not every compiler's __builtin_cpu_supports knows F16C.
bool has_f16c() {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
  return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 && (ecx & bit_F16C) != 0;
}

bool has_avx2() { return __builtin_cpu_supports("avx2") && has_f16c(); }

bool has_avx512() {
  return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

/// The table, with the kernels of another where it has none.
KernelTable completed(KernelTable table, const KernelTable& other) {
  for (int kind = 0; kind < built_in_kinds; ++kind)
    for (int type = 0; type < type_count; ++type) {
      if (table.reduce[kind][type] == nullptr) table.reduce[kind][type] = other.reduce[kind][type];
      if (table.reduce_many[kind][type] == nullptr) table.reduce_many[kind][type] = other.reduce_many[kind][type];
    }
  return table;
}

}  // namespace

std::span<const KernelTable* const> runnable_kernel_tables() {
  static const KernelTable avx512 = completed(kernels_avx512, kernels_avx2);
  static const std::array tables{&kernels_baseline, &kernels_avx2, &avx512};
  static const std::size_t runnable = has_avx512() ? 3 : has_avx2() ? 2 : 1;
  return std::span{tables}.first(runnable);
}

}  // namespace tutti
