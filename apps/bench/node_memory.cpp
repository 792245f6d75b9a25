#include "apps/bench/node_memory.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <cstring>

#include "apps/options.hpp"
#include "lib/exec/relax.hpp"
#include "lib/transport/mpi/check.hpp"

namespace tutti::bench {

namespace {

constexpr std::int64_t page = 4096;

std::int64_t whole_pages(Bytes size) { return (size.value() + page - 1) / page * page; }

}  // namespace

NodeMemory::NodeMemory(Bytes of_each_rank) : stride_(whole_pages(of_each_rank)) {
  mpi::check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, comm_.receive()),
             "MPI_Comm_split_type");
  MPI_Comm_set_errhandler(comm_.get(), MPI_ERRORS_RETURN);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(comm_.get(), &rank);
  MPI_Comm_size(comm_.get(), &ranks);
  std::byte* mine = nullptr;
  // One piece after the other, so that one page more is enough to begin at a page.
  const MPI_Aint size = stride_ + (rank == ranks - 1 ? page : 0);
  const int code = MPI_Win_allocate_shared(size, 1, MPI_INFO_NULL, comm_.get(), &mine, window_.receive());
  int is_bad = code == MPI_SUCCESS ? 0 : 1;
  mpi::check(MPI_Allreduce(MPI_IN_PLACE, &is_bad, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
  if (is_bad != 0) {
    throw apps::InputError(
        fmt::format("--limits: the MPI gives no {} bytes of shared memory for each rank: lower --max", stride_));
  }
  MPI_Aint size_of_first = 0;
  int unit = 0;
  mpi::check(MPI_Win_shared_query(window_.get(), 0, &size_of_first, &unit, &base_), "MPI_Win_shared_query");
  base_ += (page - reinterpret_cast<std::intptr_t>(base_) % page) % page;
  // Pages are where the rank that first writes them runs.
  std::memset(of(rank), 0, static_cast<std::size_t>(stride_));
  mpi::check(MPI_Barrier(comm_.get()), "MPI_Barrier");
}

Meeting::Flag& Meeting::flag_of(int rank) const {
  static_assert(sizeof(Flag) * places <= size_of_all.value() && std::atomic<std::uint64_t>::is_always_lock_free);
  return reinterpret_cast<Flag*>(memory_->of(rank))[place_];
}

void Meeting::wait(const Flag& flag) const {
  // Ranks that share a core after all must not wait for the end of their time slices.
  constexpr int patience = 10'000;
  for (int polls = 0; flag.round.load(std::memory_order_acquire) < round_; ++polls) {
    if (waiting_ == Waiting::yielding || polls > patience) {
      sched_yield();
    } else {
      relax();
    }
  }
}

std::uint64_t Meeting::exchange(std::uint64_t mine) {
  if (rank_ >= ranks_) return 0;
  ++round_;
  Flag& flag = flag_of(rank_);
  flag.numbers[round_ % 2].store(mine, std::memory_order_relaxed);
  flag.round.store(round_, std::memory_order_release);
  std::uint64_t sum = mine;
  for (int i = 1; i < ranks_; ++i) {
    const Flag& theirs = flag_of((rank_ + i) % ranks_);
    wait(theirs);
    sum += theirs.numbers[round_ % 2].load(std::memory_order_relaxed);
  }
  return sum;
}

}  // namespace tutti::bench
