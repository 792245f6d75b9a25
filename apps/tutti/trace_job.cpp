#include "apps/tutti/trace_job.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <tuple>

#include "apps/files.hpp"
#include "apps/options.hpp"

namespace tutti::tool {
namespace {

namespace fs = std::filesystem;
using apps::InputError;

std::string started(const TraceFile& file) {
  const std::time_t seconds = file.opened_at_utc / 1'000'000'000;
  return fmt::format("'{}' (rank {} of {}, begun at {:%F %T} UTC)", file.path, file.rank, file.ranks,
                     fmt::gmtime(seconds));
}

/// Files that a later run did not replace would be taken for its own.
void require_one_run(const std::vector<TraceFile>& files) {
  const auto refuse = [](const TraceFile& a, const TraceFile& b) {
    throw InputError(
        fmt::format("files of several runs: {} and {}; remove the older ones, and give each run a folder of its own",
                    started(a), started(b)));
  };
  for (std::size_t i = 1; i < files.size(); ++i)
    if (files[i].ranks != files[i - 1].ranks || files[i].rank == files[i - 1].rank) refuse(files[i - 1], files[i]);
}

// ---- communicators ------------------------------------------------------------------------------------------------

/// What is the same on all ranks of a communicator.
using Identity = std::tuple<int, int, std::uint64_t, int>;  // context, size, members, earlier

void find_communicators(TracedJob& job) {
  std::map<Identity, int> known;
  std::map<std::pair<int, int>, int> named;
  for (std::size_t file = 0; file < job.files.size(); ++file) {
    std::vector<int>& own = job.communicator_of.emplace_back();
    for (const trace::CommunicatorRecord& record : job.files[file].communicators) {
      const Identity identity{record.context, record.size, record.members, record.earlier};
      const auto [entry, is_new] = known.try_emplace(identity, static_cast<int>(job.communicators.size()));
      if (is_new) {
        const int number = ++named[{record.context, record.size}];
        std::string name = fmt::format("{}/{}", record.context, record.size);
        if (number > 1) name += fmt::format("#{}", number);
        job.communicators.push_back({.name = std::move(name), .size = record.size, .nodes = record.nodes});
      }
      TracedCommunicator& communicator = job.communicators[static_cast<std::size_t>(entry->second)];
      const auto rank = static_cast<std::size_t>(record.rank);
      // A file tells the size of a communicator, which may be any number; the ranks that are there are few.
      if (communicator.files.size() <= rank) {
        communicator.files.resize(rank + 1, -1);
        communicator.node_of.resize(rank + 1, -1);
      }
      communicator.files[rank] = static_cast<int>(file);
      communicator.node_of[rank] = record.node;
      own.push_back(entry->second);
    }
  }
}

// ---- clocks ---------------------------------------------------------------------------------------------------------

/// The clock of a rank is named by the rank that compared it.
int clock_of(const TraceFile& file) { return file.clocks.empty() ? -1 : file.clocks.front().leader; }

/// All that was measured of each clock, as differences to that of the rank `root`. A clock that was compared with
/// another one is led to it by that one's.
class Alignment {
 public:
  static constexpr std::int64_t farthest = std::int64_t{1} << 60;  // no sum of a time and this overflows

  explicit Alignment(const std::vector<TraceFile>& files) : files_(files) {
    for (const TraceFile& file : files)
      if (!file.clocks.empty()) clock_of_rank_.emplace(file.rank, clock_of(file));
    root_ = root();
    if (const auto found = clock_of_rank_.find(root_); found != clock_of_rank_.end())
      lines_.emplace(found->second, ClockLine{});
    while (add_one()) {
    }
  }
  /// Nothing: it was compared with no clock that leads there.
  [[nodiscard]] std::optional<ClockLine> of(const TraceFile& file) const {
    const auto found = lines_.find(clock_of(file));
    return found == lines_.end() ? std::nullopt : std::optional{found->second};
  }
  [[nodiscard]] std::int64_t uncertainty() const { return uncertainty_; }
  [[nodiscard]] int clocks() const { return static_cast<int>(lines_.size()); }

 private:
  /// The rank that most were compared with, the latest time.
  [[nodiscard]] int root() const {
    std::map<int, int> votes;
    for (const TraceFile& file : files_)
      if (!file.clocks.empty()) ++votes[file.clocks.back().reference];
    const auto most = std::ranges::max_element(votes, {}, [](const auto& vote) { return vote.second; });
    return most == votes.end() ? -1 : most->first;
  }
  /// What was measured of a clock against one whose line is known, as differences to the root's.
  [[nodiscard]] std::vector<trace::ClockRecord> measured_of(int clock) const {
    std::vector<trace::ClockRecord> measured;
    for (const TraceFile& file : files_) {
      if (file.rank != clock) continue;  // other ranks with this clock have copies
      for (trace::ClockRecord record : file.clocks) {
        const auto reference = clock_of_rank_.find(record.reference);
        if (reference == clock_of_rank_.end() || !lines_.contains(reference->second)) continue;
        const std::int64_t theirs = record.at + record.offset;
        record.offset += lines_.at(reference->second).at(theirs) - theirs;
        if (std::abs(record.offset) <= farthest) measured.push_back(record);
      }
    }
    return measured;
  }
  bool add_one() {
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
  /// If the trace of the rank that compared is missing: what another one with that clock knows.
  [[nodiscard]] std::vector<trace::ClockRecord> copied_of(int clock) const {
    for (const TraceFile& file : files_)
      if (clock_of(file) == clock && file.clocks.back().reference == root_) return {file.clocks.back()};
    return {};
  }

  const std::vector<TraceFile>& files_;
  std::map<int, int> clock_of_rank_;
  std::map<int, ClockLine> lines_;
  int root_ = -1;
  std::int64_t uncertainty_ = 0;
};

void align_clocks(TracedJob& job) {
  const Alignment alignment{job.files};
  for (const TraceFile& file : job.files) {
    const std::optional<ClockLine> line = alignment.of(file);
    job.clocks.push_back(line.value_or(ClockLine{}));
    if (!line && job.files.size() > 1)
      job.notes.push_back(fmt::format("rank {}: its clock was not compared with the others", file.rank));
  }
  job.uncertainty = alignment.uncertainty();
  job.clock_count = std::max(1, alignment.clocks());
}

// ---- messages -----------------------------------------------------------------------------------------------------

/// One end of a message. The two ends have the same key.
struct End {
  std::tuple<int, bool, std::uint64_t, int, int, int> key;  // communicator, pairwise, sequence, from, to, message
  Place place;
};

/// The ends of one kind in all files, in order.
std::vector<End> ends_of(const TracedJob& job, bool sends) {
  std::vector<End> ends;
  for (std::uint32_t file = 0; file < job.files.size(); ++file) {
    const TraceFile& own = job.files[file];
    for (std::uint32_t i = 0; i < own.steps.size(); ++i) {
      const trace::StepRecord& step = own.steps[i];
      if (step.action > trace::Action::recv_reduce || (step.action == trace::Action::send) != sends) continue;
      const std::uint32_t number = own.operations[step.operation - 1].begun.communicator;
      const int me = own.communicators[number].rank;
      ends.push_back({{job.communicator_of[file][number], step.is_pairwise != 0, step.sequence, sends ? me : step.peer,
                       sends ? step.peer : me, step.message},
                      {file, i}});
    }
  }
  std::ranges::stable_sort(ends, {}, &End::key);
  return ends;
}

void match_messages(TracedJob& job) {
  const std::vector<End> sends = ends_of(job, true), recvs = ends_of(job, false);
  auto recv = recvs.begin();
  for (const End& send : sends) {
    while (recv != recvs.end() && recv->key < send.key)
      ++recv;
    if (recv == recvs.end() || recv->key != send.key) continue;
    job.flows.push_back({send.place, recv->place});
    ++recv;
  }
  job.unmatched = sends.size() + recvs.size() - 2 * job.flows.size();
}

// ---- collectives --------------------------------------------------------------------------------------------------

void find_instances(TracedJob& job) {
  std::map<std::tuple<int, bool, std::uint64_t>, std::vector<Place>> all;
  for (std::uint32_t file = 0; file < job.files.size(); ++file) {
    const TraceFile& own = job.files[file];
    for (std::uint32_t i = 0; i < own.operations.size(); ++i) {
      const trace::BeginRecord& begun = own.operations[i].begun;
      if (own.operations[i].is_pairwise()) continue;
      const int communicator = job.communicator_of[file][begun.communicator];
      all[{communicator, begun.start == trace::Start::program, begun.sequence}].push_back({file, i});
    }
  }
  for (auto& [key, places] : all) {
    const auto [communicator, is_program, sequence] = key;
    ++job.communicators[static_cast<std::size_t>(communicator)].operations;
    job.instances.push_back({communicator, sequence, is_program, std::move(places)});
  }
}

void find_times(TracedJob& job) {
  std::optional<std::int64_t> first, last;
  const auto note = [&](std::uint32_t file, std::int64_t begin, std::int64_t end) {
    first = std::min(first.value_or(job.time(file, begin)), job.time(file, begin));
    last = std::max(last.value_or(job.time(file, end)), job.time(file, end));
  };
  for (std::uint32_t file = 0; file < job.files.size(); ++file) {
    for (const TracedOperation& operation : job.files[file].operations)
      note(file, operation.begun.begin, std::max(operation.begun.begin, operation.end));
    for (const trace::StepRecord& step : job.files[file].steps)
      note(file, step.begin, step.end);
  }
  job.first = first.value_or(0);
  job.last = last.value_or(0);
}

void note_what_is_missing(TracedJob& job) {
  const TraceFile& any = job.files.front();
  if (static_cast<int>(job.files.size()) < any.ranks)
    job.notes.push_back(
        fmt::format("{} of {} ranks have no trace here", any.ranks - static_cast<int>(job.files.size()), any.ranks));
  for (const TraceFile& file : job.files) {
    if (!file.damage.empty()) job.notes.push_back(fmt::format("rank {}: {}", file.rank, file.damage));
    if (!file.is_closed && file.damage.empty())
      job.notes.push_back(
          fmt::format("rank {}: the trace was not closed: the process was killed, or runs still", file.rank));
    if (file.dropped > 0)
      job.notes.push_back(fmt::format(
          "rank {}: {} records were dropped, as the file was full (TUTTI_TRACE_LIMIT) or could not be written",
          file.rank, file.dropped));
  }
}

}  // namespace

ClockLine::ClockLine(const std::vector<trace::ClockRecord>& measured) {
  const auto [first, last] = std::ranges::minmax(measured, {}, &trace::ClockRecord::at);
  since_ = first.at;
  offset_ = first.offset;
  if (last.at == first.at) return;
  constexpr double most = 0.01;  // real clocks drift less by far
  drift_ = static_cast<double>(last.offset - first.offset) / static_cast<double>(last.at - first.at);
  drift_ = std::clamp(drift_, -most, most);
}

std::int64_t ClockLine::at(std::int64_t time) const {
  return time + offset_ + static_cast<std::int64_t>(static_cast<double>(time - since_) * drift_);
}

const TracedCommunicator& TracedJob::communicator(std::uint32_t file, std::uint64_t operation) const {
  const std::uint32_t number = files[file].operations[operation - 1].begun.communicator;
  return communicators[static_cast<std::size_t>(communicator_of[file][number])];
}

int TracedJob::world_rank(std::uint32_t file, std::uint64_t operation, int peer) const {
  const std::vector<int>& members = communicator(file, operation).files;
  const auto rank = static_cast<std::size_t>(peer);
  if (peer < 0 || rank >= members.size() || members[rank] < 0) return -1;
  return files[static_cast<std::size_t>(members[rank])].rank;
}

TracedJob job_of(std::vector<TraceFile> files) {
  std::ranges::stable_sort(files, {}, &TraceFile::rank);
  require_one_run(files);
  TracedJob job;
  job.files = std::move(files);
  find_communicators(job);
  align_clocks(job);
  match_messages(job);
  find_instances(job);
  find_times(job);
  note_what_is_missing(job);
  return job;
}

TracedJob read_job(const std::string& folder, Salvage salvage) {
  std::error_code error;
  std::vector<std::string> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator{folder, error})
    if (entry.path().extension() == trace::file_suffix) paths.push_back(entry.path());
  if (error) throw InputError(fmt::format("cannot read the folder '{}': {}", folder, error.message()));
  if (paths.empty())
    throw InputError(fmt::format("the folder '{}' has no traces (*{}), which TUTTI_TRACE={} would have ranks write",
                                 folder, trace::file_suffix, folder));
  std::ranges::sort(paths);
  std::vector<TraceFile> files;
  for (const std::string& path : paths)
    files.push_back(read_trace(path, apps::read_file(path), salvage));
  return job_of(std::move(files));
}

}  // namespace tutti::tool
