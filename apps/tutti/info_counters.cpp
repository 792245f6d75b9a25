// tutti info --counters, in a build with MPI.
#include <mpi.h>

#include <numeric>

#include "apps/tutti/info_session.hpp"
#include "lib/runtime/counters.hpp"
#include "lib/transport/mpi/check.hpp"
#include "tutti/tutti.hpp"

namespace tutti::tool {
namespace {

constexpr std::int64_t longest = 4 * 1024L * 1024;  // bytes

void exchange(const Communicator& comm, std::span<double> in, std::span<double> out) {
  std::iota(in.begin(), in.end(), 0.0);
  for (std::int64_t bytes = 8; bytes <= longest; bytes *= 8) {
    const auto count = static_cast<std::size_t>(bytes) / sizeof(double);
    allreduce(std::span{std::as_const(in)}.first(count), out.first(count), Op::sum, comm);
    broadcast(out.first(count), Rank{0}, comm);
  }
}

}  // namespace

/// Collectives of all ranks, in ordinary and in Tutti memory.
std::vector<CounterRow> MpiSession::count_mechanisms() const {
  const Communicator comm{MPI_COMM_WORLD};
  constexpr std::size_t most = longest / sizeof(double);
  std::vector<double> in(most), out(most);
  exchange(comm, in, out);
  SharedBuffer<double> shared_in{most}, shared_out{most};
  exchange(comm, shared_in, shared_out);
  const Counters mine = comm.counters();
  std::vector<CounterRow> rows;
  for (const auto& [name, meaning, value] : detail::named_counters()) {
    rows.push_back({.name = std::string{name}, .meaning = std::string{meaning}});
    const std::uint64_t here = mine.at(rows.back().name);
    mpi::check(MPI_Reduce(&here, &rows.back().value, 1, MPI_UINT64_T, MPI_SUM, 0, MPI_COMM_WORLD), "MPI_Reduce");
  }
  return rows;
}

}  // namespace tutti::tool
