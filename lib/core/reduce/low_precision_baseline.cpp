#include "lib/core/reduce/low_precision_table.hpp"

namespace tutti {

constinit const LowPrecisionKernels low_precision_baseline = LowPrecision<16>::make<PortableHalf>();

}  // namespace tutti
