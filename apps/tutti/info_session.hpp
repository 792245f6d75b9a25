#pragma once
// The processes that `tutti info` tells of: those of an MPI job, or this one alone. One of two files is built: with MPI
// (info_session_mpi.cpp), or without (info_session_alone.cpp).

#include <cstdint>
#include <string>
#include <vector>

#include "apps/tutti/info_devices.hpp"
#include "lib/topology/job.hpp"

namespace tutti::tool {

/// A named counter of Communicator::counters(), summed over all ranks.
struct CounterRow {
  std::string name, meaning;
  std::uint64_t value = 0;
};

/// Whether a launcher that MPIs understand started this process, by the environment.
[[nodiscard]] bool is_launched();

/// From its start to its end MPI is initialised. Only one per process. Throws InputError if there is no MPI.
class MpiSession {
 public:
  MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;
  ~MpiSession();
  /// Whether this is the rank that prints.
  [[nodiscard]] bool speaks() const { return rank_ == 0; }
  /// Ranks of the job.
  [[nodiscard]] int size() const { return size_; }
  /// Collective. All of the job on the rank that speaks; elsewhere nothing of use.
  [[nodiscard]] topology::Job gather() const;
  /// Collective. Rank 0's are sums over all ranks.
  [[nodiscard]] std::vector<CounterRow> count_mechanisms() const;

 private:
  int rank_ = 0, size_ = 1;
};

/// Local. Of an MPI that is not initialised little is known.
[[nodiscard]] DeviceReport device_report();

/// This process as a job of its own, without MPI.
[[nodiscard]] topology::Job alone();

}  // namespace tutti::tool
