#pragma once
// What other processes do on the processors of the ranks.

#include <mpi.h>

#include <optional>
#include <string>

namespace tutti::bench {

/// What all processors of a machine have done since it started, in seconds.
struct ProcessorTime {
  double busy = 0, all = 0;
};
/// Reads the first line of /proc/stat; nothing in it: 0 and 0. Time that other virtual machines stole is busy.
[[nodiscard]] ProcessorTime processor_time(const std::string& line, double steps_per_second);
/// The share of the processors that others took, of whose time `own` is this job's. Nothing if too few steps have
/// passed.
[[nodiscard]] std::optional<double> share_of_others(const ProcessorTime& begin, const ProcessorTime& end, double own);

/// The share of a node's processors that other processes took, with the time that other virtual machines stole. It
/// comes from /proc/stat, which counts all processors of the machine in steps of a hundredth of a second, and from the
/// time that the ranks themselves took.
class Load {
 public:
  /// Collective over `comm`.
  explicit Load(MPI_Comm comm);
  Load(const Load&) = delete;
  Load& operator=(const Load&) = delete;
  ~Load();

  /// Before something is measured. A look at less than half a second would tell little, so short measurements are
  /// looked at together with those before.
  void begin();
  /// The share since then: of the node where it is highest. Nothing where the system does not tell, or too few steps
  /// have passed. Collective; the same on all ranks.
  [[nodiscard]] std::optional<double> share() const;

 private:
  struct Moment {
    ProcessorTime machine;
    double own = 0;  ///< The seconds of this process.
  };
  [[nodiscard]] static Moment now();

  MPI_Comm comm_, node_ = MPI_COMM_NULL;
  Moment begin_;
  double begun_ = 0;
};

}  // namespace tutti::bench
