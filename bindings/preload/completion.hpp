#pragma once
// The requests of a call that completes them, some of MPI's own and some of calls that Tutti serves.

#include <mpi.h>

#include <cstddef>
#include <span>
#include <vector>

#include "bindings/preload/requests.hpp"

namespace tutti::interpose {

/// The requests of one call. Ours are those that Tutti serves; a persistent call that was not started counts as none.
class Requests {
 public:
  /// Looks up each of the program's requests.
  explicit Requests(std::span<MPI_Request> given);

  [[nodiscard]] bool has_ours() const { return has_ours_; }
  /// Whether any of ours was started, and not completed yet.
  [[nodiscard]] bool has_active() const;
  /// Moves ours, without waiting.
  void poll();
  void wait_for_ours();
  /// The lowest index from `from` on of those of ours that can be completed; the number of requests if there is none.
  [[nodiscard]] std::size_t next_over(std::size_t from) const;
  /// Whether all of ours can be completed.
  [[nodiscard]] bool are_over() const;

  /// Completes one of ours, which is over: the request becomes null, or inactive if it is persistent. Its result.
  int complete(std::size_t i, MPI_Status* status);
  /// Completes all of ours, after MPI has completed the others with that result. The result of all: MPI_ERR_IN_STATUS
  /// if any failed, with the codes in `statuses`.
  [[nodiscard]] int complete_all(int of_others, MPI_Status* statuses);

  /// The program's requests without ours, for MPI; and what it made of them becomes the program's.
  [[nodiscard]] MPI_Request* others() { return others_.data(); }
  void take_others();

 private:
  std::span<MPI_Request> given_;
  std::vector<Pending*> ours_;  ///< By index; nullptr: MPI's own, or completed.
  std::vector<bool> is_mpis_;
  std::vector<MPI_Request> others_;
  bool has_ours_ = false;
};

}  // namespace tutti::interpose
