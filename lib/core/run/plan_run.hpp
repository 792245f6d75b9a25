#pragma once
// What an operation runs: its plan, or, where ranks tell each other sizes first, that exchange and then the plan for
// the sizes.

#include <cstddef>
#include <memory>
#include <vector>

#include "lib/core/communicator/workspace.hpp"
#include "lib/core/run/prepared_plan.hpp"
#include "lib/core/run/run.hpp"
#include "lib/device/call/run_memory.hpp"

namespace tutti::detail {

class PlanRun {
 public:
  /// `traced`: in whose trace its steps are recorded; nullptr: in none. All have to outlive it.
  PlanRun(Workspace& workspace, const PreparedPlan& plan, trace::Subject* traced);
  PlanRun(const PlanRun&) = delete;
  PlanRun& operator=(const PlanRun&) = delete;
  ~PlanRun();

  [[nodiscard]] Run* operator->() const { return current_; }
  [[nodiscard]] Run& first() const { return *first_; }
  /// The plan of the current run.
  [[nodiscard]] const shm::SharedPlan& plan() const {
    return current_ == first_.get() ? plan_.compiled() : learned_->plan;
  }
  /// Takes memory, if the buffers are on a device. Throws as RunMemory::take().
  void bind(const void* input, void* output);
  /// Goes back to the first run.
  void rewind() { current_ = first_.get(); }
  /// Whether the data still have to be moved, once the current run is over.
  [[nodiscard]] bool only_exchanges() const { return plan_.exchanges() && current_ == first_.get(); }
  /// The sizes are known: the current run becomes that of the schedule proper, bound to these buffers.
  void learn(const void* input, void* output);
  /// Withdraws the messages of the current run. `has_failed`: an MPI or a network may not be done with them.
  void abandon(bool has_failed) noexcept;
  [[nodiscard]] bool has_memory() const { return memory_.is_taken(); }
  void give_memory_back() noexcept { memory_.give_back(workspace_.staging_memory()); }

 private:
  /// The schedule proper of a plan that exchanges sizes first; kept as long as the sizes stay the same.
  struct Learned {
    std::vector<Count> sizes;
    shm::SharedPlan plan;
    std::unique_ptr<Run> run;
  };

  Workspace& workspace_;
  const PreparedPlan& plan_;
  trace::Subject* traced_;
  std::unique_ptr<Run> first_;
  std::vector<Count> sizes_{};  ///< Where an exchange writes.
  std::unique_ptr<Learned> learned_{};
  RunMemory memory_{};          ///< The memory of the run that moves the data.
  Run* current_;                ///< The first one, or that of `learned_`.
  bool keeps_scratch_ = false;  ///< After a failure: the runs are never destroyed.
};

}  // namespace tutti::detail
