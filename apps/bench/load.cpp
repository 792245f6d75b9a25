#include "apps/bench/load.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
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

ProcessorTime processor_time(const std::string& line, double steps_per_second) {
  std::istringstream words{line};
  std::string name;
  words >> name;
  // user, nice, system, idle, iowait, irq, softirq, steal
  constexpr int fields = 8, idle = 3, waiting = 4;
  ProcessorTime time;
  double steps = 0;
  for (int i = 0; i < fields && words >> steps; ++i) {
    time.all += steps / steps_per_second;
    if (i != idle && i != waiting) time.busy += steps / steps_per_second;
  }
  return time;
}

std::optional<double> share_of_others(const ProcessorTime& begin, const ProcessorTime& end, double own) {
  const double all = end.all - begin.all, busy = end.busy - begin.busy;
  if (all < least_processor_time) return std::nullopt;
  return std::max(0.0, busy - own) / all;
}

Load::Load(MPI_Comm comm) : comm_(comm), begin_(now()), begun_(MPI_Wtime()) {
  mpi::check(mpi::api.Comm_split_type(comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node_), "MPI_Comm_split_type");
}

Load::~Load() { mpi::api.Comm_free(&node_); }

Load::Moment Load::now() {
  std::ifstream file{"/proc/stat"};
  std::string line;
  std::getline(file, line);
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return {.machine = processor_time(line, static_cast<double>(sysconf(_SC_CLK_TCK))),
          .own = seconds_of(used.ru_utime) + seconds_of(used.ru_stime)};
}

void Load::begin() {
  const double time = MPI_Wtime();
  if (time - begun_ < least_seconds) return;
  begun_ = time;
  begin_ = now();
}

std::optional<double> Load::share() const {
  const Moment end = now();
  double own = end.own - begin_.own;
  mpi::check(mpi::api.Allreduce(MPI_IN_PLACE, &own, 1, MPI_DOUBLE, MPI_SUM, node_), "MPI_Allreduce");
  constexpr double unknown = -1;
  double share = share_of_others(begin_.machine, end.machine, own).value_or(unknown);
  mpi::check(mpi::api.Allreduce(MPI_IN_PLACE, &share, 1, MPI_DOUBLE, MPI_MAX, comm_), "MPI_Allreduce");
  return share == unknown ? std::nullopt : std::optional{share};
}

}  // namespace tutti::bench
