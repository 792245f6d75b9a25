#pragma once
// The state that a process has once: the UCX context, and the worker through which all messages go.

#include <mpi.h>
#include <ucp/api/ucp.h>

#include <bitset>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "lib/device/driver/scoped_device.hpp"
#include "ucx/context.hpp"
#include "ucx/handles.hpp"
#include "ucx/tag.hpp"

namespace tutti::ucx {

/// Memory that messages refer to which can be neither completed nor withdrawn.
struct Orphan {
  virtual ~Orphan() = default;
};

/// All members need an Entry (lib/core/run/progress.hpp), or to be alone.
class Worker {
 public:
  /// Made at first use. Throws Error if it cannot be.
  static Worker& get();
  /// Throws ArgumentError if TUTTI_UCX_WATCH is not allowed.
  static void check_settings();
  /// Moves all messages; nothing if there is none.
  static void progress_if_there() noexcept;
  /// At MPI_Finalize: leaves together with all processes that were connected. Nothing if there is none.
  static void finalize() noexcept;

  /// How another process is reached.
  struct Connection {
    UniqueEndpoint endpoint{};
    std::string process{};         ///< "process 17 on node2".
    bool is_far = false;           ///< On another node: a failure of it is told by UCX alone.
    ucs_status_t failed = UCS_OK;  ///< If not UCS_OK, no message to or from it will ever come.
  };
  /// A worker elsewhere: its address, and the connection to it.
  using Peer = std::pair<const std::string, Connection>;

  [[nodiscard]] const std::string& address() const { return address_; }
  /// Whether processes of one node reach each other through shared memory.
  [[nodiscard]] bool shares_memory() const { return shares_memory_; }
  /// Lives as long as this worker; the same for the same address.
  Peer& peer(const std::string& address) { return *peers_.try_emplace(address).first; }
  /// Made at first use. Of far peers, failures are noted.
  ucp_ep_h endpoint(Peer& peer);
  /// Whether any peer has failed.
  [[nodiscard]] bool misses_peers() const { return misses_peers_; }
  /// Whether UCX has the means to send memory of CUDA's devices.
  [[nodiscard]] bool reads_cuda() const { return reads_cuda_; }
  void progress() const {
    const cuda::ScopedDevice scope{cuda::FarData::device()};
    progress_(worker_.get());
  }
  [[nodiscard]] ucp_worker_h handle() const { return worker_.get(); }

  /// The lowest that is free. Throws Error if none is.
  int take_number();
  void give_back(int number) { numbers_.reset(static_cast<std::size_t>(number)); }
  /// Collective over `comm`: notes that its processes know each other, and have to leave together.
  void connected(MPI_Comm comm);
  void adopt(std::unique_ptr<Orphan> orphan) { orphans_.push_back(std::move(orphan)); }

 private:
  Worker();
  static void on_failure(void* connection, ucp_ep_h endpoint, ucs_status_t status);
  void meet() noexcept;

  std::vector<std::unique_ptr<Orphan>> orphans_;
  UniqueContext context_;
  UniqueWorker worker_;
  decltype(&ucp_worker_progress) progress_;
  std::string address_;
  bool shares_memory_, watches_peers_, reads_cuda_;
  std::map<std::string, Connection> peers_;
  bool misses_peers_ = false;
  std::bitset<networks> numbers_;
  std::vector<UniqueHandle<mpi::CommTraits>> comms_;
};

}  // namespace tutti::ucx
