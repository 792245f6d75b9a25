/// Allreduce on a 2D torus, in a library of its own: ranks form rows and columns, and each message goes to a neighbour.
/// Shapes   in[n] -> out[n], elements; scratch ceil(n/columns)
/// Cost     2(columns-1) + 2(rows-1) messages and rounds; about 2n(p-1)/p elements sent
/// Needs    commutative operation; any p >= 1, any n >= 0. Rows and columns are divisors of p
#include <tutti/plugin.hpp>
#include <tutti/schedule_builder.hpp>

namespace {

using namespace tutti;

/// The number of columns: the largest divisor of p that is no larger than the parameter, or than the root of p.
int columns_of(const Problem& problem) {
  const int most = problem.parameter;
  int columns = 1;
  for (int divisor = 1; divisor <= problem.size; ++divisor)
    if (problem.size % divisor == 0 && (most > 0 ? divisor <= most : divisor * divisor <= problem.size))
      columns = divisor;
  return columns;
}

/// Afterwards a rank has the sum of the block of its place in the ring.
void reduce_scatter(ScheduleBuilder& plan, const Ring& ring, const Blocks& from, const Blocks& into) {
  const Region incoming = plan.scratch(ring.size() > 1 ? from.largest() : Count{0});
  for (int round = 1; round < ring.size(); ++round) {
    const int given = ring.behind(round), mine = ring.behind(round + 1);
    const Region theirs = incoming.first(from[mine].count);
    plan.send((round == 1 ? from : into)[given], ring.next());
    plan.recv(theirs, ring.previous());
    plan.reduce(theirs, from[mine], into[mine]);
  }
}

void allgather(ScheduleBuilder& plan, const Ring& ring, const Blocks& blocks) {
  for (int round = 1; round < ring.size(); ++round) {
    plan.send(blocks[ring.behind(round - 1)], ring.next());
    plan.recv(blocks[ring.behind(round)], ring.previous());
  }
}

Schedule build(const Problem& problem) {
  ScheduleBuilder plan{problem};
  const int columns = columns_of(problem), rows = problem.size / columns;
  const int row = problem.rank.value() / columns, column = problem.rank.value() % columns;
  Group in_row{.ranks = {}, .me = column}, in_column{.ranks = {}, .me = row};
  for (int place = 0; place < columns; ++place)
    in_row.ranks.push_back(Rank{row * columns + place});
  for (int place = 0; place < rows; ++place)
    in_column.ranks.push_back(Rank{place * columns + column});

  const Blocks in{plan.input(), columns}, out{plan.output(), columns};
  const Blocks part{out[column], rows};
  if (columns == 1) plan.copy(plan.input(), plan.output());
  plan.within(in_row, [&](Rank me, int size) { reduce_scatter(plan, Ring{me, size}, in, out); });
  plan.within(in_column, [&](Rank me, int size) {
    reduce_scatter(plan, Ring{me, size}, part, part);
    allgather(plan, Ring{me, size}, part);
  });
  plan.within(in_row, [&](Rank me, int size) { allgather(plan, Ring{me, size}, out); });
  return plan.build();
}

constexpr Algorithm torus{.collective = Collective::allreduce,
                          .name = "torus",
                          .order = Order::any,
                          .parameter = {.name = "columns"},
                          .build = build,
                          .cost = nullptr,  // is counted
                          .summary = "rings along the rows and the columns of a torus",
                          .source = "an example of Tutti"};

}  // namespace

TUTTI_ALGORITHM_LIBRARY(&torus);
