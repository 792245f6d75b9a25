#pragma once
// The compiled plans of all ranks for one problem, and the form in which the checker of schedules proves them.

#include <cstdint>
#include <span>
#include <vector>

#include "lib/core/plan/shared_plan.hpp"
#include "lib/device/staging/stage.hpp"
#include "lib/proof/checker/problems.hpp"

namespace tutti::checker {

/// The devices that hold a rank's buffers, and how their data travel.
struct DeviceUse {
  device::BufferDevices places{};
  device::StagingUse staging = device::StagingUse::automatic;
  device::Ways ways{};
};

/// A problem, the algorithm that solves it, and where its ranks are.
struct PlanCase {
  Choice choice{};
  Case what{};
  std::vector<int> nodes{};          ///< By rank: ranks of one node share memory. Empty: all do.
  std::vector<DeviceUse> devices{};  ///< By rank. Empty: all buffers are in the hosts' memory.
};

class Plans {
 public:
  /// Compiles the plan of each rank. `memory`: as on one node, but for the ranks that it reaches. Elements have 8
  /// bytes. Throws Fault if the algorithm's exchange of sizes is not right, or if a plan breaks a rule of shared memory
  /// (path_rules.hpp): that of a device before its data are staged.
  Plans(const PlanCase& what, const shm::SharedMemory& memory);

  [[nodiscard]] int size() const { return static_cast<int>(plans_.size()); }
  [[nodiscard]] const Problems& problems() const { return problems_; }
  [[nodiscard]] const shm::SharedPlan& of(Rank rank) const { return plans_[static_cast<std::size_t>(rank.value())]; }
  [[nodiscard]] std::span<const shm::SharedPlan> all() const { return plans_; }
  /// The plan of a rank, for mutants to change.
  [[nodiscard]] shm::SharedPlan& of(Rank rank) { return plans_[static_cast<std::size_t>(rank.value())]; }
  /// The memory that a rank shares with others.
  [[nodiscard]] shm::SharedMemory memory_of(Rank rank) const;

 private:
  Problems problems_;
  shm::SharedMemory memory_;
  std::vector<std::vector<std::uint8_t>> reaches_;
  std::vector<shm::SharedPlan> plans_;
};

/// The plan with its steps numbered so that each waits for earlier ones only, as in schedules. New steps of staged
/// plans stand behind the others.
[[nodiscard]] shm::SharedPlan renumbered(const shm::SharedPlan& plan);

/// A region of a plan's buffer in elements; the staging buffer counts as scratch, behind the plan's own. Throws Fault
/// unless its bytes are whole elements.
[[nodiscard]] Region region_of(const CompiledPlan& plan, Buffer buffer, std::int64_t at, std::int64_t bytes);

/// The plans as schedules, one step each, in which no message shares, forwards or joins anything, and copies from
/// devices and back are copies. Throws Fault where a plan's counters and lists of dependencies contradict each other.
[[nodiscard]] RankSchedules schedules_of(const Plans& plans);

}  // namespace tutti::checker
