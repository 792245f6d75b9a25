#pragma once
// One thread of a rank: its calls of one round.

#include <cstdint>
#include <memory>

#include "apps/soak/communicators.hpp"
#include "apps/soak/executor.hpp"
#include "apps/soak/figures.hpp"

namespace tutti::soak {

/// The numbers of the calls that are made; a step is made as a whole or not at all.
struct CallRange {
  std::int64_t first = 0, end = 0;
};

class Worker {
 public:
  /// Called with each step before it is made; may be empty.
  using Listener = std::function<void(const Step&)>;
  /// Collective over MPI_COMM_WORLD. The arguments must outlive it.
  Worker(const Repertoire& repertoire, CommunicatorSource source, std::unique_ptr<MemoryPool> pool, Position& position,
         Faults faults, Executor::Report report);

  /// Before the threads of a round start.
  void prepare(std::int64_t round);
  /// The calls of the round that are in the range. Errors: those of Tutti's calls.
  void run(std::int64_t round, const CallRange& range, const Listener& listener);
  /// Closes the communicators and frees the memory of calls. The messages are added to `figures`.
  void finish(RankFigures& figures);
  [[nodiscard]] const Tally& tally() const { return executor_.tally(); }

 private:
  CommunicatorSource source_;
  mpi::UniqueComm world_;
  Generator generator_;
  std::unique_ptr<MemoryPool> pool_;
  Executor executor_;
  Communicators communicators_;
};

}  // namespace tutti::soak
