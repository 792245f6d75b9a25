#pragma once
// The processes of this node that use Tutti, found from outside: through the shared memory that they have open.

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "lib/watch/records/journal.hpp"
#include "lib/watch/records/process_state.hpp"

namespace tutti::tool {

struct PsRank {
  pid_t pid = 0;  ///< As it is seen here; 0: gone.
  records::Identity identity{};
  records::Process process{};
  std::vector<records::Entry> calls{};  ///< In the order of Journal::foremost().
};

/// The ranks of a job that are on this node, in order.
struct PsJob {
  std::vector<PsRank> ranks{};
  [[nodiscard]] bool has(pid_t pid) const;
};

struct PsSurvey {
  std::vector<PsJob> jobs{};
  int unreadable = 0;      ///< Processes of this user that the system does not let this one look at.
  int other_versions = 0;  ///< Jobs whose records have another form than this version's.
};

/// Reads `calls` calls of each rank. Stops, writes and signals nothing.
[[nodiscard]] PsSurvey survey_processes(int calls);

// The result, for people and for programs.

/// `now`: CLOCK_MONOTONIC in ns.
[[nodiscard]] std::string to_text(const PsSurvey& survey, std::int64_t now);
/// docs/diagnosis.md describes it.
[[nodiscard]] std::string to_json(const PsSurvey& survey, std::int64_t now);

}  // namespace tutti::tool
