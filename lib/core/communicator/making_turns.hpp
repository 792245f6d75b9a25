#pragma once
// Which communicator a process makes next, where its threads make several at the same time.

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include "lib/core/communicator/carrier.hpp"
#include "lib/core/run/progress.hpp"

namespace tutti::detail {

/// Making a communicator takes several collective steps, in which a process may have no other under way. Ranks agree on
/// whose turn it is: each communicator has a number, and each process gives the turn to the lowest of those that its
/// threads wait to make. If all ranks of one have given it the turn, it is made; else they take the turn back and ask
/// again. The lowest number that any process waits for is therefore made next.
class MakingTurns {
 public:
  /// Held from the agreement of all ranks of a communicator until it is made.
  struct Turn {
    struct Return {
      void operator()(bool* is_taken) const { *is_taken = false; }
    };
    mpi::FreeContexts free_contexts{};  ///< The contexts that all ranks offered.
    std::unique_ptr<bool, Return> taken;
  };

  /// What a rank says before its turn.
  struct Offer {
    bool has_carrier = false;  ///< Its carrier has all ranks of the communicator.
    const mpi::FreeContexts* free_contexts = nullptr;
    std::string objection{};  ///< Why it cannot take part; empty: it can.
  };

  /// Collective over `comm`; other threads may enter the library meanwhile. `has_carrier` becomes that of all ranks.
  /// `look()` is called now and then. When it returns, all ranks are here. Throws ArgumentError on all of them, with
  /// the objection of the first that has one.
  [[nodiscard]] Turn wait_for(MPI_Comm comm, Offer& offer, Progress& progress, Progress::Entry& entry,
                              const std::function<void()>& look);

 private:
  std::multiset<std::int64_t> waiting_;  ///< The numbers of those that this process waits to make.
  std::int64_t made_ = 0;                ///< Numbers that this process has given.
  bool is_taken_ = false;
};

}  // namespace tutti::detail
