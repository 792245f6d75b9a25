#include "lib/core/communicator/making_turns.hpp"

#include <array>
#include <limits>
#include <random>

#include "lib/core/communicator/objection.hpp"
#include "lib/core/transport/mpi/api.hpp"
#include "lib/core/transport/mpi/check.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

/// Tells the numbers of this process from those of others.
std::int64_t own_part() {
  static const std::int64_t part = std::int64_t{std::random_device{}() & std::numeric_limits<std::uint32_t>::max()};
  return part;
}

/// The number of one that waits.
struct Registered {
  std::multiset<std::int64_t>& all;
  std::multiset<std::int64_t>::iterator number;
  ~Registered() { all.erase(number); }
};

}  // namespace

MakingTurns::Turn MakingTurns::wait_for(MPI_Comm comm, Offer& offer, Progress& progress, Progress::Entry& entry,
                                        const std::function<void()>& look) {
  constexpr int bits_of_own_part = 32;
  const int rank = mpi::rank_in(comm);
  MPI_Request agreed = MPI_REQUEST_NULL;
  // The number that rank 0 gives, whether all have a carrier, and whether none objects.
  std::array<std::int64_t, 3> least{std::numeric_limits<std::int64_t>::max(), offer.has_carrier ? 1 : 0,
                                    offer.objection.empty() ? 1 : 0};
  if (rank == 0) least[0] = (++made_ << bits_of_own_part) + own_part();
  mpi::check(mpi::api.Iallreduce(MPI_IN_PLACE, least.data(), least.size(), MPI_INT64_T, MPI_MIN, comm, &agreed),
             "MPI_Iallreduce");
  progress.wait(agreed, entry, look);
  if (least[2] == 0) throw ArgumentError("tutti::Communicator: " + first_objection(comm, rank, offer.objection));
  offer.has_carrier = least[1] != 0;
  const Registered mine{waiting_, waiting_.insert(least[0])};
  for (;;) {
    struct {
      std::uint64_t has_turn = 0;  // all bits, or none
      mpi::FreeContexts free{};
    } said;
    Turn turn;
    if (!is_taken_ && *mine.number == *waiting_.begin()) {
      turn.taken.reset(&is_taken_);
      is_taken_ = true;
      said.has_turn = ~std::uint64_t{0};
      if (offer.free_contexts != nullptr) said.free = *offer.free_contexts;
    }
    mpi::check(mpi::api.Iallreduce(MPI_IN_PLACE, &said, sizeof said / sizeof said.has_turn, MPI_UINT64_T, MPI_BAND,
                                   comm, &agreed),
               "MPI_Iallreduce");
    progress.wait(agreed, entry, look);
    if (said.has_turn != 0) {
      turn.free_contexts = said.free;
      return turn;
    }
    turn.taken.reset();
    entry.pause();
  }
}

}  // namespace tutti::detail
