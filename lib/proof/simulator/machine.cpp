#include "machine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <stdexcept>
#include <utility>

#include "tutti/error.hpp"

namespace tutti::simulator {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

constexpr double unlimited = std::numeric_limits<double>::infinity();

/// Numbers in the order of their first appearance.
std::vector<int> numbered(const std::vector<int>& groups) {
  std::map<int, int> numbers;
  std::vector<int> result;
  result.reserve(groups.size());
  for (const int group : groups)
    result.push_back(numbers.try_emplace(group, static_cast<int>(numbers.size())).first->second);
  return result;
}

}  // namespace

Machine::Machine(const Topology& topology, Placement placement, Rates rates)
    : topology_(topology),
      placement_(std::move(placement)),
      rates_(std::move(rates)),
      links_(topology.links()),
      kinds_(topology.kinds()) {
  for (const int host : placement_.host_of)
    if (host < 0 || host >= topology.hosts())
      throw ArgumentError(
          fmt::format("placement: host {}; the topology has hosts 0 to {}", host, topology.hosts() - 1));
  out_of_host_.assign(index(topology.hosts()), 0), into_host_ = out_of_host_;
  ranks_on_.assign(index(topology.hosts()), 0);
  for (const int host : placement_.host_of)
    ++ranks_on_[index(host)];
  for (const Link& link : links_) {
    if (link.from < topology.hosts()) out_of_host_[index(link.from)] += link.rate;
    if (link.to < topology.hosts()) into_host_[index(link.to)] += link.rate;
  }
  add_ports(network, "rank");
  const std::vector<int> hosts = numbered(placement_.host_of), sockets = numbered(placement_.socket_of);
  if (std::ranges::max(hosts) + 1 == ranks()) return;
  if (std::ranges::max(sockets) + 1 < ranks()) add_ports(socket, "socket");
  has_sockets_ = std::ranges::max(sockets) > std::ranges::max(hosts);
  if (has_sockets_) add_ports(node, "node");
  add_memory();
}

const LevelRates& Machine::rates_of(Level level) const {
  if (level == network) return rates_.network;
  return level == socket ? rates_.socket : rates_.node;
}

/// The ports of all ranks for the messages of a level, if they limit them: out, then in.
void Machine::add_ports(Level level, const char* name) {
  const double rate = rate_of(rates_of(level));
  if (rate == unlimited) return;
  first_port_[level] = static_cast<int>(links_.size());
  for (const char* direction : {"out", "in"})
    kinds_.push_back(fmt::format("{} {}", name, direction));
  const int kind = static_cast<int>(kinds_.size()) - 2;
  for (int rank = 0; rank < ranks(); ++rank) {
    links_.push_back({rank, -1, kind, rate, 0});
    links_.push_back({-1, rank, kind + 1, rate, 0});
  }
}

void Machine::add_memory() {
  if (rates_.memory == 0) return;
  first_memory_ = static_cast<int>(links_.size());
  kinds_.emplace_back("memory");
  for (int host = 0; host < topology_.hosts(); ++host)
    links_.push_back({-1, -1, static_cast<int>(kinds_.size()) - 1, rate_of({0, rates_.memory}), 0});
}

Machine::Level Machine::level_of(int from, int to) const {
  if (host_of(from) != host_of(to)) return network;
  return placement_.socket_of[index(from)] == placement_.socket_of[index(to)] ? socket : node;
}

void Machine::find_way(int from, int to, Way& way) const {
  const Level level = level_of(from, to);
  way.links.clear();
  way.latency = latency_of(rates_of(level));
  if (first_port_[level] >= 0) way.links.push_back(first_port_[level] + 2 * from);
  if (level == network)
    topology_.route(host_of(from), host_of(to), way.links);
  else if (first_memory_ >= 0)
    way.links.push_back(first_memory_ + host_of(from));
  if (first_port_[level] >= 0) way.links.push_back(first_port_[level] + 2 * to + 1);
  way.rate = unlimited;
  for (const int link : way.links) {
    way.latency += links_[index(link)].latency;
    if (way.latency > longest_time) throw std::logic_error("simulation: a message takes longer than can be counted");
    way.rate = std::min(way.rate, links_[index(link)].rate);
  }
}

std::string Machine::name_of(int link) const {
  const Link& its = links_[index(link)];
  if (index(link) < topology_.links().size()) return topology_.name_of(its);
  if (first_memory_ >= 0 && link >= first_memory_) return fmt::format("memory of host {}", link - first_memory_);
  return its.from >= 0 ? fmt::format("rank {} out", its.from) : fmt::format("rank {} in", its.to);
}

double Machine::rate_of_rank(int rank, const std::vector<double>& of_hosts) const {
  const double rate = std::min(rate_of(rates_.network), of_hosts[index(host_of(rank))]);
  if (ranks_on_[index(host_of(rank))] == 1) return rate;
  return rate + rate_of(rates_.socket) + (has_sockets_ ? rate_of(rates_.node) : 0);
}

std::vector<int> Machine::nodes() const {
  std::vector<int> nodes = numbered(placement_.host_of);
  if (std::ranges::max(nodes) == 0) nodes.clear();
  return nodes;
}

std::vector<int> Machine::sockets() const {
  std::vector<int> sockets = numbered(placement_.socket_of);
  if (sockets == numbered(placement_.host_of)) sockets.clear();
  return sockets;
}

}  // namespace tutti::simulator
