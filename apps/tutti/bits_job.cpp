#include "apps/tutti/bits_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <optional>
#include <system_error>
#include <utility>

#include "apps/options.hpp"

namespace tutti::tool {
namespace {

using apps::InputError;
using bits::Found;
using bits::Reader;
using bits::StoredCall;
using bits::Verdict;

/// The file of each rank that has one.
struct Job {
  std::string folder;
  int ranks = 0;
  std::map<int, std::string> files{};
};

Job job_in(const std::string& folder) {
  Job job{folder};
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator{folder, error}) {
    if (entry.path().extension() != bits::file_suffix) continue;
    try {
      const Reader reader{entry.path()};
      if (job.ranks == 0) job.ranks = reader.header().ranks;
      if (!job.files.emplace(reader.header().rank, entry.path()).second || job.ranks != reader.header().ranks)
        throw InputError(fmt::format("the folder '{}' has records of several runs: '{}' is of rank {} of {}", folder,
                                     entry.path().string(), reader.header().rank, reader.header().ranks));
    } catch (const bits::FileError& damage) {
      throw InputError(damage.what());
    }
  }
  if (error) throw InputError(fmt::format("cannot read the folder '{}': {}", folder, error.message()));
  if (job.files.empty())
    throw InputError(
        fmt::format("the folder '{}' has no record (*{}), which TUTTI_BITS=record:{} would have ranks write", folder,
                    bits::file_suffix, folder));
  return job;
}

class Comparing {
 public:
  Comparing(Job a, Job b) : a_(std::move(a)), b_(std::move(b)) {}

  ComparedJobs compare() {
    if (a_.ranks != b_.ranks)
      throw InputError(fmt::format("'{}' is the record of {} ranks, and '{}' of {}: their calls do not correspond",
                                   a_.folder, a_.ranks, b_.folder, b_.ranks));
    for (int rank = 0; rank < a_.ranks; ++rank)
      if (has_both(rank)) compare_rank(rank);
    sort_out();
    return std::move(jobs_);
  }

 private:
  [[nodiscard]] bool has_both(int rank);
  void compare_rank(int rank);
  void read_through(bits::Comparison& comparison, Reader& second);
  void note_end(int rank, bits::Comparison& comparison, const Reader& second);
  void damage(int rank, const bits::FileError& error);
  void sort_out();
  [[nodiscard]] std::map<bits::Key, std::uint64_t> places_on(int rank, const std::vector<Verdict>& verdicts) const;
  [[nodiscard]] std::vector<bool> preceded(const std::vector<Verdict>& verdicts) const;

  Job a_, b_;
  ComparedJobs jobs_{};
  std::map<int, std::map<std::uint64_t, Found>> found_{};  ///< By rank, and by communicator.
};

bool Comparing::has_both(int rank) {
  const bool in_a = a_.files.contains(rank), in_b = b_.files.contains(rank);
  if (in_a != in_b) {
    jobs_.notes.push_back(fmt::format("rank {} has no record in '{}'", rank, (in_a ? b_ : a_).folder));
    jobs_.is_damaged = true;
  }
  return in_a && in_b;
}

void Comparing::damage(int rank, const bits::FileError& error) {
  jobs_.notes.push_back(fmt::format("rank {}: {}; its calls from there on were not compared", rank, error.what()));
  jobs_.is_damaged = true;
}

void Comparing::compare_rank(int rank) {
  ++jobs_.ranks;
  bits::Comparison comparison{a_.files.at(rank), sides_of_jobs};
  Reader second{b_.files.at(rank)};
  try {
    read_through(comparison, second);
    note_end(rank, comparison, second);
  } catch (const bits::FileError& error) {
    damage(rank, error);
  }
  const bits::Counts& counts = comparison.counts();
  jobs_.counts.calls += counts.calls;
  jobs_.counts.differing += counts.differing;
  jobs_.counts.unhashed += counts.unhashed;
  jobs_.counts.forgotten += counts.forgotten;
  found_[rank] = comparison.first_on_each();
}

void Comparing::read_through(bits::Comparison& comparison, Reader& second) {
  constexpr std::int64_t most = std::int64_t{256} << 10U;  // whole elements of every type
  std::vector<std::byte> room(static_cast<std::size_t>(most));
  while (const std::optional<StoredCall> call = second.next()) {
    const bits::Data data = [&](const bits::TakeData& take) {
      for (std::int64_t at = 0; at < call->record.stored; at += most) {
        const auto bytes = static_cast<std::size_t>(std::min(most, call->record.stored - at));
        second.read_data(*call, at, room.data(), bytes);
        take(room.data(), bytes);
      }
    };
    static_cast<void>(comparison.add(call->record, second.communicators()[call->record.communicator],
                                     call->record.stored > 0 ? data : bits::Data{}));
  }
}

void Comparing::note_end(int rank, bits::Comparison& comparison, const Reader& second) {
  const std::uint64_t missed = comparison.left();
  jobs_.missed += missed;
  if (missed > 0) jobs_.notes.push_back(fmt::format("rank {}: A has {} more calls than B", rank, missed));
  for (const Reader* const reader : {&comparison.record(), &second})
    if (!reader->is_closed())
      jobs_.notes.push_back(
          fmt::format("rank {}: '{}' does not end as the record of a program that has ended", rank, reader->path()));
}

/// The number, among the calls of the rank, of each of these calls that it made.
std::map<bits::Key, std::uint64_t> Comparing::places_on(int rank, const std::vector<Verdict>& verdicts) const {
  std::map<bits::Key, std::uint64_t> places;
  try {
    Reader reader{b_.files.at(rank)};
    while (const std::optional<StoredCall> call = reader.next()) {
      const bits::Key key = key_of(call->record, reader.communicators()[call->record.communicator]);
      const auto is_it = [&](const Verdict& verdict) {
        return verdict.key.communicator == key.communicator && verdict.key.number == key.number &&
               verdict.key.are_messages == key.are_messages;
      };
      if (!key.is_over && std::ranges::any_of(verdicts, is_it)) places[key] = call->record.call;
    }
  } catch (const bits::FileError&) {  // what stands before the damage counts
  }
  return places;
}

/// Messages are those of one rank alone.
bool is_on(const Verdict& verdict, int rank) {
  const auto has_rank = [rank](const std::vector<int>* ranks) {
    return std::ranges::find(*ranks, rank) != ranks->end();
  };
  const std::array lists{&verdict.inputs, &verdict.results, &verdict.mismatches, &verdict.missing};
  return !verdict.key.are_messages || std::ranges::any_of(lists, has_rank);
}

/// For each of them whether a rank made another of them before.
std::vector<bool> Comparing::preceded(const std::vector<Verdict>& verdicts) const {
  std::vector<bool> preceded(verdicts.size());
  if (verdicts.size() < 2) return preceded;
  for (const auto& [rank, found] : found_) {
    const auto places = places_on(rank, verdicts);
    const auto place_of = [&, rank = rank](const Verdict& verdict) {
      const auto place = places.find({verdict.key.communicator, verdict.key.number, verdict.key.are_messages, false});
      return place == places.end() || !is_on(verdict, rank) ? std::uint64_t{0} : place->second;
    };
    for (std::size_t i = 0; i < verdicts.size(); ++i)
      for (const Verdict& other : verdicts)
        if (place_of(other) > 0 && place_of(other) < place_of(verdicts[i])) preceded[i] = true;
  }
  return preceded;
}

void Comparing::sort_out() {
  std::vector<bits::RankDifference> differences;
  for (const auto& [rank, found] : found_)
    for (const auto& [communicator, first] : found)
      differences.push_back(difference_of(rank, first));
  const std::vector<Verdict> verdicts = bits::verdicts_of(std::move(differences));
  std::vector<bool> are_later = preceded(verdicts);
  // No order where ranks that disagree make a circle.
  if (std::ranges::all_of(are_later, std::identity{})) are_later.assign(verdicts.size(), false);
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    FirstCall call{verdicts[i]};
    for (const auto& [rank, found] : found_)
      for (const auto& [communicator, first] : found)
        if (difference_of(rank, first).key == verdicts[i].key && is_on(verdicts[i], rank))
          call.ranks.push_back({rank, first});
    (are_later[i] ? jobs_.later : jobs_.first).push_back(std::move(call));
  }
}

}  // namespace

ComparedJobs compare_jobs(const std::string& a, const std::string& b) {
  return Comparing{job_in(a), job_in(b)}.compare();
}

}  // namespace tutti::tool
