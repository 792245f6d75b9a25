#include "lib/core/call/accumulate.hpp"

#include <fmt/format.h>

#include "tutti/algorithm.hpp"

namespace tutti::detail {
namespace {

void require_sum(const CallSite& site, const Call& call, Type wide) {
  const Op::Kind kind = call.op.kind();
  if (kind != Op::Kind::sum && kind != Op::Kind::avg)
    refuse(site, "accumulate", fmt::format("{} with {}", to_string(wide), to_string(kind)), "accumulate with sum, avg");
}

void require_wider(const CallSite& site, Type type, Type wide) {
  if (is_type(type) && accumulates(type, wide)) return;
  refuse(site, "accumulate",
         fmt::format("{} for elements of {}", to_string(wide), is_type(type) ? to_string(type) : "a wide type"),
         "fp32, fp64 for elements of fp8_e4m3, fp8_e5m2, fp16, bf16; fp64 for elements of fp32");
}

}  // namespace

Op op_of(const CallSite& site, const Call& call, const Options& options) {
  if (options.rounding > Rounding::stochastic)
    refuse(site, "rounding", fmt::format("{}, which is no Rounding", static_cast<int>(options.rounding)),
           "Rounding::nearest, Rounding::stochastic");
  if (!options.accumulate) {
    if (options.rounding != Rounding::nearest)
      refuse(site, "rounding", "Rounding::stochastic without 'accumulate'", "Rounding::stochastic with 'accumulate'");
    return call.op;
  }
  require_type(site, "accumulate", *options.accumulate);
  if (!reduces(call.collective))
    refuse(site, "accumulate", fmt::format("given to {}", call.function), "accumulate in reductions");
  require_sum(site, call, *options.accumulate);
  require_wider(site, call.type, *options.accumulate);
  return accumulating(call.op, *options.accumulate, options.rounding);
}

}  // namespace tutti::detail
