#include "apps/tutti/trace_clocks.hpp"

#include <algorithm>
#include <cstdlib>

namespace tutti::tool {
namespace {

constexpr std::int64_t farthest = std::int64_t{1} << 60;  // no sum of a time and this overflows

int clock_of(const TraceFile& file) { return file.clocks.empty() ? -1 : file.clocks.front().leader; }

/// The rank that most were compared with, the latest time.
int root_of(const std::vector<TraceFile>& files) {
  std::map<int, int> votes;
  for (const TraceFile& file : files)
    if (!file.clocks.empty()) ++votes[file.clocks.back().reference];
  const auto most = std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; });
  return most == votes.end() ? -1 : most->first;
}

}  // namespace

ClockLine::ClockLine(const std::vector<trace::ClockRecord>& measured)
    : ClockLine(*std::ranges::min_element(measured, {}, &trace::ClockRecord::at),
                *std::ranges::max_element(measured, {}, &trace::ClockRecord::at)) {}

ClockLine::ClockLine(const trace::ClockRecord& first, const trace::ClockRecord& last)
    : since_(first.at), offset_(first.offset) {
  if (last.at == first.at) return;
  constexpr double most = 0.01;  // real clocks drift less by far
  const double drift = static_cast<double>(last.offset - first.offset) / static_cast<double>(last.at - first.at);
  drift_ = std::clamp(drift, -most, most);
}

std::int64_t ClockLine::at(std::int64_t time) const {
  return time + offset_ + static_cast<std::int64_t>(static_cast<double>(time - since_) * drift_);
}

ClockAlignment::ClockAlignment(const std::vector<TraceFile>& files) : files_(files), root_(root_of(files)) {
  for (const TraceFile& file : files)
    if (!file.clocks.empty()) clock_of_rank_.emplace(file.rank, clock_of(file));
  while (add_one()) {
  }
}

std::optional<ClockLine> ClockAlignment::of(const TraceFile& file) const {
  const auto found = lines_.find(clock_of(file));
  return found == lines_.end() ? std::nullopt : std::optional{found->second};
}

/// What the rank of that clock measured, as differences to the root's.
std::vector<trace::ClockRecord> ClockAlignment::measured_of(int clock) const {
  std::vector<trace::ClockRecord> measured;
  for (const TraceFile& file : files_) {
    if (file.rank != clock) continue;  // other ranks with this clock have copies
    for (trace::ClockRecord record : file.clocks) {
      if (record.reference != root_) {
        const auto reference = clock_of_rank_.find(record.reference);
        if (reference == clock_of_rank_.end() || !lines_.contains(reference->second)) continue;
        const std::int64_t theirs = record.at + record.offset;
        record.offset += lines_.at(reference->second).at(theirs) - theirs;
      }
      if (std::abs(record.offset) <= farthest) measured.push_back(record);
    }
  }
  return measured;
}

/// If the trace of the rank that measured is missing: what another one with that clock knows.
std::vector<trace::ClockRecord> ClockAlignment::copied_of(int clock) const {
  for (const TraceFile& file : files_)
    if (clock_of(file) == clock && file.clocks.back().reference == root_) return {file.clocks.back()};
  return {};
}

bool ClockAlignment::add_one() {
  for (const auto& [rank, clock] : clock_of_rank_) {
    if (lines_.contains(clock)) continue;
    std::vector<trace::ClockRecord> measured = measured_of(clock);
    if (measured.empty()) measured = copied_of(clock);
    if (measured.empty()) continue;
    for (const trace::ClockRecord& record : measured)
      uncertainty_ = std::max(uncertainty_, record.round_trip / 2);
    lines_.emplace(clock, ClockLine{measured});
    return true;
  }
  return false;
}

}  // namespace tutti::tool
