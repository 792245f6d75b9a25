// Communicators of all kinds.
#include <array>
#include <memory>
#include <string>

#include "tests/interpose/verdicts/collectives.hpp"

namespace tutti::test {
namespace {

struct Maker {
  const char* name;
  MPI_Comm (*make)(Check& check);
  int least_ranks = 1;
};

MPI_Comm split(Check& check, int color, int key) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_split(check.comm, color, key, &made);
  return made;
}

MPI_Group group_of(MPI_Comm comm, bool drops_last) {
  MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
  int ranks = 1;
  MPI_Comm_group(comm, &all);
  MPI_Comm_size(comm, &ranks);
  const std::array last{ranks - 1};
  MPI_Group_excl(all, drops_last && ranks > 1 ? 1 : 0, last.data(), &some);
  MPI_Group_free(&all);
  return some;
}

MPI_Comm created(Check& check, bool by_group) {
  MPI_Group group = group_of(check.comm, true);
  MPI_Comm made = MPI_COMM_NULL;
  const bool is_in = check.rank < check.ranks - 1 || check.ranks == 1;
  if (!by_group)
    MPI_Comm_create(check.comm, group, &made);
  else if (is_in)
    MPI_Comm_create_group(check.comm, group, 9, &made);
  MPI_Group_free(&group);
  return made;
}

MPI_Comm cartesian(Check& check) {
  MPI_Comm made = MPI_COMM_NULL;
  const std::array sides{check.ranks}, periods{1};
  MPI_Cart_create(check.comm, 1, sides.data(), periods.data(), 1, &made);
  return made;
}

MPI_Comm graph(Check& check) {
  std::vector<int> index, edges;
  for (int rank = 0; rank < check.ranks; ++rank) {
    index.push_back(rank + 1);
    edges.push_back((rank + 1) % check.ranks);
  }
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Graph_create(check.comm, check.ranks, index.data(), edges.data(), 0, &made);
  return made;
}

MPI_Comm by_idup(Check& check) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_idup(check.comm, &made, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  return made;
}

MPI_Comm with_info(Check& check) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  MPI_Comm_dup_with_info(check.comm, info, &made);
  MPI_Info_free(&info);
  return made;
}

MPI_Comm of_node(Check& check) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_split_type(check.comm, MPI_COMM_TYPE_SHARED, -check.rank, MPI_INFO_NULL, &made);
  return made;
}

/// Between even and odd ranks.
MPI_Comm between(Check& check) {
  MPI_Comm half = split(check, check.rank % 2, check.rank), made = MPI_COMM_NULL;
  MPI_Intercomm_create(half, 0, check.comm, 1 - check.rank % 2, 11, &made);
  MPI_Comm_free(&half);
  return made;
}

MPI_Comm merged(Check& check) {
  MPI_Comm inter = between(check), made = MPI_COMM_NULL;
  MPI_Intercomm_merge(inter, check.rank % 2 == 0 ? 1 : 0, &made);
  MPI_Comm_free(&inter);
  return made;
}

const std::array makers{
    Maker{"backwards", [](Check& check) { return split(check, 0, -check.rank); }},
    Maker{"halves", [](Check& check) { return split(check, check.rank % 2, 0); }},
    Maker{"single", [](Check& check) { return split(check, check.rank, 0); }},
    Maker{"undefined", [](Check& check) { return split(check, check.rank == 0 ? MPI_UNDEFINED : 0, 0); }},
    Maker{"create", [](Check& check) { return created(check, false); }},
    Maker{"create_group", [](Check& check) { return created(check, true); }},
    Maker{"cart", cartesian},
    Maker{"graph", graph},
    Maker{"idup", by_idup},
    Maker{"dup_with_info", with_info},
    Maker{"node", of_node},
    Maker{"merged", merged, 2},
};

void every_collective(Check& check, MPI_Comm comm) {
  for_all_collectives([&](Collective which) {
    const auto a = std::make_unique<Arguments>(comm), b = std::make_unique<Arguments>(comm);
    check.result(name_of(which), blocking(which, *a), a->received);
    check.result(std::string{"I"} + name_of(which), waited(which, *b), b->received);
  });
}

void use(Check& check, const Maker& maker) {
  MPI_Comm comm = maker.make(check);
  check.number("null", comm == MPI_COMM_NULL ? 1 : 0);
  if (comm == MPI_COMM_NULL) return;
  every_collective(check, comm);
  check.works("later", comm);
  check.code("free", MPI_Comm_free(&comm));
}

/// All collectives that may be called there; the first rank of the even group is the root.
void use_intercommunicator(Check& check, Collective which) {
  MPI_Comm inter = between(check);
  int others = 0;
  MPI_Comm_remote_size(inter, &others);
  for (const bool is_waited : {false, true}) {
    const auto a = std::make_unique<Arguments>(inter, others);
    if (has_root(which)) a->root = check.rank == 0 ? MPI_ROOT : check.rank % 2 == 0 ? MPI_PROC_NULL : 0;
    if (which == Collective::Reduce_scatter) {  // both groups have as many elements in all
      int own = 0;
      MPI_Comm_size(inter, &own);
      a->out_counts.assign(static_cast<std::size_t>(own), 12 / own);
    }
    if (which == Collective::Reduce_scatter_block) {
      int own = 0;
      MPI_Comm_size(inter, &own);
      a->in_count = 12 / own;
    }
    check.result(is_waited ? "nonblocking" : "blocking", is_waited ? waited(which, *a) : blocking(which, *a),
                 a->received);
  }
  MPI_Comm_free(&inter);
}

void use_self(Check& check) {
  every_collective(check, MPI_COMM_SELF);
  MPI_Comm copy = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_SELF, &copy);
  every_collective(check, copy);
  MPI_Comm_free(&copy);
}

void compared(Check& check) {
  check.works("before", check.comm);
  MPI_Comm copy = MPI_COMM_NULL, back = split(check, 0, -check.rank);
  MPI_Comm_dup(check.comm, &copy);
  int same = -1, reversed = -1, itself = -1;
  MPI_Comm_compare(check.comm, copy, &same);
  MPI_Comm_compare(check.comm, back, &reversed);
  MPI_Comm_compare(check.comm, check.comm, &itself);
  check.number("copy", same == MPI_CONGRUENT ? 1 : 0);
  check.number("reversed", reversed == MPI_SIMILAR ? 1 : 0);
  check.number("itself", itself == MPI_IDENT ? 1 : 0);
  MPI_Comm_set_name(copy, "a copy");
  check.works("after", copy);
  std::array<char, MPI_MAX_OBJECT_NAME> text{};
  int length = 0;
  MPI_Comm_get_name(copy, text.data(), &length);
  check.say("name", text.data());
  MPI_Comm_free(&copy);
  MPI_Comm_free(&back);
}

int sum_of_ones(MPI_Comm comm) {
  const int one = 1;
  int sum = 0;
  MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}

/// Many at once, used in any order, and freed in another one on each rank but in one on all.
void many(Check& check) {
  std::vector<MPI_Comm> comms(40, MPI_COMM_NULL);
  for (MPI_Comm& comm : comms)
    MPI_Comm_dup(check.comm, &comm);
  int sum = 0;
  for (std::size_t i = 0; i < comms.size(); ++i)
    sum += sum_of_ones(comms[i * 7 % comms.size()]);
  for (std::size_t i = 0; i < comms.size(); ++i)
    MPI_Comm_free(&comms[i * 11 % comms.size()]);
  check.number("sum", sum);
}

}  // namespace

void add_communicators(Checks& checks) {
  for (const Maker& maker : makers)
    checks.add(
        maker.name, [&maker](Check& check) { use(check, maker); }, maker.least_ranks);
  for_all_collectives([&](Collective which) {
    if (which == Collective::Scan || which == Collective::Exscan) return;  // not there
    checks.add(
        std::string{"inter."} + name_of(which), [which](Check& check) { use_intercommunicator(check, which); }, 2);
  });
  checks.add("self", use_self);
  checks.add("compared", compared);
  checks.add("many", many);
}

}  // namespace tutti::test
