// Counts what the summary of a trace tells.
#include <algorithm>
#include <limits>
#include <tuple>

#include "apps/tutti/trace_summary.hpp"

namespace tutti::tool {
namespace {

/// Sums of times that a damaged trace has may be no numbers of 64 bits: they stay at the largest one.
void add(std::int64_t& sum, std::int64_t part) {
  if (__builtin_add_overflow(sum, part, &sum)) sum = std::numeric_limits<std::int64_t>::max();
}

/// The figures of one kind of call, while its operations are counted.
struct Counted {
  CallFigures figures;
  std::vector<std::int64_t> times{};
};

using Kinds = std::map<std::pair<std::string, std::string>, Counted>;

std::pair<std::string, std::string> kind_of(const TraceFile& file, const TracedOperation& operation) {
  return {file.names[operation.begun.collective], file.names[operation.begun.algorithm]};
}

void count(const TraceFile& file, const TracedOperation& operation, Kinds& kinds) {
  const auto kind = kind_of(file, operation);
  auto& [figures, times] = kinds[kind];
  figures.collective = kind.first;
  figures.algorithm = kind.second;
  ++figures.rank_calls;
  figures.calls += operation.is_pairwise() ? 1 : 0;
  figures.failed += operation.has_failed ? 1 : 0;
  figures.unfinished += operation.is_over() ? 0 : 1;
  add(figures.bytes, operation.begun.bytes);
  if (operation.is_over()) times.push_back(operation.end - operation.begun.begin);
}

/// The figures of times that are there.
void add_times(std::vector<std::int64_t>& times, CallFigures& figures) {
  if (times.empty()) return;
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::ranges::nth_element(times, middle);
  figures.median = *middle;
  figures.most = *std::ranges::max_element(times);
  for (const std::int64_t time : times)
    add(figures.total, time);
}

/// Adds when each rank entered a collective, which all of its ranks entered.
void add_entries(const TracedJob& job, const Instance& instance, std::vector<RankFigures>& ranks) {
  std::vector<std::int64_t> times;
  for (const auto& [file, index] : instance.entries)
    times.push_back(job.time(file, job.files[file].operations[index].begun.begin));
  const std::int64_t first = *std::ranges::min_element(times);
  const auto last = std::ranges::max_element(times) - times.begin();
  ++ranks[instance.entries[static_cast<std::size_t>(last)].file].last;
  for (std::size_t i = 0; i < times.size(); ++i) {
    RankFigures& rank = ranks[instance.entries[i].file];
    ++rank.entered;
    add(rank.late, times[i] - first);
    rank.latest = std::max(rank.latest, times[i] - first);
  }
}

}  // namespace

std::vector<CallFigures> call_figures(const TracedJob& job) {
  Kinds kinds;
  for (std::uint32_t f = 0; f < job.files.size(); ++f) {
    const TraceFile& file = job.files[f];
    for (const TracedOperation& operation : file.operations)
      count(file, operation, kinds);
    for (const trace::WaitRecord& wait : file.waits) {
      CallFigures& figures = kinds[kind_of(file, file.operations[wait.operation - 1])].figures;
      const int other = job.world_rank(f, wait.operation, wait.peer);
      const int whom = wait.peer < 0 ? CallFigures::a_device : other < 0 ? CallFigures::an_unknown_rank : other;
      add(figures.waited, wait.idle);
      add(figures.waited_for[whom], wait.idle);
    }
  }
  for (const Instance& instance : job.instances) {
    const auto [file, index] = instance.entries.front();
    ++kinds[kind_of(job.files[file], job.files[file].operations[index])].figures.calls;
  }
  std::vector<CallFigures> all;
  for (auto& [kind, counted] : kinds) {
    add_times(counted.times, counted.figures);
    all.push_back(std::move(counted.figures));
  }
  std::ranges::stable_sort(all, std::greater<>{}, &CallFigures::total);
  return all;
}

std::vector<RankFigures> rank_figures(const TracedJob& job) {
  std::vector<RankFigures> ranks;
  for (const TraceFile& file : job.files)
    ranks.push_back({.rank = file.rank, .host = file.host});
  for (const Instance& instance : job.instances) {
    const int size = job.communicators[static_cast<std::size_t>(instance.communicator)].size;
    if (size < 2 || instance.entries.size() != static_cast<std::size_t>(size)) continue;
    add_entries(job, instance, ranks);
  }
  for (std::uint32_t f = 0; f < job.files.size(); ++f) {
    for (const trace::WaitRecord& wait : job.files[f].waits) {
      add(ranks[f].waited, wait.idle);
      const int other = job.file_of(f, wait.operation, wait.peer);
      if (other >= 0 && other != static_cast<int>(f))
        add(ranks[static_cast<std::size_t>(other)].others_waited, wait.idle);
    }
  }
  return ranks;
}

std::vector<SlowCall> slowest_calls(const TracedJob& job, std::size_t most) {
  std::vector<SlowCall> all;
  for (const Instance& instance : job.instances) {
    std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = std::numeric_limits<std::int64_t>::min();
    std::int64_t end = last;
    bool is_over = true;
    SlowCall call{.communicator = job.communicators[static_cast<std::size_t>(instance.communicator)].name,
                  .operation = instance.sequence};
    for (const auto& [file, index] : instance.entries) {
      const TracedOperation& operation = job.files[file].operations[index];
      const std::int64_t begin = job.time(file, operation.begun.begin);
      is_over &= operation.is_over();
      first = std::min(first, begin);
      end = std::max(end, job.time(file, operation.end));
      if (begin > last) call.last = job.files[file].rank;
      last = std::max(last, begin);
    }
    if (!is_over) continue;
    const auto [file, index] = instance.entries.front();
    const TracedOperation& operation = job.files[file].operations[index];
    std::tie(call.collective, call.algorithm) = kind_of(job.files[file], operation);
    call.bytes = operation.begun.bytes;
    call.time = end - first;
    call.late = last - first;
    all.push_back(std::move(call));
  }
  std::ranges::stable_sort(all, std::greater<>{}, &SlowCall::time);
  all.resize(std::min(all.size(), most));
  return all;
}

}  // namespace tutti::tool
