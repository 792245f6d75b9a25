#include "lib/core/reduce/kernel_table.hpp"
#include "lib/core/reduce/low_precision_kernels.hpp"

namespace tutti {

constinit const KernelTable kernels_baseline = make_kernel_table<16, PortableHalf>("baseline", &low_precision_baseline);

}  // namespace tutti
