#include "apps/bench/load.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>

#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"

namespace tutti::bench {

namespace {

constexpr double least_seconds = 0.5;         // between two looks
constexpr double least_processor_time = 0.4;  // 40 steps

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

Load::Load(MPI_Comm comm) : comm_(comm), begin_(now()), begun_(MPI_Wtime()) {
  mpi::check(mpi::api.Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node_), "MPI_Comm_split_type");
}

Load::~Load() { mpi::api.Comm_free(&node_); }

Load::Seconds Load::now() {
  Seconds seconds;
  std::ifstream file{"/proc/stat"};
  std::string name;
  file >> name;
  // user, nice, system, idle, iowait, irq, softirq, steal
  const auto steps = static_cast<double>(sysconf(_SC_CLK_TCK));
  constexpr int fields = 8, idle = 3, waiting = 4;
  double value = 0;
  for (int i = 0; i < fields && file >> value; ++i) {
    seconds.all += value / steps;
    if (i != idle && i != waiting) seconds.busy += value / steps;
  }
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  seconds.own = seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
  return seconds;
}

void Load::begin() {
  const double time = MPI_Wtime();
  if (time - begun_ < least_seconds) return;
  begun_ = time;
  begin_ = now();
}

std::optional<double> Load::share() const {
  const Seconds end = now();
  double own = end.own - begin_.own;
  mpi::check(mpi::api.Allreduce(MPI_IN_PLACE, &own, 1, MPI_DOUBLE, MPI_SUM, node_), "MPI_Allreduce");
  const double all = end.all - begin_.all, busy = end.busy - begin_.busy;
  double share = all < least_processor_time ? -1 : std::max(0.0, busy - own) / all;
  mpi::check(mpi::api.Allreduce(MPI_IN_PLACE, &share, 1, MPI_DOUBLE, MPI_MAX, comm_), "MPI_Allreduce");
  return share < 0 ? std::nullopt : std::optional{share};
}

}  // namespace tutti::bench
