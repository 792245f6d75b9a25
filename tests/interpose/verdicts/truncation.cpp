// Ranks that disagree about the counts: what class the error has on which rank, and whether the communicator is of use
// afterwards.
#include <memory>
#include <string>

#include "tests/interpose/verdicts/collectives.hpp"

namespace tutti::test {
namespace {

/// Ranks expect less than the others send, as MPI finds out without losing any message.
struct Disagreement {
  const char* name;
  void (*make)(Arguments& a, const Check& check);
};

/// The root has room for less than each rank sends.
void root_expects_less(Arguments& a, const Check& check) {
  if (check.rank != 0) return;
  a.out_count = 2;
  for (int& count : a.out_counts)
    count = 2;
}

void last_expects_less(Arguments& a, const Check& check) {
  if (check.rank == check.ranks - 1) a.out_count = 2;
}

void last_sends_more(Arguments& a, const Check& check) {
  if (check.rank != check.ranks - 1) return;
  a.in_count = 4;
  for (int& count : a.in_counts)
    count = 4;
}

/// Legal for none, but no message is too long.
void last_sends_less(Arguments& a, const Check& check) {
  if (check.rank != check.ranks - 1) return;
  a.in_count = 2;
  for (int& count : a.in_counts)
    count = 2;
}

void root_sends_more(Arguments& a, const Check& check) {
  if (check.rank != 0) return;
  a.in_count = a.out_count = 4;
  for (int& count : a.in_counts)
    count = 4;
}

void root_sends_less(Arguments& a, const Check& check) {
  if (check.rank != 0) return;
  a.in_count = a.out_count = 2;
  for (int& count : a.in_counts)
    count = 2;
}

/// The last rank gives its bytes by another count and type, which is right.
void last_counts_bytes(Arguments& a, const Check& check) {
  if (check.rank != check.ranks - 1) return;
  a.in_type = a.out_type = MPI_BYTE;
  a.in_count *= 4;
  a.out_count *= 4;
  for (std::size_t i = 0; i < a.in_counts.size(); ++i) {
    a.in_counts[i] *= 4;
    a.out_counts[i] *= 4;
    a.in_places[i] *= 4;
    a.out_places[i] *= 4;
    a.in_types[i] = a.out_types[i] = MPI_BYTE;
  }
}

void make(Check& check, Collective which, Disagreement disagreement, bool is_waited) {
  const auto a = std::make_unique<Arguments>(check.comm);
  disagreement.make(*a, check);
  check.code("code", is_waited ? waited(which, *a) : blocking(which, *a));
  check.works("later", check.comm);
  check.keeps_comm = true;
}

void add(Checks& checks, Collective which, Disagreement disagreement) {
  const std::string name = std::string{name_of(which)} + "." + disagreement.name;
  checks.add(
      name, [=](Check& check) { make(check, which, disagreement, false); }, 2);
  checks.add(
      name + ".nonblocking", [=](Check& check) { make(check, which, disagreement, true); }, 2);
}

/// On this rank alone: the two ends of its message to itself.
void own_part(Check& check, Collective which) {
  const auto a = std::make_unique<Arguments>(MPI_COMM_SELF);
  MPI_Comm self = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &self);
  MPI_Comm_set_errhandler(self, MPI_ERRORS_RETURN);
  a->comm = self;
  a->out_count = 2;
  for (int& count : a->out_counts)
    count = 2;
  check.code("code", blocking(which, *a));
  check.works("later", self);
}

}  // namespace

void add_truncation(Checks& checks) {
  using enum Collective;
  for (const Collective which : {Gather, Gatherv}) {
    add(checks, which, {"root_expects_less", root_expects_less});
    add(checks, which, {"last_sends_more", last_sends_more});
    add(checks, which, {"last_sends_less", last_sends_less});
  }
  for (const Collective which : {Bcast, Scatter, Scatterv}) {
    add(checks, which, {"last_expects_less", last_expects_less});
    add(checks, which, {"root_sends_more", root_sends_more});
    add(checks, which, {"root_sends_less", root_sends_less});
  }
  for (const Collective which : {Allgather, Allgatherv, Alltoall, Alltoallv, Alltoallw}) {
    add(checks, which, {"last_sends_more", last_sends_more});
    add(checks, which, {"last_sends_less", last_sends_less});
  }
  for (const Collective which : {Reduce, Allreduce, Scan, Exscan, Reduce_scatter_block}) {
    add(checks, which, {"last_gives_more", last_sends_more});
    add(checks, which, {"last_gives_less", last_sends_less});
  }
  for_all_collectives([&](Collective which) {
    if (which == Barrier) return;
    if (!is_reduction(which)) add(checks, which, {"last_counts_bytes", last_counts_bytes});
    if (is_reduction(which) || which == Bcast) return;
    checks.add(std::string{name_of(which)} + ".own_part", [=](Check& check) { own_part(check, which); });
  });
}

}  // namespace tutti::test
