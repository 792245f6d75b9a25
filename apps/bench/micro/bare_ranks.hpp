#pragma once
// For programs that measure the least time that a call could take: all ranks of one node, with shared memory and
// nothing else.

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <vector>

#include "lib/runtime/patience.hpp"
#include "lib/transport/mpi/check.hpp"

namespace tutti::bare {

inline int rank_in_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}
inline int ranks_of_world() {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}
inline bool ranks_outnumber_processors() { return ranks_of_world() > ::sysconf(_SC_NPROCESSORS_ONLN); }
inline void meet() { mpi::check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier"); }

/// The time of the slowest rank.
inline double slowest_of_all(double mine) {
  mpi::check(MPI_Allreduce(MPI_IN_PLACE, &mine, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
  return mine;
}
inline double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

/// Objects of one type that all ranks see.
template <class T>
class Shared {
 public:
  explicit Shared(std::size_t count) {
    T* mine = nullptr;
    const std::size_t wanted = rank_in_world() == 0 ? count * sizeof(T) + alignof(T) : 0;
    mpi::check(
        MPI_Win_allocate_shared(static_cast<MPI_Aint>(wanted), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window_),
        "MPI_Win_allocate_shared");
    MPI_Aint bytes = 0;
    int unit = 0;
    void* begin = nullptr;
    mpi::check(MPI_Win_shared_query(window_, 0, &bytes, &unit, &begin), "MPI_Win_shared_query");
    auto room = static_cast<std::size_t>(bytes);
    first_ = static_cast<T*>(std::align(alignof(T), count * sizeof(T), begin, room));
    if (rank_in_world() == 0) std::uninitialized_value_construct_n(first_, count);
    meet();
  }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  ~Shared() { MPI_Win_free(&window_); }
  T& operator[](std::size_t i) const { return first_[i]; }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  T* first_ = nullptr;
};

}  // namespace tutti::bare
