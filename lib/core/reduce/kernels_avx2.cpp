#include "lib/core/reduce/half_f16c.hpp"
#include "lib/core/reduce/kernel_table.hpp"

namespace tutti {

constinit const KernelTable kernels_avx2 = make_kernel_table<32, F16cHalf>("avx2");

}  // namespace tutti
