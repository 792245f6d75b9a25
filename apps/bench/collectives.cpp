#include "apps/bench/collectives.hpp"

#include <array>

namespace tutti::bench {

std::span<const BenchCollective* const> collectives() {
  static constexpr std::array table = {
      &bench_barrier, &bench_broadcast, &bench_reduce,    &bench_allreduce, &bench_reduce_scatter, &bench_allgather,
      &bench_gather,  &bench_scatter,   &bench_alltoall,  &bench_scan,      &bench_exscan,         &bench_allgatherv,
      &bench_gatherv, &bench_scatterv,  &bench_alltoallv, &bench_sendrecv,
  };
  return table;
}

const BenchCollective* collective_named(std::string_view name) {
  for (const BenchCollective* collective : collectives()) {
    if (collective->name == name) return collective;
  }
  return nullptr;
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
