#include "lib/core/reduce/half_f16c.hpp"
#include "lib/core/reduce/kernel_table.hpp"
#include "lib/core/reduce/low_precision_kernels.hpp"

namespace tutti {

constinit const KernelTable kernels_avx2 = make_kernel_table<32, F16cHalf>("avx2", &low_precision_avx2);

}  // namespace tutti
