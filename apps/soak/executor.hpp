#pragma once
// The calls of one thread of a rank: makes them, and compares their results.

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "apps/soak/communicators.hpp"
#include "apps/soak/figures.hpp"
#include "apps/soak/memory.hpp"
#include "apps/soak/watchdog.hpp"

namespace tutti::soak {

/// Faults made on purpose, in calls of these numbers or the first later ones that allow them. Negative: none.
struct Faults {
  std::int64_t spoil = -1;  ///< A byte of a result is changed.
  std::int64_t hang = -1;   ///< The rank stops before it.
};

/// One thread's steps.
class Executor {
 public:
  /// Called for each wrong result with the number of the call and a description.
  using Report = std::function<void(std::int64_t, const std::string&)>;
  /// `asks_mpi`: MPI's calls may come between the steps.
  Executor(MemoryPool& pool, Position& position, bool asks_mpi, Faults faults, Report report)
      : pool_(pool), position_(position), asks_mpi_(asks_mpi), faults_(faults), report_(std::move(report)) {}

  /// All repetitions of a step. Errors: those of Tutti's calls, after which communicators are of no use.
  void run(const Step& step, const Communicators& on);
  [[nodiscard]] const Tally& tally() const { return tally_; }

 private:
  class Flight;
  void start(const Step& step, int repetition, std::vector<Flight>& flights);
  void wait(const Step& step, int repetition, std::vector<Flight>& flights);
  void compare(Flight& flight, int repetition, std::int64_t number);

  MemoryPool& pool_;
  Position& position_;
  bool asks_mpi_;
  Faults faults_;
  Report report_;
  Tally tally_;
};

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
