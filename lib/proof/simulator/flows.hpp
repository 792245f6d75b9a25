#pragma once
// Messages on their way, which share the links of their routes fairly.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <span>
#include <utility>
#include <vector>

#include "topology.hpp"

namespace tutti::simulator {

/// Calls a function, which may throw to end a long computation, at every 256th beat.
class Pulse {
 public:
  explicit Pulse(std::function<void()> look) : look_(std::move(look)) {}
  void beat() {
    constexpr unsigned beats = 256;
    if (++count_ % beats == 0 && look_) look_();
  }

 private:
  std::function<void()> look_;
  unsigned count_ = 0;
};

/// The flows of a network whose links have these rates, each shared by max-min: no flow can be given more without
/// taking from one that has no more. Shares are computed anew only for flows that are connected with a change by links
/// in use.
///
/// Where more than `crowd` flows are connected, a flow ends up to a 512th of its time later than computed, at an
/// instant that others may have in common: else each end would change the shares of all others.
///
/// `pulse`, if there is one, beats for each flow and link that is looked at while shares are computed; it has to
/// outlive the flows.
///
/// A flow is known by the number of its message. Flows that end at one instant are handed out in the order of numbers.
class Flows {
 public:
  explicit Flows(std::vector<double> rates, Pulse* pulse = nullptr);
  /// A flow begins. `bytes` > 0; the route has a link that is not infinitely fast.
  void begin(int message, std::span<const int> route, double bytes, double weight, Time now);
  /// Shares the links anew after flows began or ended. Throws std::logic_error if one takes longer than can be counted.
  void share(Time now);
  /// When the next flow ends, as far as is known now; `never` if there is none.
  [[nodiscard]] Time next();
  static constexpr Time never = std::numeric_limits<Time>::max();
  static constexpr int crowd = 1024;
  struct Ended {
    int message = -1;
    Time began = 0;
    double alone = 0;  ///< How long it would have taken with its links for itself.
  };
  /// Ends the flow that next() spoke of.
  [[nodiscard]] Ended end_next();

 private:
  struct Hop {
    int link = 0;
    int place = 0;  ///< In the link's list of flows.
  };
  struct Flow {
    Ended its{};
    double left = 0, rate = 0;  ///< Bytes, bytes per picosecond since `since`.
    double weight = 1;
    Time since = 0, end = never;
    std::vector<Hop> route{};
    bool is_fixed = false;  ///< While shares are computed.
    std::uint32_t visit = 0;
  };
  struct Entry {
    int flow = 0, hop = 0;
  };
  struct Shared {
    double rate = 0;
    std::vector<Entry> flows{};
    double left = 0;    ///< While shares are computed: the rate that is not given away,
    int waiting = 0;    ///< the flows that have no share yet,
    double weight = 0;  ///< and their weights.
    std::uint32_t visit = 0;
    bool has_changed = false;
  };
  struct End {
    Time time;
    int message, flow;
    bool operator>(const End& other) const { return time != other.time ? time > other.time : message > other.message; }
  };
  struct Share {
    double rate;  ///< Of a flow whose weight is 1.
    int link;
    bool operator>(const Share& other) const { return rate != other.rate ? rate > other.rate : link > other.link; }
  };

  void remove(Flow& flow);
  void change(int link);
  void gather(int link);
  void visit_link(int link);
  void fill(Time now);
  void fix_flows_of(int link, double rate, Time now);
  void set_rate(int place, double rate, Time now);

  void beat() {
    if (pulse_ != nullptr) pulse_->beat();
  }

  Pulse* pulse_;
  std::vector<Shared> links_;
  std::vector<Flow> flows_;
  std::vector<int> free_;     // places in flows_
  std::vector<int> changed_;  // links
  std::vector<int> part_;     // the links that are connected with a change
  int flows_of_part_ = 0;
  std::uint32_t visit_ = 0;
  std::vector<Share> shares_;  // a heap
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
};

}  // namespace tutti::simulator
