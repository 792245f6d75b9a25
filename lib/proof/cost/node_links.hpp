#pragma once
// The links of nodes to the network, which the messages between nodes share.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tutti {

using Time = std::int64_t;  // picoseconds

/// The messages that are on their way between nodes. A node has `links` to send over and as many to receive over. Of k
/// messages that leave it, each has one link, or the k-th part of all links if there are fewer; so have those that
/// enter it. A message is as fast as the smaller of its two shares. It is known by the rank that sends it, which sends
/// one at a time.
class NodeLinks {
 public:
  /// `nodes`: that of each rank; empty: all are on one.
  NodeLinks(std::span<const int> nodes, int links);
  [[nodiscard]] bool join(int sender, int receiver) const;
  /// A message begins to cross, which takes `alone` if nothing else does.
  void enter(int sender, int receiver, Time alone);
  /// Whether the sender's message arrives now, as far as is known; if so it leaves the links.
  [[nodiscard]] bool has_left(int sender, Time now);

  /// When a message arrives, unless others enter or leave before.
  struct Arrival {
    int sender;
    Time time;
  };
  /// Shares the links anew after messages entered or left. Says when those arrive whose shares have changed. Cost: the
  /// messages of the nodes concerned.
  [[nodiscard]] std::vector<Arrival> shared_anew(Time now);

 private:
  static constexpr Time unknown = -1;
  struct Message {
    int from = 0, to = 0;  // nodes
    double left = 0;       // how long the rest would take alone
    double slowdown = 1;   // since `since`
    Time since = 0, arrival = unknown;
    std::size_t place_of_leaving = 0, place_of_entering = 0;
  };
  /// The senders of the messages that a node sends, or receives.
  struct Side {
    std::vector<int> senders;
    bool has_changed = false;
  };
  [[nodiscard]] int node(int rank) const;
  void share(int sender, Time now, std::vector<Arrival>& arrivals);
  void change(Side& side);
  void remove(Side& side, std::size_t Message::*place, int sender);

  std::vector<int> nodes_;
  double links_;
  std::vector<Message> messages_;  // by sender
  std::vector<Side> leaving_, entering_;
  std::vector<Side*> changed_;
};

}  // namespace tutti
