#include "lib/core/reduce/half_f16c.hpp"
#include "lib/core/reduce/low_precision_table.hpp"

namespace tutti {

constinit const LowPrecisionKernels low_precision_avx512 = LowPrecision<64>::make<F16cHalf>();

}  // namespace tutti
