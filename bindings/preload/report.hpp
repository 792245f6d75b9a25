#pragma once
// What TUTTI_LOG=info tells at MPI_Finalize: which calls were served, and which were not, and why. With TUTTI_MEASURE=1
// every second blocking call that would be served is passed, and the report tells how long both take. With
// TUTTI_BITS=fixed, rank 0 names the reductions that were passed, whose order is MPI's.

#include <chrono>
#include <cstdint>

#include "bindings/preload/functions.hpp"
#include "bindings/preload/job.hpp"

namespace tutti::interpose {

/// How a program calls a collective.
enum class Form : std::uint8_t { blocking, nonblocking, persistent };

/// Collective over MPI_COMM_WORLD: as rank 0's environment has it. `has_fixed_bits`: of all ranks; then the end tells
/// which reductions were passed.
void begin_report(bool has_fixed_bits);
[[nodiscard]] bool is_measuring();
/// Adds up the calls of all ranks, and prints them on rank 0. Collective over MPI_COMM_WORLD.
void print_report();

/// One call: noted when it ends. Does nothing, and takes no time, unless there will be a report.
class Note {
 public:
  Note(Form form, Function function);
  Note(const Note&) = delete;
  Note& operator=(const Note&) = delete;
  ~Note();
  void served(const Job& job) {
    why_ = Why::served;
    if (is_wanted_) bytes_ = job.own_bytes();
  }
  /// To be called before a call is passed, which this then outlives.
  void measured() { why_ = Why::measured; }
  void passed(Why why) { why_ = why; }

 private:
  bool is_wanted_;
  std::chrono::steady_clock::time_point begin_{};
  Form form_;
  Function function_;
  Why why_ = Why::arguments;
  std::int64_t bytes_ = 0;
};

}  // namespace tutti::interpose
