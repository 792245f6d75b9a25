#include "lib/watch/bits_juries.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <utility>

#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"
#include "lib/watch/bits/verdict.hpp"
#include "lib/watch/log.hpp"
#include "lib/watch/records/text.hpp"

namespace tutti::detail {
namespace {

using mpi::api;
using mpi::check;

/// Ranks may enter MPI_Finalize at different times; only the verdict over all ranks is lost if one is later than that.
constexpr std::chrono::seconds patience_at_the_end{60};

/// What a rank tells the first rank of a jury, before its differences.
struct Told {
  std::uint64_t calls = 0, differing = 0, not_compared = 0, missed = 0, differences = 0;
  std::int32_t rank = 0;
  std::uint8_t is_partial = 0;       ///< Calls of this rank were left out.
  std::uint8_t has_larger_jury = 0;  ///< It tells all of this to a larger jury, too.
};

Told told_of(const RankFindings& findings) {
  const bits::Counts& counts = findings.comparison.counts();
  return {.calls = counts.calls,
          .differing = counts.differing,
          .not_compared = counts.unhashed + counts.forgotten + counts.beyond,
          .missed = findings.missed,
          .differences = findings.comparison.first_on_each().size(),
          .rank = mpi::rank_in(MPI_COMM_WORLD),
          .is_partial = static_cast<std::uint8_t>(findings.is_damaged || counts.forgotten + counts.beyond > 0)};
}

std::vector<ToldDifference> differences_of(const bits::Comparison& comparison) {
  std::vector<ToldDifference> all;
  for (const auto& [key, found] : comparison.first_on_each()) {
    const bits::RankDifference difference = bits::difference_of(mpi::rank_in(MPI_COMM_WORLD), found);
    ToldDifference& told = all.emplace_back();
    told.communicator = difference.key.communicator;
    told.number = difference.key.number;
    told.rank = difference.rank;
    told.size = found.communicator.size;
    told.are_messages = difference.key.are_messages ? 1 : 0;
    told.what = static_cast<std::uint8_t>(difference.what);
    told.results_too = difference.results_too ? 1 : 0;
    difference.where.copy(told.where.data(), told.where.size() - 1);
  }
  return all;
}

/// Whether the request is over in time; else it is withdrawn.
bool is_over(MPI_Request& request, bool is_receive) {
  const auto end = std::chrono::steady_clock::now() + patience_at_the_end;
  for (int flag = 0;;) {
    check(api.Test(&request, &flag, MPI_STATUS_IGNORE), "MPI_Test");
    if (flag != 0) return true;
    if (std::chrono::steady_clock::now() > end) break;
    ::sched_yield();
  }
  if (is_receive) {
    check(api.Cancel(&request), "MPI_Cancel");
    check(api.Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
  } else {
    check(api.Request_free(&request), "MPI_Request_free");  // MPI has a copy of so few bytes
  }
  return false;
}

std::string verdict_of(const std::vector<Told>& all, const std::vector<ToldDifference>& found,
                       const std::string& folder) {
  Told sum;
  std::vector<int> not_compared;
  for (const Told& each : all) {
    sum.calls += each.calls;
    sum.differing += each.differing;
    sum.not_compared += each.not_compared;
    sum.missed += each.missed;
    if (each.is_partial != 0) not_compared.push_back(each.rank);
  }
  std::vector<bits::RankDifference> differences;
  for (const ToldDifference& each : found)
    if (each.size <= static_cast<std::int32_t>(all.size()))  // others have ranks that this jury does not hear
      differences.push_back({.rank = each.rank,
                             .key = {each.communicator, each.number, each.are_messages != 0, false},
                             .what = static_cast<bits::Difference>(each.what),
                             .results_too = each.results_too != 0,
                             .where = each.where.data()});
  const std::string notes =
      (not_compared.empty() ? ""
                            : fmt::format("; not all calls of rank{} {} were compared",
                                          not_compared.size() == 1 ? "" : "s", records::ranks_in_words(not_compared))) +
      (sum.not_compared > 0 ? fmt::format("; {} calls were not compared", sum.not_compared) : "") +
      (sum.missed > 0 ? fmt::format("; {} calls of the record were not made", sum.missed) : "");
  const std::string of_ranks = fmt::format("{} rank{}", all.size(), all.size() == 1 ? "" : "s");
  if (sum.differing == 0)
    return fmt::format("bits: no difference in {} calls of {} from the record in '{}'{}", sum.calls, of_ranks, folder,
                       notes);
  std::string text = fmt::format("bits: {} of {} calls of {} differ from the record in '{}'{}", sum.differing,
                                 sum.calls, of_ranks, folder, notes);
  for (const bits::Verdict& verdict : bits::verdicts_of(std::move(differences)))
    text += fmt::format("\nbits: the first of all ranks: {}", bits::in_words(verdict, not_compared));
  return text;
}

}  // namespace

void BitsJuries::add(MPI_Comm comm) {
  const int size = mpi::ranks_in(comm);
  int is_larger = juries_.empty() || mpi::ranks_in(juries_.back().get()) < size ? 1 : 0;
  check(api.Allreduce(MPI_IN_PLACE, &is_larger, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  if (is_larger != 0) juries_.push_back(mpi::with_same_ranks(comm));
}

void BitsJuries::tell(const RankFindings& findings) {
  const std::vector<mpi::UniqueComm> juries = std::move(juries_);
  for (std::size_t i = 0; i < juries.size(); ++i)
    tell_jury(juries[i], i + 1 < juries.size(), findings);
}

/// The first rank hears all others. A jury all of whose ranks are in larger ones, too, leaves the verdict to these.
void BitsJuries::tell_jury(const mpi::UniqueComm& jury, bool has_larger, const RankFindings& findings) {
  const int me = mpi::rank_in(jury.get()), size = mpi::ranks_in(jury.get());
  std::vector<Told> all{told_of(findings)};
  all.front().has_larger_jury = has_larger ? 1 : 0;
  std::vector<ToldDifference> found = differences_of(findings.comparison);
  const auto bytes_of = [](std::size_t count) { return static_cast<int>(count * sizeof(ToldDifference)); };
  MPI_Request request = MPI_REQUEST_NULL;
  if (me > 0) {
    check(api.Isend(all.data(), sizeof(Told), MPI_BYTE, 0, 0, jury.get(), &request), "MPI_Isend");
    if (!is_over(request, false) || found.empty()) return;
    check(api.Isend(found.data(), bytes_of(found.size()), MPI_BYTE, 0, 0, jury.get(), &request), "MPI_Isend");
    if (!is_over(request, false)) unsent_.push_back(std::move(found));
    return;
  }
  for (int rank = 1; rank < size; ++rank) {
    Told& its = all.emplace_back();
    check(api.Irecv(&its, sizeof(Told), MPI_BYTE, rank, 0, jury.get(), &request), "MPI_Irecv");
    bool is_there = is_over(request, true);
    if (is_there && its.differences > 0) {
      const std::size_t before = found.size();
      found.resize(before + its.differences);
      check(api.Irecv(found.data() + before, bytes_of(its.differences), MPI_BYTE, rank, 0, jury.get(), &request),
            "MPI_Irecv");
      is_there = is_over(request, true);
    }
    if (is_there) continue;
    return log::report("", fmt::format("bits: rank {} did not come to MPI_Finalize in time: there is no verdict over "
                                       "all ranks",
                                       rank));
  }
  if (!std::ranges::all_of(all, [](const Told& each) { return each.has_larger_jury != 0; }))
    log::report("", verdict_of(all, found, findings.folder));
}

}  // namespace tutti::detail
