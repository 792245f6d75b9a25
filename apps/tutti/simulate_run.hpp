#pragma once
// The schedules of one algorithm, simulated on the machine of `tutti simulate`.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/tutti/simulate_settings.hpp"
#include "apps/tutti/site.hpp"
#include "lib/proof/simulator/bound.hpp"
#include "lib/proof/simulator/path.hpp"

namespace tutti::tool {

/// The links of a kind.
struct LinkUse {
  std::string kind, busiest;     ///< "blue", "router 0.0.1 > router 1.0.0"
  double bytes = 0;              ///< Of the busiest link.
  double share = 0, mean = 0;    ///< Of the time in which it, and all links of the kind on average, would be busy.
  std::vector<double> shares{};  ///< Of all of them that lead somewhere, in the topology's order,
  std::vector<int> links{};      ///< which are these links of the machine.
};

/// A step of the critical path for people, or of a picture.
struct ShownStep {
  int rank = 0, peer = -1;  ///< Of a message: from `peer` to `rank`.
  std::string what;         ///< "recv", "send", "reduce", "copy", "start": the wait of a rank that starts late.
  std::int64_t bytes = 0;
  double begin = 0, end = 0;    ///< Microseconds.
  std::vector<double> parts{};  ///< By simulator::Part.
};

/// One algorithm at one size.
struct SimulatedRow {
  std::int64_t bytes = 0;
  std::string name;                            ///< "ring", "auto: rabenseifner"
  std::string why_not{};                       ///< Why it was not simulated; empty: it was.
  double time = 0, bound = 0, contention = 1;  ///< Microseconds.
  std::string bound_reason{};
  std::int64_t messages = 0;
  std::vector<LinkUse> links{};
  std::vector<ShownStep> path{};
  std::vector<double> parts{};     ///< Of the path, by simulator::Part.
  std::vector<ShownStep> steps{};  ///< Of all ranks; only if asked for.
};

/// An algorithm, or the schedules of a file, to be simulated.
struct Candidate {
  std::string name;
  std::optional<Choice> choice{};  ///< "auto": none.
  const ScheduleFile* file = nullptr;
};

class Experiment {
 public:
  /// Both have to outlive it.
  Experiment(const SimulationSettings& settings, const SimulatedMachine& machine);
  /// `look` is called often while the row is computed.
  [[nodiscard]] SimulatedRow row(const Candidate& candidate, std::int64_t bytes, bool with_steps,
                                 const std::function<void()>& look);
  /// Writes the schedules as GOAL. Throws InputError if there are too many messages.
  void export_goal(const Candidate& candidate, std::int64_t bytes, const std::function<void(std::string_view)>& write);

 private:
  struct Planned;
  [[nodiscard]] Planned planned(const Candidate& candidate, std::int64_t bytes);
  [[nodiscard]] Choice chosen(Collective collective, std::int64_t bytes);
  [[nodiscard]] Problem problem_of(Collective collective, std::int64_t bytes) const;
  [[nodiscard]] JoinedSchedules joined_schedules(const Planned& planned, const std::function<void()>& look) const;
  void run(const Planned& planned, bool with_steps, const std::function<void()>& look, SimulatedRow& row) const;

  const SimulationSettings& settings_;
  const SimulatedMachine& machine_;
  std::optional<Site> site_;
};

/// Messages of all ranks, at most, that are simulated: a ring of 4,096 ranks.
inline constexpr std::int64_t most_messages = std::int64_t{1} << 25;

}  // namespace tutti::tool
