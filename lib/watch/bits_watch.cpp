#include "lib/watch/bits_watch.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <string_view>
#include <utility>

#include "lib/core/communicator/objection.hpp"
#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"
#include "lib/watch/bits/verdict.hpp"
#include "lib/watch/log.hpp"
#include "lib/watch/records/text.hpp"
#include "tutti/error.hpp"
#include "tutti/version.hpp"

namespace tutti::detail {
namespace {

using mpi::api;
using mpi::check;

/// Ranks may enter MPI_Finalize at different times; only the verdict over all ranks is lost if one is later than that.
constexpr std::chrono::seconds patience_at_the_end{60};

int world_rank() { return mpi::rank_in(MPI_COMM_WORLD); }
int world_size() { return mpi::ranks_in(MPI_COMM_WORLD); }

bits::FileHeader header_of_this_process(std::int64_t deep) {
  using std::chrono::system_clock;
  bits::FileHeader header;
  header.rank = world_rank();
  header.ranks = world_size();
  header.process = ::getpid();
  header.opened_at_utc =
      std::chrono::duration_cast<std::chrono::nanoseconds>(system_clock::now().time_since_epoch()).count();
  header.deep = deep;
  std::string_view{TUTTI_VERSION}.copy(header.tutti.data(), header.tutti.size() - 1);
  ::gethostname(header.host.data(), header.host.size() - 1);
  return header;
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

}  // namespace

void BitsWatch::start(MPI_Comm comm, const BitsFiles& files) {
  if (files.empty()) return;
  const int rank = mpi::rank_in(comm);
  const bool was_on = is_on();
  std::string why;
  const auto attempt = [&why](const auto& action) {
    try {
      action();
    } catch (const std::exception& error) {
      why = error.what();
    }
  };
  if (was_on && files_ != files)
    why = fmt::format("this process has begun by '{}'", to_text(files_));
  else if (!was_on)
    attempt([&] { open(files); });
  std::string objection = first_objection(comm, rank, why);
  // Older records stay until all ranks know that all can write.
  if (objection.empty()) {
    if (!was_on && writer_ != nullptr) attempt([this] { writer_->begin(); });
    objection = first_objection(comm, rank, why);
  }
  if (!objection.empty()) {
    if (!was_on) {
      if (writer_ != nullptr) writer_->withdraw();
      writer_.reset();
      comparison_.reset();
    }
    // A rank may end the job next: not before all files are gone.
    check(api.Barrier(comm), "MPI_Barrier");
    throw ArgumentError(
        fmt::format("tutti::Communicator: environment variable TUTTI_BITS is '{}', but {}; allowed: record:DIR with a "
                    "folder in which every rank can write a file, compare:DIR with the record of a run with as many "
                    "ranks; the same on all ranks, in all of their communicators",
                    to_text(files), objection));
  }
  files_ = files;
  if (!files.compare.empty()) add_jury(comm);
}

void BitsWatch::open(const BitsFiles& files) {
  if (!files.compare.empty()) open_comparison(files.compare);
  if (files.record.empty()) return;
  writer_ = std::make_unique<bits::Writer>(files.record, header_of_this_process(files.deep));
  const ExclusiveFile& file = writer_->file();
  if (comparison_ != nullptr && comparison_->record().descriptor().is_of_file_of(file.descriptor()))
    throw Error(fmt::format("'{}' would be recorded and compared with at the same time", file.path()));
}

void BitsWatch::open_comparison(const std::string& folder) {
  auto opened = std::make_unique<bits::Comparison>(bits::path_of(folder, world_rank()), bits::Sides{});
  const bits::FileHeader& header = opened->record().header();
  if (header.ranks != world_size() || header.rank != world_rank())
    throw Error(fmt::format("'{}' is the record of rank {} of {}, and this is rank {} of {}", opened->record().path(),
                            header.rank, header.ranks, world_rank(), world_size()));
  comparison_ = std::move(opened);
  compared_ = folder;
}

/// The ranks of a communicator that is larger, for each of them, than all before.
void BitsWatch::add_jury(MPI_Comm comm) {
  const int size = mpi::ranks_in(comm);
  int is_larger = juries_.empty() || mpi::ranks_in(juries_.back().get()) < size ? 1 : 0;
  check(api.Allreduce(MPI_IN_PLACE, &is_larger, 1, MPI_INT, MPI_MIN, comm), "MPI_Allreduce");
  if (is_larger != 0) juries_.push_back(mpi::with_same_ranks(comm));
}

bits::CommunicatorRecord BitsWatch::add(std::uint64_t members, int rank, int size) {
  bits::CommunicatorRecord record;
  record.number = communicators_++;
  record.members = members;
  record.earlier = earlier_[members]++;
  record.rank = rank;
  record.size = size;
  if (writer_ != nullptr) writer_->add(record);
  return record;
}

void BitsWatch::add(bits::CallRecord record, const bits::CommunicatorRecord& communicator, const DataPieces& pieces,
                    const void* base) {
  record.bytes = bytes_of(pieces);
  if (record.hashed == bits::Hashed::yes) hash_data(record, pieces, base);
  if (writer_ != nullptr) write(record, pieces, base);
  if (comparison_ != nullptr && !is_damaged_) compare(record, communicator, pieces, base);
}

void BitsWatch::hash_data(bits::CallRecord& record, const DataPieces& pieces, const void* base) {
  hash_.reset();
  try {
    read_data(pieces, base, room_, [this](const std::byte* data, std::size_t bytes) { hash_.update(data, bytes); });
    record.hash = hash_.value();
  } catch (const Error&) {
    record.hashed = bits::Hashed::unreadable;
  }
}

void BitsWatch::write(bits::CallRecord record, const DataPieces& pieces, const void* base) {
  if (record.hashed == bits::Hashed::yes && writer_->is_deep()) {
    if (writer_->take_room(record.bytes))
      record.stored = record.bytes;
    else
      record.flags |= bits::CallRecord::cut;
  }
  writer_->add(record);
  if (record.stored == 0) return;
  std::int64_t left = record.stored;
  try {
    read_data(pieces, base, room_, [&](const std::byte* data, std::size_t bytes) {
      writer_->append(data, bytes);
      left -= static_cast<std::int64_t>(bytes);
    });
  } catch (const Error&) {  // though the driver copied them a moment ago: zeros, which the hash gives away
    for (constexpr std::byte zero{}; left > 0; --left)
      writer_->append(&zero, 1);
  }
  writer_->pad(record.stored);
}

void BitsWatch::compare(const bits::CallRecord& record, const bits::CommunicatorRecord& communicator,
                        const DataPieces& pieces, const void* base) {
  try {
    const bits::Data data = [&](const bits::TakeData& take) { read_data(pieces, base, room_, take); };
    if (!comparison_->add(record, communicator, data)) return;
    told_call_ = record.call;
    tell(comparison_->in_words(*comparison_->first()));
  } catch (const Error& error) {
    is_damaged_ = true;
    tell(fmt::format("{}; calls from here on are not compared", error.what()));
  }
}

void BitsWatch::tell(const std::string& text) const {
  log::report(fmt::format("rank {}", world_rank()), "bits: " + text);
}

void BitsWatch::finalize() noexcept {
  try {
    if (writer_ != nullptr) writer_->finish();
    if (comparison_ != nullptr) tell_own_end();
    for (std::size_t i = 0; i < juries_.size(); ++i)
      tell_of_jury(juries_[i], i + 1 < juries_.size());
  } catch (const std::exception& error) {
    log::report("", fmt::format("bits: the comparison was not told to its end: {}", error.what()));
  }
  juries_.clear();
}

/// A rank on which nothing differs says nothing.
void BitsWatch::tell_own_end() {
  const bits::Counts& counts = comparison_->counts();
  if (!is_damaged_) {
    try {
      missed_ = comparison_->left();
    } catch (const Error& error) {
      is_damaged_ = true;
      tell(error.what());
    }
  }
  if (!is_damaged_ && !comparison_->is_whole())
    tell(
        fmt::format("'{}' does not end as the record of a program that has ended; {} calls that may come after its end "
                    "were not compared",
                    comparison_->record().path(), counts.beyond));
  if (counts.forgotten > 0)
    tell(fmt::format("{} calls could not be found again, and were not compared", counts.forgotten));
  if (missed_ > 0) tell(fmt::format("the record has {} call{} more than this run", missed_, missed_ == 1 ? "" : "s"));
  if (const bits::Found* const first = comparison_->first(); first != nullptr)
    tell(fmt::format("{} of {} calls differ from the record in '{}'; the first was {}", counts.differing, counts.calls,
                     compared_,
                     first->call.call == told_call_ ? bits::difference_of(world_rank(), *first).where
                                                    : comparison_->in_words(*first)));
}

BitsWatch::Told BitsWatch::told() const {
  const bits::Counts& counts = comparison_->counts();
  return {.calls = counts.calls,
          .differing = counts.differing,
          .not_compared = counts.unhashed + counts.forgotten + counts.beyond,
          .missed = missed_,
          .differences = comparison_->first_on_each().size(),
          .rank = world_rank(),
          .is_partial = static_cast<std::uint8_t>(is_damaged_ || counts.forgotten + counts.beyond > 0)};
}

std::vector<BitsWatch::ToldDifference> BitsWatch::differences() const {
  std::vector<ToldDifference> all;
  for (const auto& [key, found] : comparison_->first_on_each()) {
    const bits::RankDifference difference = bits::difference_of(world_rank(), found);
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

/// The first rank hears all others. A jury all of whose ranks are in larger ones, too, leaves the verdict to these.
void BitsWatch::tell_of_jury(const mpi::UniqueComm& jury, bool has_larger) {
  const int me = mpi::rank_in(jury.get()), size = mpi::ranks_in(jury.get());
  std::vector<Told> all{told()};
  all.front().has_larger_jury = has_larger ? 1 : 0;
  std::vector<ToldDifference> found = differences();
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
    log::report("", verdict_of(all, found));
}

std::string BitsWatch::verdict_of(const std::vector<Told>& all, const std::vector<ToldDifference>& found) const {
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
    return fmt::format("bits: no difference in {} calls of {} from the record in '{}'{}", sum.calls, of_ranks,
                       compared_, notes);
  std::string text = fmt::format("bits: {} of {} calls of {} differ from the record in '{}'{}", sum.differing,
                                 sum.calls, of_ranks, compared_, notes);
  for (const bits::Verdict& verdict : bits::verdicts_of(std::move(differences)))
    text += fmt::format("\nbits: the first of all ranks: {}", bits::in_words(verdict, not_compared));
  return text;
}

}  // namespace tutti::detail
