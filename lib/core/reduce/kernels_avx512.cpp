#include "lib/core/reduce/half_f16c.hpp"
#include "lib/core/reduce/kernel_table.hpp"
#include "lib/core/reduce/low_precision_kernels.hpp"

namespace tutti {

constinit const KernelTable kernels_avx512 =
    make_kernel_table<64, F16cHalf, Operations::arithmetic>("avx512", &low_precision_avx512);

}  // namespace tutti
