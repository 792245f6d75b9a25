#pragma once
// Makes the calls of steps and compares their results.

#include <cstdint>
#include <functional>
#include <string>

#include "communicators.hpp"
#include "memory.hpp"
#include "watchdog.hpp"

namespace tutti::differential {

/// How many calls this rank made, and how many results were wrong.
struct Tally {
  std::int64_t calls = 0;
  std::int64_t elements = 0;  ///< Of outputs.
  std::int64_t wrong = 0;     ///< Calls.
  Tally& operator+=(const Tally& other) {
    calls += other.calls, elements += other.elements, wrong += other.wrong;
    return *this;
  }
};

/// One thread's steps.
class Executor {
 public:
  /// Called for each wrong result with its description.
  using Report = std::function<void(const std::string&)>;
  Executor(MemoryPool& pool, Position& position, Report report)
      : pool_(pool), position_(position), report_(std::move(report)) {}

  /// All repetitions of a step. `spoils`: a byte of a result is changed before it is compared.
  /// Errors: those of Tutti's calls, after which communicators are of no use.
  void run(const Step& step, const Communicators& on, bool spoils);
  [[nodiscard]] const Tally& tally() const { return tally_; }

 private:
  class Flight;
  void start(const Step& step, std::vector<Flight>& flights);
  void wait(const Step& step, int repetition, std::vector<Flight>& flights);
  void compare(Flight& flight, int repetition, bool spoils);

  MemoryPool& pool_;
  Position& position_;
  Report report_;
  Tally tally_;
};

}  // namespace tutti::differential
