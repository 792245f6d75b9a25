// Whether tutti-bench --check finds wrong results, in every collective.
#include <gtest/gtest.h>
#include <mpi.h>

#include "apps/bench/buffers.hpp"

namespace tutti::bench {
namespace {

std::int64_t sum_over_ranks(std::int64_t value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
  return value;
}

/// Calls body(collective, buffers, call) for every collective and placement.
template <class Body>
void for_each_call(Body body) {
  const Communicator comm{MPI_COMM_WORLD};
  Settings settings;
  settings.type = "int16";
  settings.min = settings.max = Bytes{2000};
  settings.root = comm.size() - 1;
  for (const BenchCollective& collective : collectives()) {
    settings.collectives = {std::string{collective.name}};
    const Experiment what = resolved(settings, comm.size()).front();
    const Buffers buffers{what, comm};
    for (const Placement placement : what.placements) {
      SCOPED_TRACE(std::string{collective.name} + (placement == Placement::in_place ? " in place" : ""));
      body(collective, buffers, buffers.call(what.counts.front(), placement));
    }
  }
}

/// Elements found wrong on all ranks if `spoil` is done after the call.
template <class Spoil>
std::int64_t wrong_after(const BenchCollective& collective, const Buffers& buffers, const Call& call, Spoil spoil) {
  const auto ours = collective.ours(call, Mode::blocking);
  const auto both = repeater([&] {
    ours->run(1);
    spoil();
  });
  return sum_over_ranks(wrong_elements(collective, buffers, call, *both));
}

TEST(Check, FindsNothingWhereAllIsRight) {
  for_each_call([](const BenchCollective& collective, const Buffers& buffers, const Call& call) {
    EXPECT_EQ(wrong_after(collective, buffers, call, [] {}), 0);
  });
}

TEST(Check, FindsOneElementInAnyPlaceOfAnyBuffer) {
  for_each_call([](const BenchCollective& collective, const Buffers& buffers, const Call& call) {
    for (const std::span<std::byte> buffer : buffers.used_by(call)) {
      for (const std::size_t at : {std::size_t{0}, buffer.size() / 4 * 2, buffer.size() - 2}) {
        EXPECT_EQ(wrong_after(collective, buffers, call, [&] { buffer[at] ^= std::byte{1}; }), call.ranks());
      }
    }
  });
}

TEST(Check, FindsWhatWasNotDone) {
  for_each_call([](const BenchCollective& collective, const Buffers& buffers, const Call& call) {
    const auto nothing = repeater([] {});
    const std::int64_t wrong = sum_over_ranks(wrong_elements(collective, buffers, call, *nothing));
    EXPECT_TRUE(wrong > 0 || call.ranks() == 1);
  });
}

}  // namespace
}  // namespace tutti::bench
