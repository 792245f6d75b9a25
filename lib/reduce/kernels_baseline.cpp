#include "lib/reduce/kernel_loops.hpp"

namespace tutti {

constinit const KernelTable kernels_baseline = make_kernel_table<PortableHalf>("baseline");

}  // namespace tutti
