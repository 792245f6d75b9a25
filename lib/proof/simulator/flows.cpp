#include "flows.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>
#include <utility>

namespace tutti::simulator {
namespace {

std::size_t index(int i) { return static_cast<std::size_t>(i); }

/// The end of a flow, on a grid that is as fine as the flow is short.
Time later(Time end, Time began) {
  constexpr int bits = 9;
  const auto grain =
      static_cast<Time>(std::bit_floor(static_cast<std::uint64_t>(std::max<Time>(1, (end - began) >> bits))));
  return (end + grain - 1) / grain * grain;
}

}  // namespace

Flows::Flows(std::vector<double> rates, Pulse* pulse) : pulse_(pulse), links_(rates.size()) {
  for (std::size_t link = 0; link < rates.size(); ++link)
    links_[link].rate = rates[link];
}

void Flows::change(int link) {
  Shared& shared = links_[index(link)];
  if (!shared.has_changed) changed_.push_back(link);
  shared.has_changed = true;
}

void Flows::begin(int message, std::span<const int> route, double bytes, double weight, Time now) {
  if (free_.empty()) {
    free_.push_back(static_cast<int>(flows_.size()));
    flows_.emplace_back();
  }
  const int place = free_.back();
  free_.pop_back();
  Flow& flow = flows_[index(place)];
  flow.its = {message, now, 0};
  flow.left = bytes, flow.rate = 0, flow.weight = weight, flow.since = now, flow.end = never;
  flow.route.clear();
  for (const int link : route) {
    Shared& shared = links_[index(link)];
    if (!std::isfinite(shared.rate)) continue;
    flow.its.alone = std::max(flow.its.alone, bytes / shared.rate);
    shared.flows.push_back({place, static_cast<int>(flow.route.size())});
    flow.route.push_back({link, static_cast<int>(shared.flows.size()) - 1});
    change(link);
  }
}

void Flows::remove(Flow& flow) {
  for (const auto& [link, place] : flow.route) {
    Shared& shared = links_[index(link)];
    const Entry moved = shared.flows.back();
    shared.flows[index(place)] = moved;
    flows_[index(moved.flow)].route[index(moved.hop)].place = place;
    shared.flows.pop_back();
    change(link);
  }
}

/// Entries of flows that have got another end since, or whose place another one has, are dropped.
Time Flows::next() {
  while (!ends_.empty()) {
    const End& end = ends_.top();
    const Flow& flow = flows_[index(end.flow)];
    if (flow.its.message == end.message && flow.end == end.time) return end.time;
    ends_.pop();
  }
  return never;
}

Flows::Ended Flows::end_next() {
  const int place = ends_.top().flow;
  ends_.pop();
  Flow& flow = flows_[index(place)];
  remove(flow);
  free_.push_back(place);
  return std::exchange(flow.its, {});
}

void Flows::visit_link(int link) {
  Shared& shared = links_[index(link)];
  if (shared.visit == visit_) return;
  shared.visit = visit_;
  shared.left = shared.rate;
  shared.waiting = static_cast<int>(shared.flows.size());
  shared.weight = 0;
  for (const Entry& entry : shared.flows)
    shared.weight += flows_[index(entry.flow)].weight;
  part_.push_back(link);
}

/// All links that are connected with this one by flows.
void Flows::gather(int link) {
  part_.clear();
  flows_of_part_ = 0;
  visit_link(link);
  std::size_t next = 0;
  while (next < part_.size()) {  // which grows
    for (const Entry& entry : links_[index(part_[next++])].flows) {
      Flow& flow = flows_[index(entry.flow)];
      beat();
      if (flow.visit == visit_) continue;
      flow.visit = visit_, flow.is_fixed = false;
      ++flows_of_part_;
      for (const Hop& hop : flow.route)
        visit_link(hop.link);
    }
  }
}

void Flows::set_rate(int place, double rate, Time now) {
  Flow& flow = flows_[index(place)];
  flow.is_fixed = true;
  if (flow.rate == rate) return;
  flow.left = std::max(0.0, flow.left - static_cast<double>(now - flow.since) * flow.rate);
  flow.since = now, flow.rate = rate;
  if (!(flow.left / rate < static_cast<double>(longest_time)))
    throw std::logic_error("simulation: a message takes longer than can be counted");
  flow.end = now + static_cast<Time>(std::llround(flow.left / rate));
  if (flows_of_part_ > crowd) flow.end = later(flow.end, flow.its.began);
  ends_.push({flow.end, flow.its.message, place});
}

/// The flows of a link that limits them all get its share; they leave the rest of their other links to others.
void Flows::fix_flows_of(int link, double rate, Time now) {
  for (const Entry& entry : links_[index(link)].flows) {
    const Flow& flow = flows_[index(entry.flow)];
    beat();
    if (flow.is_fixed) continue;
    set_rate(entry.flow, rate * flow.weight, now);
    for (const Hop& hop : flow.route) {
      Shared& shared = links_[index(hop.link)];
      shared.left = std::max(0.0, shared.left - flow.rate);
      shared.weight -= flow.weight;
      --shared.waiting;
    }
  }
}

/// Progressive filling: the link with the least share for each of its flows limits them; then the next one. The share
/// of a link only grows on the way, so that one that is out of date is put back.
void Flows::fill(Time now) {
  shares_.clear();
  const auto share_of = [&](int link) {
    const Shared& shared = links_[index(link)];
    return Share{shared.left / shared.weight, link};
  };
  for (const int link : part_)
    if (links_[index(link)].waiting > 0) shares_.push_back(share_of(link));
  std::make_heap(shares_.begin(), shares_.end(), std::greater<>{});
  while (!shares_.empty()) {
    std::pop_heap(shares_.begin(), shares_.end(), std::greater<>{});
    const Share least = shares_.back();
    shares_.pop_back();
    if (links_[index(least.link)].waiting == 0) continue;
    const Share current = share_of(least.link);
    if (current.rate > least.rate && !shares_.empty() && current > shares_.front()) {
      shares_.push_back(current);
      std::push_heap(shares_.begin(), shares_.end(), std::greater<>{});
    } else {
      fix_flows_of(least.link, current.rate, now);
    }
  }
}

void Flows::share(Time now) {
  if (changed_.empty()) return;
  ++visit_;
  for (const int link : changed_) {
    links_[index(link)].has_changed = false;
    if (links_[index(link)].visit == visit_) continue;
    gather(link);
    fill(now);
  }
  changed_.clear();
}

}  // namespace tutti::simulator
