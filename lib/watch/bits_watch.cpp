#include "lib/watch/bits_watch.hpp"

#include <fmt/format.h>
#include <unistd.h>

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
#include "tutti/error.hpp"
#include "tutti/version.hpp"

namespace tutti::detail {
namespace {

using mpi::api;
using mpi::check;

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

}  // namespace

void BitsWatch::start(MPI_Comm comm, const BitsFiles& files, const std::function<void()>& begin_others) {
  if (files.empty()) return begin_others();
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
    try {
      begin_others();
    } catch (...) {
      if (!was_on) withdraw();
      throw;
    }
    if (!was_on && writer_ != nullptr) attempt([this] { writer_->begin(); });
    objection = first_objection(comm, rank, why);
  }
  if (!objection.empty()) {
    if (!was_on) withdraw();
    // A rank may end the job next: not before all files are gone.
    check(api.Barrier(comm), "MPI_Barrier");
    throw ArgumentError(
        fmt::format("tutti::Communicator: environment variable TUTTI_BITS is '{}', but {}; allowed: record:DIR with a "
                    "folder in which every rank can write a file, compare:DIR with the record of a run with as many "
                    "ranks; the same on all ranks, in all of their communicators",
                    to_text(files), objection));
  }
  files_ = files;
  if (!files.compare.empty()) juries_.add(comm);
}

void BitsWatch::withdraw() noexcept {
  if (writer_ != nullptr) writer_->withdraw();
  writer_.reset();
  comparison_.reset();
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
    if (comparison_ == nullptr) return;
    tell_own_end();
    juries_.tell({.comparison = *comparison_, .folder = compared_, .missed = missed_, .is_damaged = is_damaged_});
  } catch (const std::exception& error) {
    log::report("", fmt::format("bits: the comparison was not told to its end: {}", error.what()));
  }
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

}  // namespace tutti::detail
