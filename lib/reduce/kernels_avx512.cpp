#include "lib/reduce/half_f16c.hpp"

namespace tutti {

constinit const KernelTable kernels_avx512 = make_kernel_table<F16cHalf>("avx512");

}  // namespace tutti
