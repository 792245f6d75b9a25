#pragma once
// What other processes do on the processors of the ranks.

#include <mpi.h>

#include <optional>

namespace tutti::bench {

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
  struct Seconds {
    double busy = 0, all = 0;  ///< Of all processors of the machine.
    double own = 0;            ///< Of this process.
  };
  [[nodiscard]] static Seconds now();

  MPI_Comm comm_, node_ = MPI_COMM_NULL;
  Seconds begin_;
  double begun_ = 0;
};

}  // namespace tutti::bench
