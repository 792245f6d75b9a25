#include "lib/watch/making_watch.hpp"

#include <vector>

#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"
#include "lib/watch/log.hpp"
#include "lib/watch/records/recorder.hpp"
#include "lib/watch/records/situation.hpp"

namespace tutti::detail {

using records::Situation;

MakingWatch::MakingWatch(MPI_Comm comm, mpi::Carrier* carrier, std::span<const int> ranks)
    : comm_(comm),
      carrier_(carrier),
      ranks_(ranks),
      rank_(mpi::rank_in(comm)),
      size_(mpi::ranks_in(comm)),
      since_(records::coarse_now()),
      hang_(own_hang_settings()) {}

const records::Journal* MakingWatch::journal_of(int rank) const {
  if (carrier_ == nullptr) return nullptr;
  const int local = carrier_->local_of(ranks_[static_cast<std::size_t>(rank)]);
  return local < 0 ? nullptr : carrier_->fabric().journal(local);
}

bool MakingWatch::is_lowest_here() const {
  for (int rank = 0; rank < rank_; ++rank)
    if (const records::Journal* const journal = journal_of(rank); journal != nullptr && is_making(*journal))
      return false;
  return carrier_ != nullptr || rank_ == 0;
}

void MakingWatch::look() {
  constexpr std::int64_t second = 1'000'000'000;
  const std::int64_t now = records::coarse_now(), limit = hang_.hang_seconds * second;
  if (has_reported_ || limit == 0 || now - since_ < limit || !is_lowest_here()) return;
  has_reported_ = true;
  std::vector<Situation> all(static_cast<std::size_t>(size_));
  for (int rank = 0; rank < size_; ++rank)
    if (const records::Journal* const journal = journal_of(rank))
      all[static_cast<std::size_t>(rank)] = making_situation_of(*journal, now);
  log::report("", records::making_report(all, rank_, now - since_));
  if (hang_.hang_action == HangAction::abort) mpi::api.Abort(comm_, 1);
}

}  // namespace tutti::detail
