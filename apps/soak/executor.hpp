#pragma once
// Makes the calls of steps and compares their results.

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "apps/soak/communicators.hpp"
#include "apps/soak/memory.hpp"
#include "apps/soak/watchdog.hpp"

namespace tutti::soak {

/// The calls of one name.
struct CallTally {
  std::int64_t calls = 0;  ///< Counted on the first rank of each communicator.
  std::int64_t bytes = 0;  ///< Of the results on this rank.
};

/// The work of a rank.
struct Tally {
  std::array<CallTally, name_count> of_names{};  ///< In the order of call_names().
  std::int64_t wrong = 0;                        ///< Results on this rank.
  Tally& operator+=(const Tally& other);
};

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

}  // namespace tutti::soak
