#pragma once
// The report of ranks that wait for others to make a communicator with them.

#include <mpi.h>

#include <cstdint>
#include <span>

#include "lib/core/communicator/carrier.hpp"
#include "lib/core/communicator/settings.hpp"

namespace tutti::detail {

/// Watches one communicator that is being made. Settings are not agreed on yet: those of this process count.
class MakingWatch {
 public:
  /// `carrier`: on which `ranks` are those of `comm`; nullptr: nothing is known of the others yet.
  MakingWatch(MPI_Comm comm, mpi::Carrier* carrier, std::span<const int> ranks);

  /// It still waits: reports that once, if it is time, and this is the lowest rank of its node that waits.
  void look();

 private:
  [[nodiscard]] bool is_lowest_here() const;
  [[nodiscard]] const records::Journal* journal_of(int rank) const;

  MPI_Comm comm_;
  mpi::Carrier* carrier_;
  std::span<const int> ranks_;
  int rank_ = 0, size_ = 1;
  std::int64_t since_;
  HangSettings hang_;
  bool has_reported_ = false;
};

}  // namespace tutti::detail
