#pragma once
// The six reductions by both names.

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "tests/interpose/calls.hpp"
#include "tests/interpose/numbers.hpp"
#include "tests/interpose/world.hpp"

namespace tutti::test {

/// Elements of each reduction, a block of reduce_scatter_block among them.
inline constexpr int reduced_elements = 5;

struct ReductionCase {
  std::string name;
  NumberType number;
  MPI_Op op;
  MPI_Comm comm;
};

/// Elements in the buffers, and those of the output that are defined afterwards.
struct Counts {
  std::size_t all, results;
};

/// `call(calls, in, out)` by both names, from equal values: the same class of error, or the same result.
template <class Call>
void compare_reduction(const ReductionCase& reduction, const std::string& what, Counts counts, const Call& call) {
  Values in{reduction.number, counts.all, rank_in()}, expected_in = in;
  Values out{reduction.number, counts.all, 50 + rank_in()}, expected_out = out;
  const int code = call(served, in.data(), out.data());
  const int expected_code = call(plain, expected_in.data(), expected_out.data());
  const std::string name = what + " of " + reduction.name;
  EXPECT_EQ(class_of(code), class_of(expected_code)) << name;
  if (code != MPI_SUCCESS || expected_code != MPI_SUCCESS) return;
  EXPECT_TRUE(in.equal(expected_in, counts.all)) << name << ": the input was changed";
  EXPECT_TRUE(out.equal(expected_out, counts.results)) << name << ": another result";
}

/// Separate buffers, or in place.
template <bool in_place>
void compare_reductions(const ReductionCase& reduction) {
  const auto& [name, number, op, comm] = reduction;
  const auto from = [](void* in) { return in_place ? MPI_IN_PLACE : in; };
  const std::size_t count = reduced_elements, ranks = static_cast<std::size_t>(size_of(comm));
  const Counts same{count, count};
  const auto simple = [&](const std::string& what, auto member) {
    compare_reduction(reduction, what, same, [&](const Calls& calls, void* in, void* out) {
      return (calls.*member)(from(in), out, reduced_elements, number.type, op, comm);
    });
  };
  simple("allreduce", &Calls::Allreduce);
  simple("scan", &Calls::Scan);
  simple("exscan", &Calls::Exscan);
  for (const int root : {0, size_of(comm) - 1})
    compare_reduction(reduction, "reduce", same, [&](const Calls& calls, void* in, void* out) {
      const bool at_root = rank_in(comm) == root;
      return calls.Reduce(at_root ? from(in) : in, at_root ? out : nullptr, reduced_elements, number.type, op, root,
                          comm);
    });
  compare_reduction(reduction, "reduce_scatter_block", {count * ranks, count},
                    [&](const Calls& calls, void* in, void* out) {
                      return calls.Reduce_scatter_block(from(in), out, reduced_elements, number.type, op, comm);
                    });
  std::vector<N> counts(ranks);
  std::iota(counts.begin(), counts.end(), 0);
  const Counts listed{ranks * (ranks - 1) / 2, static_cast<std::size_t>(rank_in(comm))};
  compare_reduction(reduction, "reduce_scatter", listed, [&](const Calls& calls, void* in, void* out) {
    return calls.Reduce_scatter(from(in), out, counts.data(), number.type, op, comm);
  });
}

}  // namespace tutti::test
