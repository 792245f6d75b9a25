#include "lib/core/reduce/kernel_table.hpp"

namespace tutti {

constinit const KernelTable kernels_baseline = make_kernel_table<16, PortableHalf>("baseline");

}  // namespace tutti
