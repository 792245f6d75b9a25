#include "bound.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <queue>

#include "tutti/algorithm.hpp"

namespace tutti::simulator {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

/// A group of ranks, and what it can send and receive: bytes per picosecond.
struct Group {
  int ranks = 0;
  bool has_root = false;  ///< The root, or rank 0 where there is none.
  double out = 0, in = 0;
};

/// The bytes that have to cross the border of a group.
struct Traffic {
  double out = 0, in = 0;
};

/// `all`: the groups together have to send at least so many times `count`.
class Needs {
 public:
  Needs(const Problem& problem, double bytes) : collective_(problem.collective), ranks_(problem.size), bytes_(bytes) {}

  [[nodiscard]] Traffic of(const Group& group) const {
    const double here = group.ranks, others = ranks_ - group.ranks;
    switch (collective_) {
      case Collective::barrier:
        return {};
      case Collective::broadcast:
        return group.has_root ? Traffic{bytes_, 0} : Traffic{0, bytes_};
      case Collective::reduce:
        return group.has_root ? Traffic{0, bytes_} : Traffic{bytes_, 0};
      case Collective::allreduce:
        return {bytes_, bytes_};
      case Collective::scan:
      case Collective::exscan:
        return group.has_root ? Traffic{0, 0} : Traffic{0, bytes_};
      case Collective::allgather:
        return {here * bytes_, others * bytes_};
      case Collective::reduce_scatter:
        return {others * bytes_, here * bytes_};
      case Collective::gather:
        return group.has_root ? Traffic{0, others * bytes_} : Traffic{here * bytes_, 0};
      case Collective::scatter:
        return group.has_root ? Traffic{others * bytes_, 0} : Traffic{0, here * bytes_};
      case Collective::alltoall:
        return {here * others * bytes_, here * others * bytes_};
    }
    return {};
  }
  /// What all groups together have to send beyond the sum of the above.
  [[nodiscard]] double of_all(double groups) const {
    switch (collective_) {
      case Collective::allreduce:  // as many partial results as there are groups less one, and as many results
        return 2 * (groups - 1) * bytes_;
      case Collective::broadcast:
        return (groups - 1) * bytes_;
      case Collective::allgather:
      case Collective::reduce_scatter:
        return (groups - 1) * ranks_ * bytes_;
      default:
        return 0;
    }
  }
  [[nodiscard]] double reduced() const {
    const double times = collective_ == Collective::reduce_scatter ? ranks_ : 1;
    return reduces(collective_) ? (ranks_ - 1.0) / ranks_ * times * bytes_ : 0;
  }

 private:
  Collective collective_;
  int ranks_;
  double bytes_;
};

/// The longest that one group, or all together, need to send and receive what they have to: picoseconds.
double crossing_time(const std::vector<Group>& groups, const Needs& needs) {
  double time = 0, out = 0, in = 0;
  int used = 0;
  for (const Group& group : groups) {
    if (group.ranks == 0) continue;
    ++used, out += group.out, in += group.in;
    const auto [sent, received] = needs.of(group);
    if (sent > 0) time = std::max(time, sent / group.out);
    if (received > 0) time = std::max(time, received / group.in);
  }
  if (used < 2) return 0;
  return std::max({time, needs.of_all(used) / out, needs.of_all(used) / in});
}

std::vector<Group> single_ranks(const Machine& machine, int root) {
  std::vector<Group> groups;
  groups.reserve(index(machine.ranks()));
  for (int rank = 0; rank < machine.ranks(); ++rank)
    groups.push_back({1, rank == root, machine.rate_out_of(rank), machine.rate_into(rank)});
  return groups;
}

std::vector<Group> groups_of(const Machine& machine, const Partition& partition, int root) {
  std::vector<Group> groups(index(partition.groups));
  const auto group_of = [&](int vertex) { return partition.group_of[index(vertex)]; };
  for (int rank = 0; rank < machine.ranks(); ++rank) {
    Group& group = groups[index(group_of(machine.host_of(rank)))];
    ++group.ranks;
    group.has_root = group.has_root || rank == root;
  }
  for (const Link& link : machine.topology().links()) {
    if (group_of(link.from) == group_of(link.to)) continue;
    if (group_of(link.from) >= 0) groups[index(group_of(link.from))].out += link.rate;
    if (group_of(link.to) >= 0) groups[index(group_of(link.to))].in += link.rate;
  }
  return groups;
}

Partition single_hosts(const Topology& topology) {
  Partition partition{"hosts", std::vector<int>(index(topology.vertices()), -1), topology.hosts()};
  for (int host = 0; host < topology.hosts(); ++host)
    partition.group_of[index(host)] = host;
  return partition;
}

/// The least latency of a message inside a host, and between hosts; `never` if there is none.
constexpr Time never = std::numeric_limits<Time>::max();
struct Latencies {
  Time inside = never, between = never;
  [[nodiscard]] Time least() const { return std::min(inside, between); }
};
Latencies least_latencies(const Machine& machine) {
  const Rates& rates = machine.rates();
  Latencies least;
  std::vector<int> on(index(machine.topology().hosts()));
  int used = 0, most = 0;
  for (int rank = 0; rank < machine.ranks(); ++rank) {
    used += on[index(machine.host_of(rank))]++ == 0 ? 1 : 0;
    most = std::max(most, on[index(machine.host_of(rank))]);
  }
  if (most > 1) least.inside = std::min(latency_of(rates.socket), latency_of(rates.node));
  if (used == 1) return least;
  // A route leaves its source and enters its destination, by the same link only if there is no switch between them.
  std::vector<Time> out(on.size(), never), in(on.size(), never);
  bool is_direct = false;
  for (const Link& link : machine.topology().links()) {
    const bool leaves = link.from < machine.topology().hosts(), enters = link.to < machine.topology().hosts();
    if (leaves) out[index(link.from)] = std::min(out[index(link.from)], link.latency);
    if (enters) in[index(link.to)] = std::min(in[index(link.to)], link.latency);
    is_direct = is_direct || (leaves && enters);
  }
  const Time leaving = std::ranges::min(out), entering = std::ranges::min(in);
  least.between = latency_of(rates.network) + (is_direct ? std::min(leaving, entering) : leaving + entering);
  return least;
}

/// When a message that spreads as fast as can be has reached all ranks, each of which can send one every `step`, which
/// is there `delay` later.
Time spread_time(int ranks, Time step, Time delay) {
  if (ranks < 2) return 0;
  if (step == 0) return delay;
  std::priority_queue<Time, std::vector<Time>, std::greater<>> arrivals;  // of the next message of each that knows
  arrivals.push(delay);
  Time last = 0;
  for (int known = 1; known < ranks; ++known) {
    last = arrivals.top();
    arrivals.pop();
    arrivals.push(last + step);
    arrivals.push(last + delay);
  }
  return last;
}

/// Word of one rank has to reach all others; where a root collects, it has to come from all.
Time round_time(const Machine& machine, const Latencies& least) {
  const Time overhead = in_time(machine.rates().overhead), gap = in_time(machine.rates().gap);
  const Time all = spread_time(machine.ranks(), std::max(overhead, gap), 2 * overhead + least.least());
  return least.between == never ? all : std::max(all, 2 * overhead + least.between);
}

/// No more than can be counted: without links nothing ever crosses.
Time rounded(double time) { return static_cast<Time>(std::llround(std::min(time, static_cast<double>(longest_time)))); }

}  // namespace

Bound lower_bound(const Machine& machine, const Problem& problem, const Conditions& conditions) {
  if (problem.size < 2) return {0, "one rank"};
  const double bytes = static_cast<double>(problem.count.value()) * static_cast<double>(conditions.element);
  const Needs needs{problem, bytes};
  const Latencies least = least_latencies(machine);
  const Time late = conditions.late.empty() ? 0 : std::ranges::max(conditions.late);
  const bool is_from_all_to_all =
      problem.collective == Collective::allreduce || problem.collective == Collective::barrier ||
      problem.collective == Collective::allgather || problem.collective == Collective::alltoall ||
      problem.collective == Collective::reduce_scatter;
  Bound bound{round_time(machine, least), "rounds"};
  const auto add = [&](Time time, std::string_view reason) {
    if (time > bound.time) bound = {time, std::string{reason}};
  };
  // Reductions may overlap with messages, and a message inside a host with one between hosts.
  add(in_time(machine.rates().reduced, needs.reduced()), "reductions");
  if (late > 0) add(late, "the last start");
  if (late > 0 && is_from_all_to_all)
    add(late + 2 * in_time(machine.rates().overhead) + least.least(), "the last start");
  const int root = problem.root.value();
  const Time start = 2 * in_time(machine.rates().overhead);
  add(start + least.least() + rounded(crossing_time(single_ranks(machine, root), needs)), "the ports of ranks");
  if (least.between == never) return bound;
  std::vector<Partition> partitions = machine.topology().partitions();
  partitions.push_back(single_hosts(machine.topology()));
  for (const Partition& partition : partitions)
    add(start + least.between + rounded(crossing_time(groups_of(machine, partition, root), needs)),
        "the links of " + partition.name);
  return bound;
}

}  // namespace tutti::simulator
