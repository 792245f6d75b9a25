#pragma once
// The ranks of a communicator, and where they are.

#include <span>
#include <vector>

#include "tutti/patterns.hpp"

namespace tutti::mpi {
class Carrier;
}

namespace tutti::detail {

class Members {
 public:
  /// `on_carrier`: the rank on the carrier of each rank.
  Members(const mpi::Carrier& carrier, std::vector<int> on_carrier, Rank me);

  [[nodiscard]] Rank me() const { return me_; }
  [[nodiscard]] int size() const { return static_cast<int>(on_carrier_.size()); }
  [[nodiscard]] std::span<const int> on_carrier() const { return on_carrier_; }

  [[nodiscard]] int node_count() const { return leaders_.size(); }
  [[nodiscard]] int node_of(Rank rank) const { return nodes_[static_cast<std::size_t>(rank.value())]; }
  /// The node of each rank, also if there is only one.
  [[nodiscard]] std::span<const int> all_nodes() const { return nodes_; }
  /// The node of each rank, as in Problem: empty if there is only one.
  [[nodiscard]] std::span<const int> nodes() const { return node_count() > 1 ? all_nodes() : std::span<const int>{}; }
  /// The socket of each rank, as in Problem.
  [[nodiscard]] std::span<const int> sockets() const {
    return socket_count_ > node_count() ? std::span<const int>{sockets_} : std::span<const int>{};
  }
  /// The ranks of the node that has most of them.
  [[nodiscard]] int most_on_a_node() const { return most_on_a_node_; }
  [[nodiscard]] const Group& node() const { return node_; }
  [[nodiscard]] const Group& leaders() const { return leaders_; }

 private:
  Rank me_;
  std::vector<int> on_carrier_, nodes_{}, sockets_{};
  int socket_count_ = 0, most_on_a_node_ = 0;
  Group node_{}, leaders_{};
};

}  // namespace tutti::detail
