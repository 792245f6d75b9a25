#pragma once
// Agreement among the ranks of an MPI communicator.

#include <mpi.h>

#include "lib/core/transport/bootstrap.hpp"

namespace tutti::mpi {

/// Each function is one collective call of the MPI; throws MpiError if that fails.
class MpiBootstrap : public Bootstrap {
 public:
  explicit MpiBootstrap(MPI_Comm comm);

  void broadcast(void* data, std::size_t bytes, int root) const override;
  void gather_to_all(const void* mine, std::size_t bytes, void* all) const override;
  [[nodiscard]] int sum_on_first(int number) const override;
  void and_of_all(std::span<int> flags) const override;
  void barrier() const override;

 private:
  MPI_Comm comm_;
};

}  // namespace tutti::mpi
