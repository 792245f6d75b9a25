// Neighbourhood collectives, which are MPI's own, between others that may be served.
#include <array>
#include <memory>
#include <string>

#include "tests/interpose/verdicts/collectives.hpp"

namespace tutti::test {
namespace {

MPI_Comm ring(Check& check, bool is_periodic) {
  MPI_Comm made = MPI_COMM_NULL;
  const std::array sides{check.ranks};
  const std::array periods{is_periodic ? 1 : 0};
  MPI_Cart_create(check.comm, 1, sides.data(), periods.data(), 0, &made);
  return made;
}

/// From the left, to the right, with weights.
MPI_Comm directed(Check& check) {
  MPI_Comm made = MPI_COMM_NULL;
  const std::array from{(check.rank + check.ranks - 1) % check.ranks}, to{(check.rank + 1) % check.ranks}, weight{1};
  MPI_Dist_graph_create_adjacent(check.comm, 1, from.data(), weight.data(), 1, to.data(), weight.data(), MPI_INFO_NULL,
                                 0, &made);
  return made;
}

/// Nobody has a neighbour.
MPI_Comm lonely(Check& check) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Dist_graph_create_adjacent(check.comm, 0, nullptr, MPI_WEIGHTS_EMPTY, 0, nullptr, MPI_WEIGHTS_EMPTY,
                                 MPI_INFO_NULL, 0, &made);
  return made;
}

void exchange(Check& check, MPI_Comm comm) {
  constexpr int count = 3;
  const std::array<int, 2> counts{count, count}, places{0, 4};
  const std::array<MPI_Aint, 2> bytes{0, 16};
  const std::array<MPI_Datatype, 2> types{MPI_INT, MPI_INT};
  Room in{1};
  std::array<Room, 10> out{Room{2}, Room{2}, Room{2}, Room{2}, Room{2}, Room{2}, Room{2}, Room{2}, Room{2}, Room{2}};
  check.works("before", comm);
  std::array<MPI_Request, 5> requests{};
  int code = MPI_Neighbor_allgather(in.at(), count, MPI_INT, out[0].at(), count, MPI_INT, comm);
  check.result("allgather", code, out[0]);
  code = MPI_Neighbor_allgatherv(in.at(), count, MPI_INT, out[1].at(), counts.data(), places.data(), MPI_INT, comm);
  check.result("allgatherv", code, out[1]);
  code = MPI_Neighbor_alltoall(in.at(), count, MPI_INT, out[2].at(), count, MPI_INT, comm);
  check.result("alltoall", code, out[2]);
  code = MPI_Neighbor_alltoallv(in.at(), counts.data(), places.data(), MPI_INT, out[3].at(), counts.data(),
                                places.data(), MPI_INT, comm);
  check.result("alltoallv", code, out[3]);
  code = MPI_Neighbor_alltoallw(in.at(), counts.data(), bytes.data(), types.data(), out[4].at(), counts.data(),
                                bytes.data(), types.data(), comm);
  check.result("alltoallw", code, out[4]);
  MPI_Ineighbor_allgather(in.at(), count, MPI_INT, out[5].at(), count, MPI_INT, comm, &requests[0]);
  MPI_Ineighbor_allgatherv(in.at(), count, MPI_INT, out[6].at(), counts.data(), places.data(), MPI_INT, comm,
                           &requests[1]);
  MPI_Ineighbor_alltoall(in.at(), count, MPI_INT, out[7].at(), count, MPI_INT, comm, &requests[2]);
  MPI_Ineighbor_alltoallv(in.at(), counts.data(), places.data(), MPI_INT, out[8].at(), counts.data(), places.data(),
                          MPI_INT, comm, &requests[3]);
  const int one = 1;
  int sum = 0;
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &requests[4]);
  check.works("between", comm);
  check.code("waitall", MPI_Waitall(5, requests.data(), MPI_STATUSES_IGNORE));
  for (std::size_t i = 5; i < 9; ++i)
    check.say("nonblocking", out[i].hash());
  check.number("sum", sum);
}

void use(Check& check, MPI_Comm comm) {
  exchange(check, comm);
  check.code("free", MPI_Comm_free(&comm));
}

/// On a communicator without neighbours.
void without_topology(Check& check) {
  Room in{1}, out{2};
  check.code("allgather", MPI_Neighbor_allgather(in.at(), 1, MPI_INT, out.at(), 1, MPI_INT, check.comm));
  check.works("later", check.comm);
}

void rows_of_a_grid(Check& check) {
  MPI_Comm grid = MPI_COMM_NULL, row = MPI_COMM_NULL;
  std::array sides{0, 0};
  const std::array periods{0, 1}, keeps{0, 1};
  MPI_Dims_create(check.ranks, 2, sides.data());
  MPI_Cart_create(check.comm, 2, sides.data(), periods.data(), 1, &grid);
  MPI_Cart_sub(grid, keeps.data(), &row);
  check.works("grid", grid);
  check.works("row", row);
  int from = -1, to = -1;
  MPI_Cart_shift(grid, 1, 1, &from, &to);
  check.number("from", from);
  check.number("to", to);
  MPI_Comm_free(&row);
  MPI_Comm_free(&grid);
}

}  // namespace

void add_neighbours(Checks& checks) {
  checks.add("ring", [](Check& check) { use(check, ring(check, true)); });
  checks.add("line", [](Check& check) { use(check, ring(check, false)); });
  checks.add("directed", [](Check& check) { use(check, directed(check)); });
  checks.add("lonely", [](Check& check) { use(check, lonely(check)); });
  checks.add("without_topology", without_topology);
  checks.add("rows_of_a_grid", rows_of_a_grid);
}

}  // namespace tutti::test
