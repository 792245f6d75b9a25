#include "apps/tutti/bits_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <numeric>
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
  void leave_out(int rank, const std::string& why);
  void sort_out();
  [[nodiscard]] std::vector<std::size_t> order_on(int rank, const std::vector<Verdict>& verdicts) const;
  [[nodiscard]] std::vector<std::size_t> before(const std::vector<Verdict>& verdicts) const;

  Job a_, b_;
  ComparedJobs jobs_{};
  std::map<int, std::map<bits::Key, Found>> found_{};  ///< By rank, and by communicator.
};

bool Comparing::has_both(int rank) {
  const bool in_a = a_.files.contains(rank), in_b = b_.files.contains(rank);
  if (in_a && in_b) return true;
  const std::string where = in_a   ? fmt::format("'{}'", b_.folder)
                            : in_b ? fmt::format("'{}'", a_.folder)
                                   : std::string{"either folder"};
  leave_out(rank, fmt::format("rank {} has no record in {}", rank, where));
  return false;
}

void Comparing::leave_out(int rank, const std::string& why) {
  jobs_.notes.push_back(why);
  if (jobs_.not_compared.empty() || jobs_.not_compared.back() != rank) jobs_.not_compared.push_back(rank);
}

void Comparing::compare_rank(int rank) {
  ++jobs_.ranks;
  bits::Comparison comparison{a_.files.at(rank), sides_of_jobs};
  Reader second{b_.files.at(rank)};
  try {
    read_through(comparison, second);
    note_end(rank, comparison, second);
  } catch (const bits::FileError& error) {
    leave_out(rank, fmt::format("rank {}: {}; its calls from there on were not compared", rank, error.what()));
  }
  const bits::Counts& counts = comparison.counts();
  jobs_.counts.calls += counts.calls;
  jobs_.counts.differing += counts.differing;
  jobs_.counts.unhashed += counts.unhashed;
  jobs_.counts.forgotten += counts.forgotten;
  jobs_.counts.beyond += counts.beyond;
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
  const bits::Counts& counts = comparison.counts();
  const auto note_early_end = [&](const std::string& path, std::uint64_t calls) {
    const std::string text =
        fmt::format("rank {}: '{}' does not end as the record of a program that has ended", rank, path);
    if (calls == 0) return jobs_.notes.push_back(text);
    leave_out(rank, fmt::format("{}; {} calls of the other run, which may come later, were not compared", text, calls));
  };
  if (!comparison.is_whole()) note_early_end(comparison.record().path(), counts.beyond);
  if (!second.is_closed()) {
    note_early_end(second.path(), missed);
  } else if (missed > 0) {
    jobs_.missed += missed;
    jobs_.notes.push_back(fmt::format("rank {}: A has {} more calls than B", rank, missed));
  }
  if (counts.forgotten > 0)
    leave_out(rank, fmt::format("rank {}: {} calls were too far from their places in A, and were not compared", rank,
                                counts.forgotten));
}

bits::Key key_of_begin(const Found& found) {
  bits::Key key = bits::key_of(found.call, found.communicator);
  key.is_over = false;
  return key;
}

/// Messages are those of one rank alone.
bool is_on(const Verdict& verdict, int rank) {
  const auto has_rank = [rank](const std::vector<int>* ranks) {
    return std::ranges::find(*ranks, rank) != ranks->end();
  };
  const std::array lists{&verdict.inputs, &verdict.results, &verdict.mismatches, &verdict.missing};
  return !verdict.key.are_messages || std::ranges::any_of(lists, has_rank);
}

/// The calls of verdicts that a rank made, in the order in which it made them.
std::vector<std::size_t> Comparing::order_on(int rank, const std::vector<Verdict>& verdicts) const {
  std::multimap<bits::Key, std::size_t> of_key;
  for (std::size_t i = 0; i < verdicts.size(); ++i)
    if (is_on(verdicts[i], rank)) of_key.emplace(verdicts[i].key, i);
  std::vector<std::size_t> order;
  try {
    Reader reader{b_.files.at(rank)};
    while (const std::optional<StoredCall> call = reader.next()) {
      const auto [begin, end] =
          of_key.equal_range(key_of(call->record, reader.communicators()[call->record.communicator]));
      for (auto each = begin; each != end; ++each)
        order.push_back(each->second);
    }
  } catch (const bits::FileError&) {  // what stands before the damage counts
  }
  return order;
}

/// For each of them how many others a rank made before it, at most.
std::vector<std::size_t> Comparing::before(const std::vector<Verdict>& verdicts) const {
  std::vector<std::size_t> before(verdicts.size());
  if (verdicts.size() < 2) return before;
  for (const auto& [rank, found] : found_) {
    const std::vector<std::size_t> order = order_on(rank, verdicts);
    for (std::size_t place = 0; place < order.size(); ++place)
      before[order[place]] = std::max(before[order[place]], place);
  }
  return before;
}

void Comparing::sort_out() {
  std::vector<bits::RankDifference> differences;
  std::multimap<bits::Key, FirstCall::OnRank> on_ranks;
  for (const auto& [rank, found] : found_)
    for (const auto& [communicator, first] : found) {
      differences.push_back(difference_of(rank, first));
      on_ranks.emplace(key_of_begin(first), FirstCall::OnRank{rank, first});
    }
  const std::vector<Verdict> verdicts = bits::verdicts_of(std::move(differences));
  const std::vector<std::size_t> others = before(verdicts);
  // No order where ranks that disagree make a circle.
  const bool is_circle = std::ranges::find(others, std::size_t{0}) == others.end();
  std::vector<std::size_t> order(verdicts.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // A result may differ because of messages that another rank sent: calls of other inputs come before.
  std::ranges::stable_sort(order, {}, [&](std::size_t i) {
    return std::pair{others[i], bits::is_of_result_alone(verdicts[i])};
  });
  for (const std::size_t i : order) {
    FirstCall call{verdicts[i]};
    const auto [begin, end] = on_ranks.equal_range(verdicts[i].key);
    for (auto each = begin; each != end; ++each)
      if (is_on(verdicts[i], each->second.rank)) call.ranks.push_back(each->second);
    (others[i] > 0 && !is_circle ? jobs_.later : jobs_.first).push_back(std::move(call));
  }
}

}  // namespace

ComparedJobs compare_jobs(const std::string& a, const std::string& b) {
  return Comparing{job_in(a), job_in(b)}.compare();
}

}  // namespace tutti::tool
