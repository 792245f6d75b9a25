#pragma once
// The private communicators that Tutti's messages travel on.

#include <mpi.h>

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "lib/core/communicator/mailbox.hpp"
#include "lib/core/communicator/socket.hpp"
#include "lib/core/selection/site_rules.hpp"
#include "lib/core/transport/mpi/handles.hpp"
#include "lib/core/transport/mpi/tag_layout.hpp"
#include "lib/core/transport/network.hpp"
#include "lib/core/transport/shm/fabric.hpp"
#include "lib/device/ipc/ipc_port.hpp"

namespace tutti::mpi {

/// A bit for each context that a TagLayout can have: those that are not in use.
using FreeContexts = std::array<std::uint64_t, TagLayout::most_contexts / 64>;

/// A duplicate of an MPI communicator, shared by many of Tutti's, which are told apart by contexts: numbers that ranks
/// agree on among those that all of them have free. Communicators without a common rank may have the same.
class Carrier {
 public:
  /// Collective over `comm`: duplicates it and finds out which ranks share a node. Tags reach up to the MPI's
  /// MPI_TAG_UB, or TUTTI_TEST_TAG_UB if that is lower on any rank.
  explicit Carrier(MPI_Comm comm);

  [[nodiscard]] MPI_Comm comm() const { return comm_.get(); }
  [[nodiscard]] const TagLayout& tags() const { return tags_; }
  /// The lowest rank of the carrier on the same node.
  [[nodiscard]] int node_of(int rank) const { return homes_[static_cast<std::size_t>(rank)].node; }
  /// The lowest rank on the same socket; on the same node if that is one socket, or if any socket there is not known.
  [[nodiscard]] int socket_of(int rank) const { return homes_[static_cast<std::size_t>(rank)].socket; }
  /// Whether the node runs more ranks than processors that they may use.
  [[nodiscard]] bool outnumbers_processors() const { return outnumbers_processors_; }
  /// Whether a rank that waits has to give its processor away: the node has too few, or the user said so.
  [[nodiscard]] bool is_crowded() const { return is_crowded_; }
  /// Whether the node runs two ranks or more for each of these processors: the same on all its ranks.
  [[nodiscard]] bool shares_processors() const { return shares_processors_; }
  /// Whether it does run more ranks than processors, but not more than two for each.
  [[nodiscard]] bool shares_in_pairs() const { return shares_in_pairs_; }
  /// Whether a waiting rank has to give its processor away, and the MPI does it by itself.
  [[nodiscard]] bool mpi_yields() const { return mpi_yields_; }
  /// The number of a rank of the carrier in the links of this node; -1: messages to it go over MPI.
  [[nodiscard]] int local_of(int rank) const { return locals_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] shm::Fabric& fabric() { return *fabric_; }
  /// Between all of its ranks, beside the messages of collectives.
  [[nodiscard]] Mailbox& mailbox() { return *mailbox_; }
  /// The memory on devices that the ranks of this node share, made at first use (ipc::Route).
  [[nodiscard]] std::shared_ptr<ipc::Exchange>& device_memory() { return device_memory_; }
  /// Local. Opens it at first use; throws Error that says why it cannot be opened here.
  [[nodiscard]] Network& network(const NetworkDriver& driver);
  /// The rules of the site that its communicators keep to unless they have their own; nullptr: there are none.
  [[nodiscard]] const std::shared_ptr<const SiteRules>& rules() const { return rules_; }
  /// The rank here of each rank of `comm`; empty if one of them is not in the carrier. Local.
  [[nodiscard]] std::vector<int> ranks_of(MPI_Comm comm) const;

  [[nodiscard]] const FreeContexts& free_contexts() const { return free_contexts_; }
  /// Takes the lowest of the contexts that are free on all ranks concerned; local. Throws ArgumentError, alike on all
  /// of them, if there is none.
  [[nodiscard]] int take_context(const FreeContexts& agreed);
  /// Gives the context back; local.
  void give_back(int context);
  /// Gives the context back once some others have been given back: messages may still arrive there.
  void give_back_later(int context);

 private:
  /// Where a rank is: the lowest ranks of its node and its socket.
  struct Home {
    int node = 0, socket = 0;
  };
  void discover_nodes();
  void find_rules();
  void share_memory(MPI_Comm node, const std::vector<Local>& locals);
  UniqueComm comm_;
  std::optional<Mailbox> mailbox_;
  TagLayout tags_{};
  std::vector<Home> homes_;
  bool outnumbers_processors_ = false, is_crowded_ = false, shares_processors_ = false, shares_in_pairs_ = false;
  bool mpi_yields_ = false;
  std::shared_ptr<const SiteRules> rules_;
  std::unique_ptr<shm::Fabric> fabric_;
  std::shared_ptr<ipc::Exchange> device_memory_;
  std::vector<int> locals_;
  std::map<const NetworkDriver*, std::unique_ptr<Network>> networks_;
  FreeContexts free_contexts_{};
  std::deque<int> resting_{};  ///< Contexts that are given back later.
};

}  // namespace tutti::mpi
