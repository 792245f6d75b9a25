// Blocks that share memory: where the standard allows it, where no harm can come of it, and where MPIs differ in what
// they say.
#include <algorithm>
#include <array>
#include <memory>
#include <string>

#include "tests/interpose/verdicts/collectives.hpp"

namespace tutti::test {
namespace {

using Change = void (*)(Arguments& a, const Check& check);

void same_place_for_all(std::vector<int>& places) { std::ranges::fill(places, 0); }

/// Every block of every rank has the same data.
void same_data(Arguments& a) {
  for (int i = 0; i < 64; ++i)
    a.sent.at<int>()[i] = 1000 + i % Arguments::block;
}

void make(Check& check, Collective which, Change change) {
  for (const bool is_waited : {false, true}) {
    const auto a = std::make_unique<Arguments>(check.comm);
    change(*a, check);
    check.result(is_waited ? "nonblocking" : "blocking", is_waited ? waited(which, *a) : blocking(which, *a),
                 a->received);
  }
  check.works("later", check.comm);
  check.keeps_comm = true;
}

void received_at_one_place(Arguments& a, const Check& /*check*/) {
  same_data(a);
  same_place_for_all(a.out_places);
  same_place_for_all(a.out_bytes);
}

/// Equal integers, of which two neighbouring blocks share some.
void received_with_shared_parts(Arguments& a, const Check& check) {
  std::fill_n(a.sent.at<int>(), 64, 77);
  for (int i = 0; i < check.ranks; ++i) {
    a.out_places[static_cast<std::size_t>(i)] = i;
    a.out_bytes[static_cast<std::size_t>(i)] = 4 * i;
  }
}

void sent_from_one_place(Arguments& a, const Check& /*check*/) {
  same_place_for_all(a.in_places);
  same_place_for_all(a.in_bytes);
}

/// All but the first block are empty, and are said to be in the middle of it.
void empty_blocks_inside(Arguments& a, const Check& check) {
  for (auto* const counts : {&a.in_counts, &a.out_counts})
    std::fill(counts->begin(), counts->end(), 0);
  a.in_counts[0] = check.rank == 0 ? Arguments::block : 0;
  a.out_counts[0] = a.in_counts[0];
  a.in_count = a.in_counts[0];
  a.out_count = a.in_counts[0];
  for (std::size_t i = 0; i < a.in_places.size(); ++i) {
    a.in_places[i] = a.out_places[i] = i == 0 ? 0 : 1;
    a.in_bytes[i] = a.out_bytes[i] = 4 * a.in_places[i];
  }
}

/// Blocks of an allgatherv that are empty on all ranks, as its counts are the same everywhere.
void empty_blocks_of_all(Arguments& a, const Check& check) {
  empty_blocks_inside(a, check);
  a.out_counts[0] = Arguments::block;
}

void empty_blocks_far_away(Arguments& a, const Check& /*check*/) {
  std::ranges::fill(a.in_counts, 0);
  std::ranges::fill(a.out_counts, 0);
  std::ranges::fill(a.in_places, -1'000'000'000);
  std::ranges::fill(a.out_places, 1'000'000'000);
  std::ranges::fill(a.in_bytes, -2'000'000'000);
  std::ranges::fill(a.out_bytes, 2'000'000'000);
  a.in_count = a.out_count = 0;
}

/// Elements of no bytes, some of them, in one place.
void elements_of_no_bytes(Check& check, Collective which) {
  MPI_Datatype nothing = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(0, MPI_INT, &nothing);
  MPI_Type_commit(&nothing);
  const auto a = std::make_unique<Arguments>(check.comm);
  a->in_type = a->out_type = nothing;
  std::ranges::fill(a->in_types, nothing);
  std::ranges::fill(a->out_types, nothing);
  same_place_for_all(a->out_places);
  same_place_for_all(a->out_bytes);
  check.result("blocking", blocking(which, *a), a->received);
  check.result("nonblocking", waited(which, *a), a->received);
  MPI_Type_free(&nothing);
}

/// Blocks whose elements lie in each other's gaps, which share nothing.
void interleaved(Check& check, Collective which) {
  MPI_Datatype every = MPI_DATATYPE_NULL;
  MPI_Type_vector(Arguments::block, 1, check.ranks, MPI_INT, &every);
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(every, 0, sizeof(int), &type);
  MPI_Type_commit(&type);
  const auto a = std::make_unique<Arguments>(check.comm);
  a->out_type = type;
  a->out_count = 1;
  std::ranges::fill(a->out_counts, 1);
  std::ranges::fill(a->out_types, type);
  for (int i = 0; i < check.ranks; ++i) {
    a->out_places[static_cast<std::size_t>(i)] = i;
    a->out_bytes[static_cast<std::size_t>(i)] = 4 * i;
  }
  if (which == Collective::Scatter || which == Collective::Scatterv) a->out_count = 1;
  check.result("blocking", blocking(which, *a), a->received);
  check.result("nonblocking", waited(which, *a), a->received);
  MPI_Type_free(&type);
  MPI_Type_free(&every);
}

/// Types of which several elements lie on one place, with the same data.
void elements_on_one_place(Check& check, Collective which) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_create_resized(MPI_INT, 0, 0, &type);
  MPI_Type_commit(&type);
  const auto a = std::make_unique<Arguments>(check.comm);
  std::fill_n(a->sent.at<int>(), 64, 55);
  a->out_type = type;
  std::ranges::fill(a->out_types, type);
  same_place_for_all(a->out_bytes);
  check.result("blocking", blocking(which, *a), a->received);
  check.result("nonblocking", waited(which, *a), a->received);
  MPI_Type_free(&type);
}

/// One buffer is sent and received.
void alias(Arguments& a, const Check& /*check*/) { a.in = a.out; }

/// The block that the rank itself sends is where it receives it.
void alias_own_block(Arguments& a, const Check& check) {
  a.in = a.received.at<int>(static_cast<std::ptrdiff_t>(sizeof(int)) * Arguments::block * check.rank);
}

void alias_one_element(Arguments& a, const Check& check) {
  alias(a, check);
  a.in_count = a.out_count = 1;
  std::ranges::fill(a.in_counts, 1);
  std::ranges::fill(a.out_counts, 1);
}

void alias_nothing(Arguments& a, const Check& check) {
  empty_blocks_far_away(a, check);
  a.in = a.out;
}

/// On one rank alone.
void alias_on_last(Arguments& a, const Check& check) {
  if (check.rank == check.ranks - 1) alias(a, check);
}

/// What each rank is left with is undefined where MPI takes it, so the codes are all that counts.
void alias_codes(Check& check, Collective which, Change change) {
  for (const bool is_waited : {false, true}) {
    const auto a = std::make_unique<Arguments>(check.comm);
    change(*a, check);
    check.code(is_waited ? "nonblocking" : "blocking", is_waited ? waited(which, *a) : blocking(which, *a));
  }
  check.works("later", check.comm);
  check.keeps_comm = true;
}

void add(Checks& checks, const std::string& what, Collective which, Change change) {
  checks.add(std::string{name_of(which)} + "." + what, [=](Check& check) { make(check, which, change); });
}

}  // namespace

void add_overlaps(Checks& checks) {
  using enum Collective;
  for (const Collective which : {Allgatherv, Gatherv, Alltoallv, Alltoallw}) {
    add(checks, "received_at_one_place", which, received_at_one_place);
    add(checks, "received_with_shared_parts", which, received_with_shared_parts);
    add(checks, "empty_blocks_inside", which,
        which == Allgatherv || which == Gatherv ? empty_blocks_of_all : empty_blocks_inside);
  }
  for (const Collective which : {Scatterv, Alltoallv, Alltoallw})
    add(checks, "sent_from_one_place", which, sent_from_one_place);
  for (const Collective which : {Allgatherv, Gatherv, Scatterv, Alltoallv, Alltoallw})
    add(checks, "empty_blocks_far_away", which, empty_blocks_far_away);
  for_all_collectives([&](Collective which) {
    if (which == Barrier || is_reduction(which)) return;
    const std::string name = name_of(which);
    checks.add(name + ".elements_of_no_bytes", [=](Check& check) { elements_of_no_bytes(check, which); });
    if (which == Bcast) return;
    checks.add(name + ".interleaved", [=](Check& check) { interleaved(check, which); });
    checks.add(name + ".elements_on_one_place", [=](Check& check) { elements_on_one_place(check, which); });
  });
  for_all_collectives([&](Collective which) {
    if (which == Barrier || which == Bcast) return;
    const std::string name = name_of(which);
    checks.add(name + ".alias", [=](Check& check) { alias_codes(check, which, alias); });
    checks.add(name + ".alias_one_element", [=](Check& check) { alias_codes(check, which, alias_one_element); });
    checks.add(name + ".alias_nothing", [=](Check& check) { alias_codes(check, which, alias_nothing); });
    checks.add(name + ".alias_on_last", [=](Check& check) { alias_codes(check, which, alias_on_last); });
  });
  for (const Collective which : {Allgather, Gather, Scan, Allreduce, Reduce})
    checks.add(std::string{name_of(which)} + ".alias_own_block",
               [=](Check& check) { alias_codes(check, which, alias_own_block); });
}

}  // namespace tutti::test
