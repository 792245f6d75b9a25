#pragma once
// The ranks of one carrier, as UCX reaches them.

#include <mpi.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "lib/core/transport/network.hpp"
#include "ucx/worker.hpp"

namespace tutti::ucx {

/// All of a network but its ports, which know it (ucx_component.cpp).
class UcxNetwork : public mpi::Network {
 public:
  UcxNetwork(Worker& worker, int me, int ranks);
  ~UcxNetwork() override { worker_.give_back(number_); }

  /// One allreduce of 8 bytes and, unless all know each other already, one allgather of addresses and one
  /// MPI_Comm_create.
  std::string connect(MPI_Comm comm, std::span<const int> ranks) override;
  [[nodiscard]] bool takes_device_memory() const override { return worker_.reads_cuda(); }

  // The endpoint and the connection of a rank of the carrier.
  [[nodiscard]] ucp_ep_h endpoint(int rank);
  [[nodiscard]] const Worker::Connection& connection(int rank) const {
    return known_[static_cast<std::size_t>(rank)].peer->second;
  }
  /// The tag, but for turn and message.
  [[nodiscard]] ucp_tag_t tag_to(int rank, int context) const;
  [[nodiscard]] ucp_tag_t tag_from(int rank, int context) const;

 protected:
  [[nodiscard]] Worker& worker() { return worker_; }

 private:
  struct Known {
    Worker::Peer* peer = nullptr;  ///< nullptr: not connected.
    int number = 0;                ///< Its for this carrier.
  };
  [[nodiscard]] Known& known(int rank) { return known_[static_cast<std::size_t>(rank)]; }
  void exchange(MPI_Comm comm, std::span<const int> ranks, int longest);

  Worker& worker_;
  int me_, number_;
  std::vector<Known> known_;  ///< By rank.
};

}  // namespace tutti::ucx
