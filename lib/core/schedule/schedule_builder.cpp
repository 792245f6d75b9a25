#include "tutti/schedule_builder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "lib/core/schedule/regions.hpp"

namespace tutti {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw std::logic_error("schedule builder: " + why); }

Regions without_empty(Regions regions) {
  std::erase_if(regions, [](const Region& region) { return region.count == Count{0}; });
  return regions;
}

}  // namespace

ScheduleBuilder::ScheduleBuilder(const Problem& problem)
    : ScheduleBuilder(problem, shape_of(problem).input, shape_of(problem).output) {}

ScheduleBuilder::~ScheduleBuilder() = default;

ScheduleBuilder::ScheduleBuilder(const Problem& problem, Count input, Count output)
    : rank_(problem.rank),
      size_(problem.size),
      input_(input),
      output_(output),
      aliasing_(problem.aliasing),
      accesses_(problem.aliasing) {
  if (size_ < 1 || rank_.value() < 0 || rank_.value() >= size_)
    refuse(fmt::format("rank {} of {}", rank_.value(), size_));
  if (input < Count{0} || output < Count{0}) refuse("negative count");
  if (const auto offset = aliasing_.offset();
      offset && (*offset < Count{0} || *offset + input > output) && (*offset > Count{0} || *offset + input < output))
    refuse("neither of input and output lies inside the other");
}

Region ScheduleBuilder::scratch(Count count) {
  if (count < Count{0}) refuse("negative count");
  const Region fresh{Buffer::scratch, schedule_.scratch, count};
  schedule_.scratch += count;
  return fresh;
}

void ScheduleBuilder::send(const Regions& from, Rank to) {
  to = peer_at(to);
  for (const Region& region : from)
    require_inside(region);
  if (total(from) > Count{0}) add(Send{to, without_empty(from), sent_[to]++}, from, {});
}

void ScheduleBuilder::recv(const Regions& into, Rank from) {
  from = peer_at(from);
  for (const Region& region : into)
    require_writable(region);
  if (total(into) > Count{0}) add(Recv{from, without_empty(into), received_[from]++}, {}, into);
}

void ScheduleBuilder::reduce(const Region& lhs, const Region& rhs, const Region& into) {
  require_inside(lhs);
  require_inside(rhs);
  require_writable(into);
  if (lhs.count != into.count || rhs.count != into.count) refuse("a reduction of regions of different counts");
  for (const Region& operand : {aliasing_.located(lhs), aliasing_.located(rhs)})
    if (operand != aliasing_.located(into) && overlap(operand, aliasing_.located(into)))
      refuse("a reduction onto part of its operand");
  if (into.count > Count{0}) add(Reduce{lhs, rhs, into}, {lhs, rhs}, {into});
}

namespace {

/// Calls visit(offset in the concatenation, count) for the largest pieces that lie within one region of every list.
template <class Visit>
void for_each_piece(std::initializer_list<const Regions*> lists, const Visit& visit) {
  std::vector<Count> ends;
  for (const Regions* regions : lists) {
    Count end;
    for (const Region& region : *regions)
      ends.push_back(end += region.count);
  }
  std::ranges::sort(ends);
  Count begin;
  for (const Count end : ends) {
    if (end > begin) visit(begin, end - begin);
    begin = end;
  }
}

/// Elements [at, at + count) of the concatenation, which lie within one region.
Region piece(const Regions& regions, Count at, Count count) {
  for (const Region& region : regions) {
    if (at < region.count) return {region.buffer, region.offset + at, count};
    at -= region.count;
  }
  refuse("lists of regions of different counts");
}

}  // namespace

void ScheduleBuilder::reduce(const Regions& lhs, const Regions& rhs, const Regions& into) {
  for_each_piece({&lhs, &rhs, &into}, [&](Count at, Count count) {
    reduce(piece(lhs, at, count), piece(rhs, at, count), piece(into, at, count));
  });
}

void ScheduleBuilder::copy(const Regions& from, const Regions& into) {
  for_each_piece({&from, &into}, [&](Count at, Count count) { copy(piece(from, at, count), piece(into, at, count)); });
}

void ScheduleBuilder::reduce_in_order(Rank peer, const Region& theirs, const Region& mine, const Region& into) {
  if (peer < (group_ == nullptr ? rank_ : Rank{group_->me}))
    reduce(theirs, mine, into);
  else
    reduce(mine, theirs, into);
}

void ScheduleBuilder::copy(const Region& from, const Region& into) {
  require_inside(from);
  require_writable(into);
  if (from.count != into.count) refuse("a copy between regions of different counts");
  if (aliasing_.located(from) == aliasing_.located(into) || into.count == Count{0}) return;
  if (overlap(aliasing_.located(from), aliasing_.located(into))) refuse("a copy onto part of its source");
  add(Copy{from, into}, {from}, {into});
}

void ScheduleBuilder::signal(Rank to) {
  to = peer_at(to);
  append(Send{to, {}, sent_[to]++}, since_signal_);
  since_signal_ = {static_cast<int>(schedule_.steps.size()) - 1};  // a step that follows it follows the others too
}

void ScheduleBuilder::await(Rank from) {
  from = peer_at(from);
  append(Recv{from, {}, received_[from]++}, {});
  fence_ = static_cast<int>(schedule_.steps.size()) - 1;
}

void ScheduleBuilder::follow(int first, int last) {
  if (first < 0 || last > steps()) refuse(fmt::format("steps {}..{} of {}", first, last, steps()));
  paced_by_.clear();
  for (int step = first; step < last; ++step)
    paced_by_.push_back(step);
}

Schedule ScheduleBuilder::build() { return std::exchange(schedule_, {}); }

void ScheduleBuilder::add(Action action, const Regions& reads, const Regions& writes) {
  const int step = static_cast<int>(schedule_.steps.size());
  std::vector<int> after;
  accesses_.note(step, reads, writes, after);
  if (reads.empty() && std::ranges::count(after, step) > 0) refuse("a message received twice into the same elements");
  append(std::move(action), std::move(after));
}

void ScheduleBuilder::append(Action action, std::vector<int> after) {
  const int step = static_cast<int>(schedule_.steps.size());
  if (fence_ >= 0) after.push_back(fence_);
  after.insert(after.end(), paced_by_.begin(), paced_by_.end());
  std::erase(after, step);  // a reduction in place reads and writes the same elements
  std::ranges::sort(after);
  after.erase(std::unique(after.begin(), after.end()), after.end());
  schedule_.steps.push_back({std::move(action), std::move(after)});
  since_signal_.push_back(step);
}

void ScheduleBuilder::require_inside(const Region& region) const {
  if (region.buffer > Buffer::scratch) refuse(fmt::format("{} is no Buffer", static_cast<int>(region.buffer)));
  const Count size = region.buffer == Buffer::input    ? input_
                     : region.buffer == Buffer::output ? output_
                                                       : schedule_.scratch;
  if (region.count == Count{0}) return;  // an empty block may lie anywhere
  if (region.offset < Count{0} || region.count < Count{0} || region.offset + region.count > size)
    refuse(fmt::format("region [{}, {}) of a buffer of {}", region.offset.value(),
                       (region.offset + region.count).value(), size.value()));
}

void ScheduleBuilder::require_writable(const Region& region) const {
  require_inside(region);
  if (region.buffer == Buffer::input) refuse("the input is never written");
}

Rank ScheduleBuilder::peer_at(Rank place) const {
  if (group_ != nullptr && (place.value() < 0 || place.value() >= group_->size()))
    refuse(fmt::format("place {} in a group of {}", place.value(), group_->size()));
  const Rank peer = group_ == nullptr ? place : group_->at(place.value());
  if (peer == rank_ || peer.value() < 0 || peer.value() >= size_)
    refuse(fmt::format("rank {} of {} cannot exchange messages with rank {}", rank_.value(), size_, peer.value()));
  return peer;
}

}  // namespace tutti
