#include "apps/bench/collectives.hpp"

#include <array>

namespace tutti::bench {

std::span<const BenchCollective* const> collectives() {
  static constexpr std::array table = {&bench_allreduce};
  return table;
}

std::optional<Op> op_named(std::string_view name) {
  const Op all[] = {Op::sum,  Op::prod, Op::min,  Op::max,  Op::avg, Op::scaled_sum(0.5),
                    Op::land, Op::lor,  Op::lxor, Op::band, Op::bor, Op::bxor};
  for (const Op& op : all) {
    if (to_string(op.kind()) == name) return op;
  }
  return std::nullopt;
}

}  // namespace tutti::bench
