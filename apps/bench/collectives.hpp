#pragma once
// The entries of the table of collectives, one file each.

#include "apps/bench/collective.hpp"

namespace tutti::bench {

extern const BenchCollective bench_allreduce;

}  // namespace tutti::bench
