#include "apps/tutti/trace_job.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
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
      communicator.members[record.rank] = {static_cast<int>(file), record.node};
      own.push_back(entry->second);
    }
  }
}

// ---- clocks ---------------------------------------------------------------------------------------------------------

void align_clocks(TracedJob& job) {
  const ClockAlignment alignment{job.files};
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
  RecordIndex record;
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
    job.flows.push_back({send.record, recv->record});
    ++recv;
  }
  job.unmatched = sends.size() + recvs.size() - 2 * job.flows.size();
}

// ---- collectives --------------------------------------------------------------------------------------------------

void find_instances(TracedJob& job) {
  std::map<std::tuple<int, bool, std::uint64_t>, std::vector<RecordIndex>> all;
  for (std::uint32_t file = 0; file < job.files.size(); ++file) {
    const TraceFile& own = job.files[file];
    for (std::uint32_t i = 0; i < own.operations.size(); ++i) {
      const trace::BeginRecord& begun = own.operations[i].begun;
      if (own.operations[i].is_pairwise()) continue;
      const int communicator = job.communicator_of[file][begun.communicator];
      all[{communicator, begun.start == trace::Start::program, begun.sequence}].push_back({file, i});
    }
  }
  for (auto& [key, records] : all) {
    const auto [communicator, is_program, sequence] = key;
    ++job.communicators[static_cast<std::size_t>(communicator)].operations;
    job.instances.push_back({communicator, sequence, is_program, std::move(records)});
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

const TracedCommunicator& TracedJob::communicator(std::uint32_t file, std::uint64_t operation) const {
  const std::uint32_t number = files[file].operations[operation - 1].begun.communicator;
  return communicators[static_cast<std::size_t>(communicator_of[file][number])];
}

int TracedJob::file_of(std::uint32_t file, std::uint64_t operation, int peer) const {
  const auto& members = communicator(file, operation).members;
  const auto found = members.find(peer);
  return found == members.end() ? -1 : found->second.file;
}

int TracedJob::world_rank(std::uint32_t file, std::uint64_t operation, int peer) const {
  const int its = file_of(file, operation, peer);
  return its < 0 ? -1 : files[static_cast<std::size_t>(its)].rank;
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
  files.reserve(paths.size());
  for (const std::string& path : paths)
    files.push_back(read_trace(path, apps::read_file(path), salvage));
  return job_of(std::move(files));
}

}  // namespace tutti::tool
